namespace Voron;

/// <summary>Options of <see cref="StorageEnvironment.CompactAsync"/> and <see cref="StorageEnvironment.CompactToAsync"/>.</summary>
public sealed class CompactionOptions
{
    /// <summary>
    /// The maximum number of bytes moved per second; 0, the default, for no limit. A long value is moved in one piece, followed by a longer pause.
    /// </summary>
    public long MaxBytesPerSecond { get; set; }

    /// <summary>
    /// The time that the compaction waits, each time, for readers that still use the old copies of moved pages: 10 seconds by default. Then it ends,
    /// and <see cref="CompactionReport.BlockedBy"/> describes the oldest reader. A copy into another directory waits for no reader.
    /// </summary>
    public TimeSpan ReaderPatience { get; set; } = TimeSpan.FromSeconds(10);

    /// <summary>
    /// Called after each short transaction of the compaction, on its thread, with no lock held; null for none. An exception from it ends the
    /// compaction, and nothing is lost.
    /// </summary>
    public IProgress<CompactionProgress>? Progress { get; set; }

    /// <summary>True to begin on the caller's thread, for tests that replay a run.</summary>
    internal bool IsOnOneThread { get; set; }

    internal CompactionOptions Copy() => (CompactionOptions)MemberwiseClone();
}
