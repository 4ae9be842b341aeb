using Voron.Simulation.Harness;

namespace Voron.Torture.Lifetimes;

/// <summary>A stream of a value, with the bytes that it has to return for as long as it returns any.</summary>
/// <param name="stream">The stream.</param>
/// <param name="key">The key of the value.</param>
/// <param name="value">The value.</param>
internal sealed class LifetimeStream(Stream stream, int key, LifetimeValue value)
{
    private readonly byte[] _bytes = value.Bytes();

    public int Key => key;

    /// <summary>Whether the stream may refuse to continue: its bytes may be gone.</summary>
    public bool MayEnd { get; set; }

    public bool IsLarge => value.IsLarge;

    public void Read(Random random, bool mustEnd = false)
    {
        var at = random.Next(_bytes.Length + 1);
        var buffer = new byte[random.Next(1, 5_000)];
        int read;
        try
        {
            stream.Position = at;
            read = stream.Read(buffer);
        }
        catch (InvalidOperationException) when (MayEnd || mustEnd)
        {
            return;
        }
        BrokenPromiseException.Require(!mustEnd || at == _bytes.Length, $"The stream of key {key} gives bytes after its transaction has ended.");
        BrokenPromiseException.Require(
            mustEnd || buffer.AsSpan(0, read).SequenceEqual(_bytes.AsSpan(at, Math.Min(_bytes.Length - at, buffer.Length))),
            $"The stream of key {key} gives other bytes at {at} than its value has, {_bytes.Length} in all.");
    }
}
