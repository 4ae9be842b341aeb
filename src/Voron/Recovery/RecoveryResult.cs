using Voron.ChangeTracking;
using Voron.Format;
using Voron.Journal;

namespace Voron.Recovery;

/// <summary>The result of recovery.</summary>
internal sealed record RecoveryResult
{
    /// <summary>The newest durable state.</summary>
    public required EnvironmentState State { get; init; }

    /// <summary>The end of the journal.</summary>
    public required JournalPosition End { get; init; }

    /// <summary>The journal's last record needs no other record to confirm its durability.</summary>
    public required bool IsDurabilityConfirmed { get; init; }

    /// <summary>The journal ends before an intact record, because values or pages that it names were lost.</summary>
    public required bool IsCutShort { get; init; }

    /// <summary>The ends of journal files that the next journal file has to seal.</summary>
    public required JournalSeal[] Seals { get; init; }

    /// <summary>For each live journal file, the end of the last record that was read in it.</summary>
    public required JournalSeal[] Ends { get; init; }

    /// <summary>The journal files that have an epoch.</summary>
    public required IReadOnlyList<JournalFileInfo> Files { get; init; }

    /// <summary>The number of times that the environment was opened and written since the checkpoint.</summary>
    public required int Openings { get; init; }

    /// <summary>The names of the journal files that follow the start of replay, but of which no record counts.</summary>
    public required IReadOnlyList<string> Unused { get; init; }

    /// <summary>The names of journal files that have no epoch: unfinished, to be deleted.</summary>
    public required IReadOnlyList<string> WithoutEpoch { get; init; }

    /// <summary>Large values of replayed records that still exist, to be verified.</summary>
    public required IReadOnlyDictionary<long, DirectExtent> DirectExtents { get; init; }

    /// <summary>
    /// All pages that replayed records list as written directly, if the environment has a change log; in the order of their transactions.
    /// </summary>
    public required IReadOnlyList<DirectWrite> DirectWrites { get; init; }

    /// <summary>The number of records that were applied.</summary>
    public required long ReplayedRecords { get; init; }

    /// <summary>The bytes of these records, padding included.</summary>
    public required long ReplayedBytes { get; init; }

    /// <summary>The tail after the end of the journal; null when there was none.</summary>
    public required DroppedTail? Dropped { get; init; }

    /// <summary>The stamp of the data file.</summary>
    public required ulong Stamp { get; init; }

    /// <summary>The highest number of a checkpoint or a flush, finished or not.</summary>
    public required long HighestNumber { get; init; }

    /// <summary>The duration of recovery.</summary>
    public required TimeSpan Duration { get; init; }
}
