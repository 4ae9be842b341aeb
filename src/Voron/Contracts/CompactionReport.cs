namespace Voron;

/// <summary>Describes a finished compaction.</summary>
public sealed record CompactionReport
{
    /// <summary>The length of the data file at the beginning, in bytes.</summary>
    public long BytesBefore { get; init; }

    /// <summary>
    /// The length of the data file at the end, in bytes. On Windows, which cannot truncate a mapped file, the file shrinks to this length
    /// when it is closed.
    /// </summary>
    public long BytesAfter { get; init; }

    /// <summary>The number of bytes of pages in use.</summary>
    public long UsedBytes { get; init; }

    /// <summary>The number of bytes of pages moved.</summary>
    public long BytesMoved { get; init; }

    /// <summary>The number of passes over the trees; 0 if there was nothing to gain.</summary>
    public int Passes { get; init; }

    /// <summary>
    /// The number of values that the last pass left in the tail that it tried to empty, at their old position or somewhat lower, because no run of
    /// free pages before the tail was long enough.
    /// </summary>
    public int ValuesLeft { get; init; }

    /// <summary>
    /// True if the file is about as short as its content. False if a reader prevented its truncation, if values were left in the tail, or if other
    /// callers used up the free pages.
    /// </summary>
    public bool IsComplete { get; init; }

    /// <summary>
    /// The reader that prevented the truncation of the file; null if none did. Moved pages stay moved, and a later call continues from there.
    /// </summary>
    public SlowReaderReport? BlockedBy { get; init; }

    /// <summary>The longest time for which a transaction of the compaction held the writer.</summary>
    public TimeSpan LongestWriterHold { get; init; }

    /// <summary>The duration of the compaction.</summary>
    public TimeSpan Duration { get; init; }
}

/// <summary>The progress of a compaction.</summary>
/// <param name="BytesMoved">The number of bytes of pages moved so far.</param>
/// <param name="BytesExpected">The number of bytes that will have been moved at the end, if nothing else changes.</param>
/// <param name="FileBytes">The length of the data file in bytes.</param>
public readonly record struct CompactionProgress(long BytesMoved, long BytesExpected, long FileBytes);
