using Voron.Paging;
using Voron.Testing;

namespace Voron.Transactions;

/// <summary>Grows the data file for the open write transaction. Used by the holder of the writer.</summary>
internal sealed unsafe class DataFileGrowth(Engine context)
{
    private readonly Engine _context = context;
    private readonly VersionTable _versions = context.Versions;
    private readonly DataFile _dataFile = context.DataFile;

    /// <summary>Grows the data file when it has fewer pages than requested, by more than requested if there is room.</summary>
    public void EnsureCapacity(long pageCount)
    {
        _context.AssertWriterHeld();
        if (pageCount > _dataFile.PageLimit && pageCount <= _context.Layout.MaxPageCount)
            throw AddressPlan.Exceeded(_context.Disk.Path, pageCount, _dataFile.PageLimit);
        if (pageCount > _context.Layout.MaxPageCount)
        {
            throw new StorageFullException(
                $"The environment in '{_context.Disk.Path}' cannot grow to {pageCount} pages of {_context.PageSize} bytes: " +
                $"the maximum is {_context.Layout.MaxPageCount} pages.");
        }

        if (pageCount > _dataFile.CapacityPages)
            Grow(pageCount);
        _versions.EnsureCapacity(_dataFile.CapacityPages);
    }

    private void Grow(long pageCount)
    {
        var capacity = _dataFile.CapacityPages;
        var step = GrowthPolicy.NextStep(capacity, _context.PageSize, _context.Options.MaxGrowthBytes);
        var wanted = Math.Min(Math.Max(pageCount, capacity + step), _dataFile.PageLimit);
        bool moved;
        try
        {
            moved = _dataFile.EnsureCapacity(wanted);
        }
        catch (VoronException e) when (wanted > pageCount && e is StorageFullException or StorageAccessException)
        {
            moved = _dataFile.EnsureCapacity(pageCount);
        }

        SchedulePoint.Reach(SchedulePlace.MapMoved);
        if (moved)
            _dataFile.RetireMaps(_context.Ring.Republish(_dataFile.MapAddress));
    }
}
