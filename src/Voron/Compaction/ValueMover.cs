using Voron.Format;
using Voron.FreeSpace;
using Voron.Paging;
using Voron.Snapshots;
using Voron.Staging;
using Voron.Testing;
using Voron.Transactions;
using Voron.Trees;

namespace Voron.Compaction;

/// <summary>
/// Moves large values: copies a value to reserved pages without the writer, and stores the copy under its key in a short transaction, if the key
/// still has the copied value.
/// </summary>
/// <remarks>
/// <code>
///   found under a snapshot ─▶ reserved ─▶ blocks made ─▶ copied, synced ─▶ compared, put ─▶ snapshot released
/// </code>
/// The snapshot stays registered until the comparison: otherwise, the value's pages could be freed, and reused for another value that the
/// comparison cannot distinguish. Checksums depend on the place, so they are recomputed, and the value is verified first. The extent of checksums
/// never moves alone, because records that a recovery may still replay name it. After a crash, the copy is a range of free pages.
/// </remarks>
/// <param name="engine">The environment.</param>
/// <param name="staging">Writes to reserved pages.</param>
/// <param name="snapshot">The snapshot, which this class takes and releases.</param>
/// <param name="writer">Runs the transactions.</param>
internal sealed class ValueMover(ReadingEngine engine, StagingArea staging, RenewedSnapshot snapshot, CompactionWriter writer)
{
    /// <summary>The number of retries for a value that has changed meanwhile.</summary>
    private const int MaxRepetitions = 2;

    /// <summary>The number of bytes that were moved since the count was last set to 0.</summary>
    public long MovedBytes { get; set; }

    /// <summary>Moves the value of a key.</summary>
    /// <param name="name">The name of the tree.</param>
    /// <param name="key">The key.</param>
    /// <param name="tailStart">The first page of the tail that is being emptied.</param>
    /// <param name="stop">Cancels the wait for the writer, and the copying.</param>
    public async Task<ValueOutcome> MoveAsync(byte[] name, byte[] key, long tailStart, CancellationToken stop)
    {
        for (var attempt = 0; ; attempt++)
        {
            if (await TryMoveAsync(name, key, tailStart, stop).ConfigureAwait(false) is { } outcome)
                return outcome;
            if (attempt == MaxRepetitions)
                return ValueOutcome.NoPlace;
        }
    }

    // Returns null if the value, or only its address, has changed meanwhile: a flush writes an overflow extent from memory to the data file.
    private async Task<ValueOutcome?> TryMoveAsync(byte[] name, byte[] key, long tailStart, CancellationToken stop)
    {
        snapshot.Take();
        var content = staging.CreateContent();
        try
        {
            if (Find(snapshot.Pages, name, key) is not { } value || value.LastPage(engine.PageSize) < tailStart)
                return ValueOutcome.Done;
            var pages = LargeValues.PageCount(engine.PageSize, value.Length);
            var (reservation, otherwise) = await ReserveAsync(pages, value, stop).ConfigureAwait(false);
            if (reservation == null)
                return otherwise;
            content.Use(reservation);
            await writer.MakeBlocksAsync(reservation.First, pages, stop).ConfigureAwait(false);
            var checksums = Copy(value, reservation.First, stop);
            await staging.Sync.RunAsync().ConfigureAwait(false);
            content.Complete(value.Length, [], checksums);
            SchedulePoint.Reach(SchedulePlace.CompactionCopied);
            var isPut = false;
            await writer.RunAsync(body => isPut = TryPut(body, name, key, value, content), stop).ConfigureAwait(false);
            if (!isPut)
                return null;
            return reservation.First + pages > tailStart ? ValueOutcome.StillInTail : ValueOutcome.Done;
        }
        finally
        {
            content.Dispose();
            snapshot.Release();
        }
    }

    private static FoundValue? Find(SnapshotPages pages, byte[] name, byte[] key)
    {
        var catalog = new TreeState(pages.State.Catalog);
        if (!Catalog.TryFind(catalog, pages, name, out var header))
            return null;
        return FoundValue.Find(pages, new TreeState(header), key)?.WithAddress(pages);
    }

    private async Task<(PageReservation? Reservation, ValueOutcome Otherwise)> ReserveAsync(long pages, FoundValue value, CancellationToken stop)
    {
        while (true)
        {
            var goesOn = false;
            var found = await writer.UseAsync(
                writePages =>
                {
                    var space = writePages.Space;
                    if (!space.Withheld.HasTail)
                        return (null, ValueOutcome.NoTail);
                    return space.Withheld.TailPage <= value.LastPage(engine.PageSize)
                        ? (space.TryReserveBefore(pages, value.First, out goesOn), ValueOutcome.NoPlace)
                        : (null, ValueOutcome.Done);
                },
                stop).ConfigureAwait(false);
            if (!goesOn)
                return found;
        }
    }

    private ulong[] Copy(in FoundValue value, long target, CancellationToken stop)
    {
        value.VerifyHead(snapshot.Pages, engine.DataFile);
        var checksums = new ulong[LargeValues.ChunkCount(value.Length)];
        for (var chunk = 0; chunk < checksums.Length; chunk++)
        {
            stop.ThrowIfCancellationRequested();
            checksums[chunk] = CopyChunk(value, chunk, target);
        }

        return checksums;
    }

    private ulong CopyChunk(in FoundValue value, int chunk, long target)
    {
        var offset = (long)chunk * LargeValues.ChunkBytes;
        var count = (int)Math.Min(LargeValues.ChunkBytes, value.Length - offset);
        value.VerifyPart(snapshot.Pages, engine.DataFile, offset, count);
        var checksum = staging.File.WriteChunk(target, chunk, value.Read(snapshot.Pages, offset, count));
        return PlantedFault.KeepChunkSums && value.Kind == ValueKind.LargeExtent ? value.ChecksumOf(snapshot.Pages, chunk) : checksum;
    }

    private bool TryPut(WriteTransactionBody body, byte[] name, byte[] key, in FoundValue value, StagedContent content)
    {
        if (body.OpenTree(name) is not { } tree)
            return false;
        var now = FoundValue.Find(body.WritePages, tree.SettledState(), key)?.WithAddress(body.WritePages);
        if (now != value && !(PlantedFault.MoveByPosition && now != null))
            return false;
        body.WritePages.VerifyAgain(TreeReader.FindLeaf(tree.SettledState(), body.WritePages, key).Value);
        TreeAccess.MoveStaged(tree, key, content);
        MovedBytes += value.Length;
        return true;
    }
}

/// <summary>The outcome of moving a value.</summary>
internal enum ValueOutcome
{
    /// <summary>It was moved, or is no longer in the tail.</summary>
    Done,

    /// <summary>It was moved to lower pages, but not out of the tail: there were not enough contiguous free pages before the tail.</summary>
    StillInTail,

    /// <summary>There are not enough contiguous free pages for it.</summary>
    NoPlace,

    /// <summary>Other callers have needed the tail that contains it.</summary>
    NoTail,
}
