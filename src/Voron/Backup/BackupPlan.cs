using Voron.Format;

namespace Voron.Backup;

/// <summary>The content and the pace of a backup.</summary>
internal sealed class BackupPlan
{
    public RandomId BackupId { get; } = RandomId.New();

    /// <summary>The backup that this one builds on; null for a full one.</summary>
    public BackupPoint? Parent { get; init; }

    /// <summary>The format version that the environment had when the backup began.</summary>
    public required uint Version { get; init; }

    /// <summary>The features that the environment had when the backup began.</summary>
    public required FormatFeatures Features { get; init; }

    /// <summary>True to make this backup a base that later ones can build on.</summary>
    public bool IsBase { get; init; }

    /// <summary>The most page bytes per second; 0 for no limit.</summary>
    public long MaxBytesPerSecond { get; init; }

    /// <summary>True to verify all values, by the leaves that refer to them, before anything is copied.</summary>
    public bool VerifiesValues { get; init; }

    public IProgress<BackupProgress>? Progress { get; init; }

    /// <summary>The time after which a snapshot is renewed.</summary>
    public required TimeSpan UsualHold { get; init; }

    /// <summary>The most page bytes in one batch.</summary>
    public required int BatchBytes { get; init; }

    /// <summary>True to write on the thread that reads. For tests.</summary>
    public bool IsOnOneThread { get; init; }
}
