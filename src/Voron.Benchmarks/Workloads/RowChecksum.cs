using System.Numerics;

namespace Voron.Benchmarks.Workloads;

/// <summary>A running sum over rows in the order in which an engine returned them.</summary>
/// <param name="isWhole">
/// True to add up each character; false to add the length and both ends of each text only, which takes little of the time that is measured.
/// </param>
internal struct RowChecksum(bool isWhole)
{
    private const ulong Multiplier = 0x9E37_79B9_7F4A_7C15;

    public ulong Sum { get; private set; }

    /// <summary>The rows so far.</summary>
    public long Rows { get; private set; }

    /// <summary>Adds all fields of a row.</summary>
    public void Add(Package row)
    {
        Rows++;
        Mix(((ulong)(uint)row.Size << 32) | ((ulong)(uint)row.Priority << 16) | (uint)row.Tags.Length);
        Add(row.Id);
        Add(row.Section);
        Add(row.Source);
        Add(row.Version);
        Add(row.Description);
        foreach (var tag in row.Tags)
            Add(tag);
    }

    /// <summary>Adds the sum of other rows.</summary>
    public void Add(in RowChecksum other)
    {
        Rows += other.Rows;
        Mix(other.Sum);
    }

    private void Add(string text)
    {
        Mix(((ulong)(uint)text.Length << 32) | ((ulong)text[0] << 16) | text[^1]);
        if (!isWhole)
            return;
        var bytes = MemoryMarshal.AsBytes(text.AsSpan());
        var words = MemoryMarshal.Cast<byte, ulong>(bytes);
        foreach (var word in words)
            Mix(word);
        foreach (var rest in bytes[(words.Length * sizeof(ulong))..])
            Mix(rest);
    }

    private void Mix(ulong value) => Sum = (BitOperations.RotateLeft(Sum, 5) ^ value) * Multiplier;
}
