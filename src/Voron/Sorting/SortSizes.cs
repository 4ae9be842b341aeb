using Voron.IO;

namespace Voron.Sorting;

/// <summary>How a sort divides its memory.</summary>
/// <remarks>
/// <code>
///   adding:   generation that is filled | generation that is spilled | spare chunk | run writer
///   merging:  last generation           | run readers                              | run writer
///   reading:  last generation           | run readers
/// </code>
/// A chunk is at most a sixteenth of the memory. Two generations leave six chunks or more, and the last generation and a writer of up to four chunks
/// leave seven. A reader takes less than three and a half even if its blocks have the longest entries. Hence two runs can always be merged.
/// </remarks>
internal sealed class SortSizes
{
    private const int MaxChunkBytes = 4 << 20;
    private const int ChunkUnit = BlocksOfChunk * DiskRules.Alignment;
    private const int BlocksOfChunk = 4;
    private const int MaxBlockBytes = 256 << 10;
    private const int ChunksOfMemory = 16;
    private const int KeysOfChunk = 8;
    private const int ChunksForWriter = 4;
    private const int ChunksBesideGenerations = 6;

    public SortSizes(long memoryBytes)
    {
        MemoryBytes = Math.Max(memoryBytes, BulkLoadOptions.MinMemoryBytes);
        ChunkBytes = (int)Math.Min(MemoryBytes / ChunksOfMemory / ChunkUnit * ChunkUnit, MaxChunkBytes);
        ChunksOfGeneration = (int)Math.Min((MemoryBytes / ChunkBytes - ChunksBesideGenerations) / 2, int.MaxValue);
        BlockBytes = Math.Min(ChunkBytes / BlocksOfChunk, MaxBlockBytes);
        MaxKeyBytes = ChunkBytes / KeysOfChunk;
        MaxEntryBytes = ChunkBytes - 2 * DiskRules.Alignment;
    }

    /// <summary>Returns the memory with which keys of a length can be sorted.</summary>
    public static long LeastMemoryBytes(int keyBytes) =>
        ChunksOfMemory * DiskRules.RoundUp((long)KeysOfChunk * keyBytes, ChunkUnit);

    public long MemoryBytes { get; }

    public int ChunkBytes { get; }

    public int ChunksOfGeneration { get; }

    /// <summary>The bytes of entries in a block of a run, unless a single entry is longer.</summary>
    public int BlockBytes { get; }

    /// <summary>The length of the longest key.</summary>
    public int MaxKeyBytes { get; }

    /// <summary>The length of the longest entry, key and value together.</summary>
    public int MaxEntryBytes { get; }

    /// <summary>Returns the number of runs that can be merged at once, at least two.</summary>
    /// <param name="chunks">The number of chunks in memory.</param>
    /// <param name="readerBytes">The memory of the reader of one run.</param>
    public int RunsAtOnce(int chunks, long readerBytes) =>
        (int)Math.Min((MemoryBytes - (chunks + ChunksForWriter) * (long)ChunkBytes) / readerBytes, int.MaxValue);
}
