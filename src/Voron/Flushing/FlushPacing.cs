using Voron.Transactions;

namespace Voron.Flushing;

/// <summary>Decides how much a flush writes to the data file between two syncs.</summary>
/// <remarks>
/// A commit's own write waits until the device has written everything that it was given before. Small pieces keep that wait short, and make
/// the flush take up to half as long again. A piece is what one call writes, or more: 1 MiB of small pages, 4 MiB of values. So the pieces
/// are small while the journal has room for the commits that come meanwhile, and large when writers would soon be delayed, or when no commit
/// is to come.
/// </remarks>
internal static class FlushPacing
{
    public const long PieceBytes = 512 << 10;

    public const long UrgentPieceBytes = 8 << 20;

    /// <summary>Returns the number of bytes after which the data file is synced.</summary>
    /// <param name="engine">The environment.</param>
    /// <param name="heldJournalBytes"><inheritdoc cref="CheckpointMover.HeldJournalBytes" path="/summary/node()"/></param>
    public static long NextPiece(Engine engine, long heldJournalBytes)
    {
        var options = engine.Options;
        var isUrgent = engine.Closing.IsCancellationRequested
            || IsNear(heldJournalBytes, options.JournalLimitBytes)
            || IsNear(engine.VersionBytes, options.ScratchLimitBytes);
        return isUrgent ? UrgentPieceBytes : PieceBytes;
    }

    // From three quarters on. The limit may be the largest number there is.
    private static bool IsNear(long bytes, long limit) => bytes >= limit - limit / 4;
}
