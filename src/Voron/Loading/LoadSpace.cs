using Voron.FreeSpace;
using Voron.Primitives;
using Voron.Staging;

namespace Voron.Loading;

/// <summary>The pages of a bulk load: reserved in the data file as it needs them, and used by the commit that adopts them.</summary>
/// <remarks>
/// Reserved pages are free in the section maps, so a crash, a cancellation and the closing of the environment leave nothing to clean up. Used by one
/// thread at a time, which never holds the writer.
/// </remarks>
/// <param name="area">Reserves pages.</param>
/// <param name="stop">Cancels the wait for the writer.</param>
internal sealed class LoadSpace(StagingArea area, CancellationToken stop)
{
    private const int LeastBytes = 256 << 10;
    private const int MostBytes = 16 << 20;

    private readonly List<PageReservation> _reservations = [];

    // Pages that are reserved but not used, the last of which are taken first.
    private readonly List<(long First, long Pages)> _gaps = [];

    private long _next;
    private long _end;
    private long _step = LeastBytes;

    /// <summary>Takes one page.</summary>
    /// <inheritdoc cref="StagingArea.ReserveAsync"/>
    public long AllocatePage()
    {
        if (_next < _end)
            return _next++;
        if (_gaps.Count == 0)
            return AllocateExtent(1);
        var (first, pages) = _gaps[^1];
        _gaps.RemoveAt(_gaps.Count - 1);
        (_next, _end) = (first + 1, first + pages);
        return first;
    }

    /// <summary>Takes contiguous pages.</summary>
    /// <inheritdoc cref="StagingArea.ReserveAsync"/>
    public long AllocateExtent(long pages)
    {
        if (_end - _next < pages)
            Reserve(pages);
        var first = _next;
        _next += pages;
        return first;
    }

    /// <summary>Gives up pages that were taken.</summary>
    public void Free(long first, long pages) => _gaps.Add((first, pages));

    /// <summary>Returns the ranges of pages that are used, in ascending order, and none adjacent to another.</summary>
    public List<(long First, long Pages)> UsedRanges()
    {
        var unused = _gaps.Append((First: _next, Pages: _end - _next)).Where(static gap => gap.Pages > 0).OrderBy(static gap => gap.First).ToList();
        var used = new List<(long First, long Pages)>();
        var at = 0;
        foreach (var reservation in _reservations.OrderBy(static reservation => reservation.First))
        {
            var first = reservation.First;
            for (; at < unused.Count && unused[at].First < reservation.End; at++)
            {
                Add(used, first, unused[at].First);
                first = unused[at].First + unused[at].Pages;
            }

            Add(used, first, reservation.End);
        }

        return used;
    }

    /// <summary>Ends the reservations: pages that no transaction has adopted are free. Any thread may call this as the last call.</summary>
    public void Release()
    {
        foreach (var reservation in _reservations)
            area.End(reservation);
        _reservations.Clear();
    }

    private static void Add(List<(long First, long Pages)> ranges, long first, long end)
    {
        if (first == end)
            return;
        if (ranges.Count > 0 && ranges[^1].First + ranges[^1].Pages == first)
            ranges[^1] = (ranges[^1].First, end - ranges[^1].First);
        else
            ranges.Add((first, end - first));
    }

    private void Reserve(long least)
    {
        if (_next < _end)
            _gaps.Add((_next, _end - _next));
        (_next, _end) = (0, 0);
        var wanted = Math.Max(least, _step / area.Engine.PageSize);
        _reservations.EnsureCapacity(_reservations.Count + 1);

        // An interrupted thread waits on: the reservation would have no owner.
        var reserving = area.ReserveAsync(null, wanted, least, stop).AsTask();
        Uninterrupted.Run(static task => task.GetAwaiter().GetResult(), reserving);
        var made = reserving.Result;
        _reservations.Add(made);
        (_next, _end) = (made.First, made.End);
        _step = Math.Min(2 * _step, MostBytes);
    }
}
