using Voron.Format;
using Voron.IO;

namespace Voron.ChangeTracking;

/// <summary>
/// Rewrites a change log in fewer bytes: about half of its entries become one points entry and one pages entry, and the others are copied. The
/// entry that the header names, and those after it, are always copied, so that the header names an entry of either file.
/// </summary>
internal sealed class ChangeLogShrinking
{
    /// <summary>The maximum number of points kept from the replaced entries. Backups older than these are no longer built on.</summary>
    private const int MaxPoints = 1024;

    /// <summary>Limits the memory of extents while they are merged.</summary>
    private const int BytesPerExtent = 8;

    private readonly ChangeLogFile _source;
    private readonly ExtentSet _pages;
    private readonly long _maxPayloadBytes;
    private readonly int _kept;

    /// <param name="source">The file of the log.</param>
    /// <param name="named">The entry that the header names.</param>
    /// <param name="maxPayloadBytes">The maximum number of bytes of an entry's content.</param>
    /// <param name="pages">A set for the work.</param>
    public ChangeLogShrinking(ChangeLogFile source, ulong named, long maxPayloadBytes, ExtentSet pages)
    {
        (_source, _pages, _maxPayloadBytes) = (source, pages, maxPayloadBytes);
        var entries = source.Entries;
        while (_kept + 1 < entries.Count && entries[_kept].Header.Checksum != named
            && (entries[_kept].Offset < source.End / 2 || _kept < entries.Count / 2))
            _kept++;
    }

    /// <summary>True if entries can be replaced by fewer.</summary>
    public bool IsWorthwhile => _kept > 2;

    /// <summary>The oldest points, if there were too many to keep.</summary>
    public IReadOnlyCollection<BackupPoint> Dropped { get; private set; } = [];

    /// <summary>Writes the log to a new file.</summary>
    /// <returns>False if an entry is damaged.</returns>
    /// <exception cref="DiskException">A file cannot be read or written.</exception>
    public bool TryWriteTo(ChangeLogFile target)
    {
        var entries = _source.Entries;
        target.Reserve(_source.End);
        if (!TryMerge(target))
            return false;
        for (var i = _kept; i < entries.Count; i++)
        {
            if (!target.TryCopy(_source, entries[i]))
                return false;
        }

        return true;
    }

    // The pages entry is last, and has the sequence of the last one that it replaces: a caller that has read that one has read all of it.
    private bool TryMerge(ChangeLogFile target)
    {
        var entries = _source.Entries;
        var last = entries[_kept - 1].Header;
        var merged = last with { Kind = ChangeLogEntryKind.Flush, From = entries[0].Header.From, To = 0, Checkpoint = 0, Replaces = last.Identity };
        var points = new List<BackupPoint>();
        _pages.Clear();
        for (var i = 0; i < _kept; i++)
        {
            var header = entries[i].Header;
            merged.To = Math.Max(merged.To, header.To);
            merged.Checkpoint = Math.Max(merged.Checkpoint, header.Checkpoint);
            if (header.Kind == ChangeLogEntryKind.Points)
                points.AddRange(ChangeLogContent.PointsIn(_source, entries[i]));
            else if (!ChangeLogContent.TryAddPages(_source, entries[i], _pages))
                return false;
            if (_pages.Count > _maxPayloadBytes / BytesPerExtent)
                _pages.Coarsen(_maxPayloadBytes / BytesPerExtent);
        }

        if (points.Count > MaxPoints)
        {
            Dropped = points[..^MaxPoints];
            points.RemoveRange(0, points.Count - MaxPoints);
        }

        if (points.Count > 0)
        {
            var header = merged with { Kind = ChangeLogEntryKind.Points, Sequence = last.Sequence - 1, Previous = 0, Replaces = 0 };
            ChangeLogContent.AppendPoints(target, header, points.ToArray());
        }

        ChangeLogContent.AppendPages(target, merged with { Previous = 0 }, _pages, _maxPayloadBytes);
        return true;
    }
}
