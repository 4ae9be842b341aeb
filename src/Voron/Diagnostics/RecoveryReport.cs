namespace Voron;

/// <summary>What opening the environment found in its journal.</summary>
/// <remarks>
/// A tail is dropped when the write of its records was not finished, so that nobody was told of them: after a crash that is
/// ordinary. A last record that has rotted before the journal could confirm it (about 100 ms after it was written) looks the same;
/// a report of a dropped tail after a clean shutdown of the machine is a sign of that.
/// </remarks>
public sealed record RecoveryReport
{
    /// <summary>The newest transaction after recovery.</summary>
    public required long TransactionId { get; init; }

    /// <summary>Records of the journal since the checkpoint, of all kinds.</summary>
    public required long ReplayedRecords { get; init; }

    /// <summary>Bytes of these records, padding included.</summary>
    public required long ReplayedBytes { get; init; }

    /// <summary>How long it took.</summary>
    public required TimeSpan Duration { get; init; }

    /// <summary>Records behind the end of the journal that were dropped, broken ones included; 0 when it ended cleanly.</summary>
    public required int DroppedRecords { get; init; }

    /// <summary>The oldest transaction among these, as far as headers could be read; 0 when there is none.</summary>
    public required long FirstDroppedTransactionId { get; init; }

    /// <summary>The newest transaction among these, as far as headers could be read; 0 when there is none.</summary>
    public required long LastDroppedTransactionId { get; init; }

    /// <summary>The file with the first of them; null when there is none.</summary>
    public required string? DroppedFile { get; init; }

    /// <summary>Where in that file it stands, in bytes.</summary>
    public required long DroppedOffset { get; init; }
}
