namespace Voron;

/// <summary>Describes a compaction that has ended.</summary>
public sealed record CompactionReport
{
    /// <summary>The length of the data file at the beginning.</summary>
    public long BytesBefore { get; init; }

    /// <summary>
    /// The length of the data file at the end. On Windows, which cannot truncate a mapped file, the file shrinks to it when it is closed.
    /// </summary>
    public long BytesAfter { get; init; }

    /// <summary>The number of bytes of the pages that are in use.</summary>
    public long UsedBytes { get; init; }

    /// <summary>The number of bytes of pages that were moved.</summary>
    public long BytesMoved { get; init; }

    /// <summary>How often the compaction went through the trees: 0 if there was nothing to gain.</summary>
    public int Passes { get; init; }

    /// <summary>
    /// The number of values that the last pass left in the tail that it tried to empty, at their old place or somewhat lower, because no run of free
    /// pages before the tail was long enough.
    /// </summary>
    public int ValuesLeft { get; init; }

    /// <summary>
    /// True if the file is about as short as its content. False if a reader kept it from being cut, if values were left in the tail, or if other
    /// callers used up the free pages.
    /// </summary>
    public bool IsComplete { get; init; }

    /// <summary>
    /// The reader that kept the file from being cut; null if none did. What was moved stays moved: a later call continues from there.
    /// </summary>
    public SlowReaderReport? BlockedBy { get; init; }

    /// <summary>The longest time for which a transaction of the compaction held the writer.</summary>
    public TimeSpan LongestWriterHold { get; init; }

    /// <summary>The time that the compaction took.</summary>
    public TimeSpan Duration { get; init; }
}

/// <summary>How far a compaction has come.</summary>
/// <param name="BytesMoved">The number of bytes of pages that have been moved.</param>
/// <param name="BytesExpected">The number of bytes that will have been moved at the end, if nothing else changes.</param>
/// <param name="FileBytes">The length of the data file.</param>
public readonly record struct CompactionProgress(long BytesMoved, long BytesExpected, long FileBytes);
