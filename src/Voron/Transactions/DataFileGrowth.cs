using Voron.Paging;
using Voron.Testing;

namespace Voron.Transactions;

/// <summary>Grows the data file for the open write transaction. Used by the holder of the writer.</summary>
internal sealed unsafe class DataFileGrowth(ReadingEngine engine)
{
    private readonly ReadingEngine _engine = engine;
    private readonly VersionTable _versions = engine.Versions;
    private readonly DataFile _dataFile = engine.DataFile;

    /// <summary>Grows the data file if it has fewer pages than requested, by more than requested if there is space.</summary>
    public void EnsureCapacity(long pageCount)
    {
        _engine.AssertWriterHeld();
        if (pageCount > _dataFile.PageLimit && pageCount <= _engine.Layout.MaxPageCount)
            throw AddressPlan.Exceeded(_engine.Disk.Path, pageCount, _dataFile.PageLimit);
        if (pageCount > _engine.Layout.MaxPageCount)
        {
            throw new StorageFullException(
                $"The environment in '{_engine.Disk.Path}' cannot grow to {pageCount} pages of {_engine.PageSize} bytes: " +
                $"the maximum is {_engine.Layout.MaxPageCount} pages.");
        }

        if (pageCount > _dataFile.CapacityPages)
            Grow(pageCount);
        _versions.EnsureCapacity(_dataFile.CapacityPages);
    }

    private void Grow(long pageCount)
    {
        var capacity = _dataFile.CapacityPages;

        // Pages get their addresses no earlier than needed while blocks are written ahead: zeros can be written only to pages without an address.
        var written = capacity + _dataFile.WrittenAheadBytes / _engine.PageSize;
        var end = written >= pageCount ? written : capacity + GrowthPolicy.NextStep(capacity, _engine.PageSize, _engine.Options.MaxGrowthBytes);
        var wanted = Math.Min(Math.Max(pageCount, end), _dataFile.PageLimit);
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
            _dataFile.RetireMaps(_engine.Ring.Republish(_dataFile.MapAddress));
    }
}
