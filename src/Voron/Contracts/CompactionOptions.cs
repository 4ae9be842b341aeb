namespace Voron;

/// <summary>Options of <see cref="StorageEnvironment.CompactAsync"/> and <see cref="StorageEnvironment.CompactToAsync"/>.</summary>
public sealed class CompactionOptions
{
    /// <summary>
    /// The maximum number of bytes moved per second; 0, the default, for no limit. A long value is moved at once, and a longer pause follows.
    /// </summary>
    public long MaxBytesPerSecond { get; set; }

    /// <summary>
    /// How long the compaction waits, each time, for readers that still use what it has moved: 10 seconds by default. Then it ends, and
    /// <see cref="CompactionReport.BlockedBy"/> describes the oldest reader. A copy into another directory waits for no reader.
    /// </summary>
    public TimeSpan ReaderPatience { get; set; } = TimeSpan.FromSeconds(10);

    /// <summary>
    /// Is called after each short transaction of the compaction, on its thread, with no lock held. An exception ends the compaction, and nothing
    /// is lost.
    /// </summary>
    public IProgress<CompactionProgress>? Progress { get; set; }

    /// <summary>Begins on the thread of the caller, for tests that replay what happens.</summary>
    internal bool IsOnOneThread { get; set; }

    internal CompactionOptions Copy() => (CompactionOptions)MemberwiseClone();
}
