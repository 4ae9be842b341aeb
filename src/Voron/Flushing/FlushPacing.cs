using Voron.Transactions;

namespace Voron.Flushing;

/// <summary>Decides how much a flush writes to the data file before it waits for the device.</summary>
/// <remarks>
/// A commit's write waits until the device has completed all earlier writes. Small pieces keep that wait short, but make the flush take longer. A
/// piece is at least as long as one page or value. The pieces are therefore small while the journal has space for the commits during the
/// flush, and large when writers would soon be delayed, or when no more commits will follow.
/// <para>
/// The flush waits by a write-back, which does not empty the device's cache, where the system has one, otherwise by a sync.
/// </para>
/// </remarks>
internal static class FlushPacing
{
    public const long PieceBytes = 256 << 10;

    public const long UrgentPieceBytes = 8 << 20;

    /// <summary>The number of bytes after which the data file is synced where pieces cannot be written back.</summary>
    public const long SyncedBytes = 1 << 20;

    /// <summary>Returns the number of bytes after which the flush waits for the device.</summary>
    /// <param name="engine">The environment.</param>
    /// <param name="heldJournalBytes"><inheritdoc cref="CheckpointMover.HeldJournalBytes" path="/summary/node()"/></param>
    public static long NextPiece(ReadingEngine engine, long heldJournalBytes)
    {
        var options = engine.Options;
        var isUrgent = engine.Closing.IsCancellationRequested
            || IsNear(heldJournalBytes, options.JournalLimitBytes)
            || IsNear(engine.VersionBytes, options.ScratchLimitBytes);
        return isUrgent ? UrgentPieceBytes : PieceBytes;
    }

    // From three quarters on. The limit may be the largest possible number.
    private static bool IsNear(long bytes, long limit) => bytes >= limit - limit / 4;
}
