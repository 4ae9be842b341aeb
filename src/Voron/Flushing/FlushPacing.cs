using Voron.Transactions;

namespace Voron.Flushing;

/// <summary>Decides how much a flush writes to the data file between two syncs.</summary>
/// <remarks>
/// A commit's write waits until the device has completed all earlier writes. Small pieces keep that wait short, but make the flush take up to half
/// as long again. A piece is at least as long as one write call: 1 MiB of small pages, 4 MiB of values. The pieces are therefore small while the
/// journal has space for the commits during the flush, and large when writers would soon be delayed, or when no more commits will follow.
/// </remarks>
internal static class FlushPacing
{
    public const long PieceBytes = 512 << 10;

    public const long UrgentPieceBytes = 8 << 20;

    /// <summary>Returns the number of bytes after which the data file is synced.</summary>
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
