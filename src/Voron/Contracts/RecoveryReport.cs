namespace Voron;

/// <summary>Describes the findings of recovery in the journal when the environment was opened.</summary>
/// <remarks>
/// Recovery drops a tail whose records were not written completely, so none of them was acknowledged, except lazy ones. This is normal after a crash.
/// A last record that decayed on disk before the journal could confirm it (about 100 ms after it was written) looks the same: a dropped tail after a
/// clean shutdown of the machine is a sign of such decay.
/// </remarks>
public sealed record RecoveryReport
{
    /// <summary>The id of the newest transaction after recovery.</summary>
    public required long TransactionId { get; init; }

    /// <summary>Journal records of all kinds since the checkpoint.</summary>
    public required long ReplayedRecords { get; init; }

    /// <summary>Bytes of these records, including padding.</summary>
    public required long ReplayedBytes { get; init; }

    /// <summary>The duration of the recovery.</summary>
    public required TimeSpan Duration { get; init; }

    /// <summary>Records beyond the end of the journal that were dropped, including broken ones; 0 when the journal ended cleanly.</summary>
    public required int DroppedRecords { get; init; }

    /// <summary>The id of the oldest transaction among the dropped records, as far as headers could be read; 0 when there is none.</summary>
    public required long FirstDroppedTransactionId { get; init; }

    /// <summary>The id of the newest transaction among the dropped records, as far as headers could be read; 0 when there is none.</summary>
    public required long LastDroppedTransactionId { get; init; }

    /// <summary>The file with the first dropped record; null when there is none.</summary>
    public required string? DroppedFile { get; init; }

    /// <summary>The offset of that record in the file, in bytes.</summary>
    public required long DroppedOffset { get; init; }
}
