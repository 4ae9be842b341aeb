namespace Voron.Sorting;

/// <summary>Entries in a spill file: blocks without gaps, in key order, each key once.</summary>
internal sealed class SortedRun(long offset)
{
    /// <summary>The offset of the first block in the file.</summary>
    public long Offset { get; } = offset;

    /// <summary>The end of the last block.</summary>
    public long End { get; set; } = offset;

    public long Bytes => End - Offset;

    public long Entries { get; set; }

    /// <summary>The largest number of bytes of the entries of a block.</summary>
    public int LargestBlock { get; set; }

    public byte[] FirstKey { get; set; } = [];

    public byte[] LastKey { get; set; } = [];
}
