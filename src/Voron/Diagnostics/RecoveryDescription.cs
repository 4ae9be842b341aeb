using Voron.Recovery;

namespace Voron.Diagnostics;

/// <summary>Describes the result of recovery to users.</summary>
internal static class RecoveryDescription
{
    /// <summary>Returns the report.</summary>
    public static RecoveryReport Of(RecoveryResult recovered) => new()
    {
        TransactionId = recovered.State.TransactionId,
        ReplayedRecords = recovered.ReplayedRecords,
        ReplayedBytes = recovered.ReplayedBytes,
        Duration = recovered.Duration,
        DroppedRecords = recovered.Dropped is { } tail ? tail.BrokenRecords + tail.WholeRecords : 0,
        FirstDroppedTransactionId = recovered.Dropped?.FirstTransactionId ?? 0,
        LastDroppedTransactionId = recovered.Dropped?.LastTransactionId ?? 0,
        DroppedFile = recovered.Dropped?.Path,
        DroppedOffset = recovered.Dropped?.Offset ?? 0,
    };
}
