using System.Diagnostics;
using Voron.FreeSpace;
using Voron.Primitives;
using Voron.Transactions;
using Voron.Trees;

namespace Voron.Compaction;

/// <summary>Moves pages from the withheld tail to the lowest free pages before it, as many as suit one transaction.</summary>
/// <param name="pages">The writer's pages.</param>
/// <param name="maxTime">The time after which a transaction moves no more pages.</param>
internal sealed class PageMover(CopyOnWritePages pages, TimeSpan maxTime) : IPageMover
{
    /// <summary>The maximum number of bytes that one transaction moves.</summary>
    public const int MaxBytes = 128 << 10;

    private long _began;
    private long _tailStart;
    private long _bytes;

    /// <summary>The reason why the last refused page was not moved.</summary>
    public MoveObstacle Obstacle { get; private set; }

    /// <summary>The section whose blocks must be made, if that is the obstacle.</summary>
    public long Unprepared { get; private set; }

    /// <summary>The number of bytes that the open transaction has moved.</summary>
    public long Bytes => _bytes;

    /// <summary>The number of extents that were moved to lower pages, but not out of the tail, since the count was last set to 0.</summary>
    public int ExtentsStillInTail { get; set; }

    /// <inheritdoc/>
    public IdSetPlace SetPlace { get; set; }

    private SpaceAllocator Space => pages.Space;

    /// <summary>Begins a transaction.</summary>
    /// <returns>False if the tail no longer exists, because other callers needed its pages.</returns>
    public bool TryBegin()
    {
        _bytes = 0;
        _began = Stopwatch.GetTimestamp();
        Obstacle = MoveObstacle.None;
        _tailStart = Space.Withheld.TailPage;
        return Space.Withheld.HasTail;
    }

    /// <inheritdoc/>
    public bool ShouldMove(PageNumber first, long count) => first.Value + count > _tailStart;

    /// <inheritdoc/>
    public bool TryMove(PageNumber page, out PageNumber moved)
    {
        if (!TryCopy(page, out moved))
            return false;
        pages.Free(page);
        return true;
    }

    /// <summary>Like <see cref="TryMove"/>, but the caller must free the old page.</summary>
    /// <inheritdoc cref="TryMove"/>
    public bool TryCopy(PageNumber page, out PageNumber moved)
    {
        moved = PageNumber.None;
        if (!HasRoomFor(pages.PageSize))
            return false;
        var taken = Space.Low.TryTake(out var unprepared);
        if (taken < 0)
        {
            Refuse(unprepared, Space.Low.IsPastAll ? MoveObstacle.NoPlace : MoveObstacle.Full);
            return false;
        }

        pages.CopyPage(page.Value, taken);
        _bytes += pages.PageSize;
        moved = new PageNumber(taken);
        return true;
    }

    /// <inheritdoc/>
    public bool TryMoveExtent(PageNumber first, out PageNumber moved)
    {
        moved = PageNumber.None;
        var count = pages.ExtentPages(first);
        if (!HasRoomFor((long)count * pages.PageSize))
            return false;
        var taken = Space.TryTakeBefore(count, first.Value, out var unprepared);
        if (taken < 0)
        {
            Refuse(unprepared, taken == FreeSpace.ExtentSearch.GoesOn ? MoveObstacle.Full : MoveObstacle.NoPlace);
            return false;
        }

        pages.CopyExtent(first.Value, taken);
        pages.FreeExtent(first, count);
        _bytes += (long)count * pages.PageSize;
        moved = new PageNumber(taken);
        if (ShouldMove(moved, count))
            ExtentsStillInTail++;
        return true;
    }

    /// <inheritdoc/>
    public void Verify(PageNumber page) => pages.VerifyAgain(page.Value);

    // The first extent may exceed the usual limit of a transaction.
    private bool HasRoomFor(long bytes)
    {
        if (_bytes > 0 && (_bytes + bytes > MaxBytes || Stopwatch.GetElapsedTime(_began) > maxTime))
        {
            Obstacle = MoveObstacle.Full;
            return false;
        }

        return true;
    }

    private void Refuse(long unprepared, MoveObstacle otherwise)
    {
        Unprepared = unprepared;
        Obstacle = unprepared >= 0 ? MoveObstacle.NoBlocks : otherwise;
    }
}

/// <summary>The reason why a page or an extent cannot be moved.</summary>
internal enum MoveObstacle
{
    /// <summary>Nothing.</summary>
    None,

    /// <summary>The transaction has moved enough; the next one continues.</summary>
    Full,

    /// <summary>A section has free pages without blocks, which must be made first.</summary>
    NoBlocks,

    /// <summary>There are no free pages, or not enough contiguous ones.</summary>
    NoPlace,
}
