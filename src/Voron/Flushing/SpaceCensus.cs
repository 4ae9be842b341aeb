using System.Runtime.InteropServices;
using Voron.Format;
using Voron.IO;
using Voron.Paging;
using Voron.Primitives;
using Voron.Transactions;

namespace Voron.Flushing;

/// <summary>Counts the free pages of the data file, as of the checkpoint, for statistics.</summary>
/// <remarks>
/// Reads the counts in the section maps, some at each flush and, after the opening, some at each tick of the flusher. The figure is therefore
/// exact after a flush in a store of up to 8 GiB with 4 KiB pages; in a larger one, some of the counts are from earlier flushes. The maps are read
/// from the file: only a flush writes them there, and the flusher's lock is held. A map that cannot be read makes the figure unknown; the code
/// that needs it reports the fault.
/// </remarks>
internal sealed class SpaceCensus(EngineLock flush, ReadingEngine engine, HeaderFile checkpoints)
{
    /// <summary>The figure while unknown.</summary>
    private const long Unknown = -1;

    /// <summary>The maximum number of maps read at a flush or a tick.</summary>
    public const int GroupsAtOnce = 64;

    /// <summary>The maximum number of maps read on opening: a small store then needs no thread for the rest.</summary>
    public const int GroupsAtOpening = 2;

    private readonly List<long> _used = [];
    private byte[] _map = [];

    // The numbers in a directory, which adjacent groups share.
    private byte[] _numbers = [];
    private int _directory = -1;
    private int _next;

    /// <summary>True when every map has been counted once, or one of them could not be.</summary>
    public bool IsComplete { get; private set; }

    /// <summary>Counts some of the maps. The data file holds every page of the checkpoint.</summary>
    /// <param name="mostGroups">The maximum number of maps to read.</param>
    public void CountSome(int mostGroups)
    {
        flush.AssertHeld();
        try
        {
            CountSome(checkpoints.Current.State.PageCount, mostGroups);
        }
        catch (Exception e) when (e is DiskException or CorruptionException or OutOfMemoryException)
        {
            Volatile.Write(ref engine.Counters.FreePages, Unknown);
            _used.Clear();
            IsComplete = true;
        }
    }

    private void CountSome(long pageCount, int mostGroups)
    {
        var groups = (int)engine.Layout.GroupOf(pageCount - 1) + 1;
        if (_used.Count > groups)
            _used.RemoveRange(groups, _used.Count - groups);
        _directory = -1;
        for (var counted = 0; counted < Math.Min(groups, mostGroups); counted++)
        {
            if (_used.Count < groups)
            {
                _used.Add(UsedPages(_used.Count, pageCount));
                continue;
            }

            _next = _next < groups ? _next : 0;
            _used[_next] = UsedPages(_next, pageCount);
            _next++;
        }

        if (_used.Count < groups)
            return;
        IsComplete = true;
        Volatile.Write(ref engine.Counters.FreePages, Math.Max(0, pageCount - _used.Sum()));
    }

    private long UsedPages(int group, long pageCount)
    {
        var layout = engine.Layout;
        if (group / layout.NumbersPerPage != _directory)
        {
            _directory = -1;
            Read(SectionMapLayout.RootPage.Value, ref _numbers);
            Read(Number(group / layout.NumbersPerPage, pageCount), ref _numbers);
            _directory = group / layout.NumbersPerPage;
        }

        Read(Number(group % layout.NumbersPerPage, pageCount), ref _map);
        var counts = MemoryMarshal.Cast<byte, ushort>(_map.AsSpan(layout.CountsOffset, layout.SectionsPerGroup * sizeof(ushort)));
        var used = 0L;
        foreach (var count in counts)
            used += Math.Min(count, layout.PagesPerSection);
        return used;
    }

    private long Number(int index, long pageCount)
    {
        var number = MemoryMarshal.Read<long>(_numbers.AsSpan(PageHeader.Size + index * sizeof(long)));
        if (number <= 0 || number >= pageCount)
            throw new CorruptionException($"The section maps of '{engine.DataFile.File.Path}' name page {number}, which does not exist.");
        return number;
    }

    private void Read(long page, ref byte[] buffer)
    {
        if (buffer.Length == 0)
            buffer = new byte[engine.PageSize];
        engine.DataFile.File.Read(page * engine.PageSize, buffer);
    }
}
