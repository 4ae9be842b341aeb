namespace Voron.FreeSpace;

/// <summary>
/// Keeps, for each section, the length of the longest extent that may begin in it, so that a search skips sections already searched.
/// </summary>
/// <remarks>
/// A bound may be too high, which costs a search of the section, but never too low. A search that measures a section lowers its bound.
/// Freeing pages in a section raises its bound to "unknown", and also those of the sections before it, whose last extent may continue in
/// it. Sections are examined in groups: 8 TiB are 2,097,152 sections of 4 MiB, and 8,192 groups.
/// </remarks>
internal sealed class ExtentBounds
{
    private const ushort Unknown = ushort.MaxValue;
    private const int GroupShift = 8;
    private const int GroupSize = 1 << GroupShift;

    private ushort[] _bounds = [];
    private ushort[] _groups = [];

    /// <summary>
    /// Returns the first section from <paramref name="from"/> on, and before <paramref name="end"/>, in which an extent of
    /// <paramref name="pages"/> pages may begin; -1 if there is none.
    /// </summary>
    public long Next(long from, long end, long pages)
    {
        EnsureRoom(end);
        var least = (ushort)Math.Min(pages, Unknown - 1);
        for (var section = from; section < end;)
        {
            var group = section >> GroupShift;
            var groupEnd = Math.Min((group + 1) << GroupShift, end);
            if (_groups[group] < least)
            {
                section = groupEnd;
                continue;
            }

            var isWhole = (section & (GroupSize - 1)) == 0;
            ushort most = 0;
            for (; section < groupEnd; section++)
            {
                if (_bounds[section] >= least)
                    return section;
                most = Math.Max(most, _bounds[section]);
            }

            if (isWhole && (section & (GroupSize - 1)) == 0)
                _groups[group] = most;
        }

        return -1;
    }

    /// <summary>True when nothing is known about the section.</summary>
    public bool IsUnknown(long section) => section >= _bounds.Length || _bounds[section] == Unknown;

    /// <summary>Notes that no longer extent begins in the section.</summary>
    public void Lower(long section, long pages)
    {
        // A length that is too large for the bound counts as unknown.
        if (pages < Unknown - 1)
            _bounds[section] = (ushort)pages;
    }

    /// <summary>Notes that longer extents may begin in the section.</summary>
    public void Raise(long section)
    {
        if (section >= _bounds.Length)
            return;
        _bounds[section] = Unknown;
        _groups[section >> GroupShift] = Unknown;
    }

    private void EnsureRoom(long sections)
    {
        if (sections <= _bounds.Length)
            return;
        var before = _bounds.Length;
        var length = (int)((Math.Max(sections, 2L * before) + GroupSize - 1) & ~(GroupSize - 1L));
        Array.Resize(ref _bounds, length);
        Array.Resize(ref _groups, length >> GroupShift);
        _bounds.AsSpan(before).Fill(Unknown);
        _groups.AsSpan(before >> GroupShift).Fill(Unknown);
    }
}
