using Voron.FreeSpace;
using Voron.Paging;
using Voron.Transactions;

namespace Voron.Staging;

/// <summary>
/// The space in the data file for values uploaded without a transaction: reserves free pages, and grows the file for them.
/// </summary>
/// <remarks>
/// Takes the writer briefly each time pages are needed, and never while bytes are awaited or written. Free pages are reserved without a
/// transaction. If there are not enough contiguous ones, an internal transaction raises the page count, and leaves the new pages free.
/// <para>
/// That transaction need not be durable before its pages are written: if it is lost, the pages are beyond the page count, where no state refers to
/// them, and every later transaction is lost as well, including the one that would have taken the value.
/// </para>
/// </remarks>
internal sealed class StagingArea
{
    private readonly Engine _engine;

    // The page count when the writer was last held here: a hint for growing ahead.
    private long _pageCount;

    public StagingArea(Engine engine, WriterEntrance entrance)
    {
        _engine = engine;
        Entrance = entrance;
        File = new StagedChunkFile(engine);
        Sync = new SharedSync(engine);
    }

    public ReadingEngine Engine => _engine;

    /// <summary>Gives the writer to short transactions.</summary>
    public WriterEntrance Entrance { get; }

    /// <summary>Writes to reserved pages.</summary>
    public IChunkFile File { get; }

    /// <summary>Makes the written bytes durable.</summary>
    public SharedSync Sync { get; }

    /// <summary>Begins the content of a staged value.</summary>
    public StagedContent CreateContent() => new(_engine, _engine.Reserved!);

    /// <summary>Ends a reservation without a value.</summary>
    public void End(PageReservation reservation) => _engine.Reserved!.End(reservation);

    /// <summary>Reserves contiguous pages, which replace those of an upload that has outgrown them.</summary>
    /// <param name="current">The reservation of the upload; null while it has none.</param>
    /// <param name="pages">The number of pages to reserve if there is space.</param>
    /// <param name="least">The number of pages that is needed.</param>
    /// <param name="cancellationToken">Cancels the wait for the writer.</param>
    /// <returns>The same reservation if it could grow in place; otherwise another one, and the first one remains.</returns>
    /// <exception cref="StorageFullException">There is no space.</exception>
    /// <exception cref="OperationCanceledException">Cancelled while waiting for the writer.</exception>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    public async ValueTask<PageReservation> ReserveAsync(
        PageReservation? current, long pages, long least, CancellationToken cancellationToken)
    {
        try
        {
            return await ReserveOrFlushAsync(current, pages, cancellationToken).ConfigureAwait(false);
        }
        catch (StorageFullException) when (least < pages)
        {
            return await ReserveOrFlushAsync(current, least, cancellationToken).ConfigureAwait(false);
        }
    }

    // A flush makes pages available that earlier transactions have freed.
    private async ValueTask<PageReservation> ReserveOrFlushAsync(PageReservation? current, long pages, CancellationToken cancellationToken)
    {
        try
        {
            return await ReserveOnceAsync(current, pages, cancellationToken).ConfigureAwait(false);
        }
        catch (StorageFullException)
        {
            if (!await TryFlushAsync(cancellationToken).ConfigureAwait(false))
                throw;
        }

        return await ReserveOnceAsync(current, pages, cancellationToken).ConfigureAwait(false);
    }

    private async ValueTask<PageReservation> ReserveOnceAsync(PageReservation? current, long pages, CancellationToken cancellationToken)
    {
        if (await TryReserveFreeAsync(current, pages, everywhere: false, cancellationToken).ConfigureAwait(false) is { } found)
            return found;
        try
        {
            GrowAhead(current, pages);
            return await ReserveAtEndAsync(current, pages, cancellationToken).ConfigureAwait(false);
        }
        catch (StorageFullException)
        {
            if (await TryReserveFreeAsync(current, pages, everywhere: true, cancellationToken).ConfigureAwait(false) is { } last)
                return last;
            throw;
        }
    }

    private async ValueTask<PageReservation?> TryReserveFreeAsync(
        PageReservation? current, long pages, bool everywhere, CancellationToken cancellationToken)
    {
        return await Entrance.UseAsync(
            writePages =>
            {
                Volatile.Write(ref _pageCount, writePages.State.PageCount);
                if (current != null && writePages.Space.TryGrow(current, pages))
                    return current;
                return writePages.Space.TryReserve(pages, everywhere);
            },
            cancellationToken).ConfigureAwait(false);
    }

    private async ValueTask<bool> TryFlushAsync(CancellationToken cancellationToken)
    {
        if (_engine.FlushServices is not { } flushServices)
            return false;
        return await Entrance.UseAsync(_ => flushServices.TryFlush(), cancellationToken).ConfigureAwait(false);
    }

    private async ValueTask<PageReservation> ReserveAtEndAsync(PageReservation? current, long pages, CancellationToken cancellationToken)
    {
        var body = await Entrance.BeginAsync(cancellationToken).ConfigureAwait(false);
        var before = current?.Pages ?? 0;
        PageReservation? made = null;
        try
        {
            ShortTransaction.TryRun(body, open =>
            {
                made = open.WritePages.Space.ReserveAtEnd(current, pages);
                return true;
            });
            var progress = default(CommitProgress);
            body.Commit(notifiesObservers: false, ref progress);
        }
        catch
        {
            if (made != null)
                Undo(made, current, before);
            throw;
        }
        finally
        {
            body.CallUser();
        }

        return made!;
    }

    private void Undo(PageReservation made, PageReservation? current, long before)
    {
        if (made == current)
            _engine.Reserved!.Shorten(made, before);
        else
            _engine.Reserved!.End(made);
    }

    // Allocates the file's blocks before the writer is taken. The transaction that needs them reports a failure.
    private void GrowAhead(PageReservation? current, long pages)
    {
        _engine.Users.AddCall();
        try
        {
            var file = _engine.DataFile;
            var capacity = file.CapacityPages;
            var pageCount = Volatile.Read(ref _pageCount);
            var end = current?.End == pageCount ? current.First + pages : pageCount + pages;
            var step = GrowthPolicy.NextStep(capacity, _engine.PageSize, _engine.Options.MaxGrowthBytes);
            var wanted = Math.Max(end, capacity + step);
            if (end > capacity && wanted <= file.PageLimit)
                file.Preallocate(wanted);
        }
        catch (VoronException e) when (e is StorageFullException or StorageAccessException)
        {
        }
        finally
        {
            _engine.Users.RemoveCall();
        }
    }
}
