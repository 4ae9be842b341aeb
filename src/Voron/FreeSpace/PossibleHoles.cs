using System.Diagnostics;
using Voron.Format;

namespace Voron.FreeSpace;

/// <summary>Tracks the free pages of the data file that may have no blocks, and gives them blocks before they are used.</summary>
/// <remarks>
/// Kept in memory only, with two bits per page, for the sections that pages were taken from since the environment was opened, and for those that
/// were punched. Holes punched before the environment was opened are unknown, so the first examination of a section treats every range of free
/// pages that is long enough to have been punched as a hole. Invariant: pages without blocks, below the length of the file, belong to ranges of at
/// least <see cref="MinPages"/> free pages of one section. Punching preserves it, since no shorter range is punched; filling preserves it, since
/// it leaves no shorter remainder. It also holds after a crash: blocks are durable before a transaction that needs them is submitted, and a range
/// is punched only while it is free in the checkpoint and in everything committed since. Nothing here is rolled back: a page that has blocks keeps
/// them. Used only by the holder of the writer.
/// </remarks>
internal sealed unsafe class PossibleHoles
{
    /// <summary>The length in bytes of the shortest range that is returned to the file system.</summary>
    public const int MinBytes = 64 << 10;

    /// <summary>A call that gives a page blocks also gives them to its neighbours, to limit the number of calls.</summary>
    private const int FilledAtOnceBytes = 1 << 20;

    private readonly SectionMapLayout _layout;
    private readonly SectionMap _map;
    private readonly Action<long, long> _fill;
    private readonly Dictionary<long, SectionHoles?> _sections = [];
    private readonly int _filledAtOnce;
    private long _unknownPages;
    private long _lastSection = -1;
    private SectionHoles? _last;

    /// <param name="unknownPages">The length of the file when it was opened: later pages have been given blocks since.</param>
    /// <param name="isNew">True if the file was made then, with blocks for all pages.</param>
    /// <param name="fill">Gives pages blocks; takes the first page, and the number of pages.</param>
    public PossibleHoles(SectionMapLayout layout, SectionMap map, long unknownPages, bool isNew, Action<long, long> fill)
    {
        _layout = layout;
        _map = map;
        _unknownPages = unknownPages;
        _fill = Testing.PlantedFault.LeaveHoles ? static (_, _) => { } : fill;
        MinPages = Math.Max(1, MinBytes / layout.PageSize);
        _filledAtOnce = FilledAtOnceBytes / layout.PageSize;
        for (var section = 0L; isNew && section * layout.PagesPerSection < unknownPages; section++)
            _sections.Add(section, new SectionHoles(layout.PagesPerSection));
    }

    /// <summary>The minimum number of pages in a range that is returned.</summary>
    public int MinPages { get; }

    /// <summary>Returns the pages of a section that may have no blocks, a bit each as in its bitmap; null when all have blocks.</summary>
    public ulong* Bits(long section)
    {
        var holes = Find(section);
        return holes == null ? null : holes.Possible;
    }

    /// <summary>True when some pages of one section may have no blocks.</summary>
    public bool HasAny(long first, long pages)
    {
        if (Find(_layout.SectionOf(first)) is not { } holes)
            return false;
        var bit = (int)(first % _layout.PagesPerSection);
        return holes.Next(bit, bit + (int)pages) >= 0;
    }

    /// <summary>
    /// Adds the ranges that must be given blocks for some pages of one section: those that may have none, and the rest of their holes where it would
    /// be too short for a hole.
    /// </summary>
    public void AddTo(List<PageRange> ranges, long first, long pages)
    {
        if (Find(_layout.SectionOf(first)) is not { } holes)
            return;
        var from = (int)(first % _layout.PagesPerSection);
        var to = from + (int)pages;
        for (var bit = holes.Next(from, to); bit >= 0; bit = holes.Next(bit, to))
        {
            var (fillFrom, fillTo) = Widen(holes, bit, Math.Min(to, holes.End(bit)));
            ranges.Add(new PageRange(first - from + fillFrom, fillTo - fillFrom, fillTo - fillFrom));
            bit = fillTo;
        }
    }

    /// <summary>Notes that pages of one section have been given blocks.</summary>
    public void NoteFilled(long first, long pages)
    {
        AssertWriterHeld();
        var bit = (int)(first % _layout.PagesPerSection);
        Find(_layout.SectionOf(first))?.Clear(bit, bit + (int)pages);
    }

    /// <summary>True when the page was punched after this opening of the environment, and not filled since.</summary>
    public bool IsPunched(long page) =>
        _sections.TryGetValue(_layout.SectionOf(page), out var holes) && holes != null && holes.IsPunched((int)(page % _layout.PagesPerSection));

    /// <summary>
    /// Notes that the blocks of a range of pages of one section are about to be returned: the call may fail although it has returned
    /// all of them, or a part. The pages are free.
    /// </summary>
    public void NotePossible(long first, long pages)
    {
        AssertWriterHeld();
        Debug.Assert(first % _layout.PagesPerSection + pages <= _layout.PagesPerSection, "A range must lie in one section.");
        var bit = (int)(first % _layout.PagesPerSection);
        Make(_layout.SectionOf(first)).SetPossible(bit, bit + (int)pages);
    }

    /// <summary>Notes that the blocks of a range of pages have been returned.</summary>
    public void NotePunched(long first, long pages)
    {
        AssertWriterHeld();
        var holes = Make(_layout.SectionOf(first));
        for (var bit = (int)(first % _layout.PagesPerSection); pages > 0; bit++, pages--)
            holes.SetPunched(bit);
    }

    /// <summary>Gives blocks to pages that may have none. Must be called before the pages are marked as used.</summary>
    /// <exception cref="StorageFullException">There is not enough space.</exception>
    public void Fill(long first, long pages)
    {
        AssertWriterHeld();
        var end = first + pages;
        while (first < end)
        {
            var section = _layout.SectionOf(first);
            var start = section * _layout.PagesPerSection;
            var partEnd = Math.Min(end, start + _layout.PagesPerSection);
            if (Find(section) is { } holes)
                Fill(holes, start, (int)(first - start), (int)(partEnd - start));
            first = partEnd;
        }
    }

    /// <summary>Notes that the file has been truncated: pages that it grows by again are given blocks at that time.</summary>
    public void NoteTruncated(long pages)
    {
        AssertWriterHeld();
        _unknownPages = Math.Min(_unknownPages, pages);
        _lastSection = -1;
        foreach (var section in _sections.Keys.Where(section => section * _layout.PagesPerSection >= pages).ToArray())
            _sections.Remove(section);
        if (_sections.TryGetValue(_layout.SectionOf(pages), out var last) && last != null)
            last.Clear((int)(pages % _layout.PagesPerSection), _layout.PagesPerSection);
    }

    private void Fill(SectionHoles holes, long start, int from, int to)
    {
        for (var bit = holes.Next(from, to); bit >= 0; bit = holes.Next(bit, to))
        {
            var (fillFrom, fillTo) = Widen(holes, bit, Math.Min(holes.End(bit), Math.Max(to, bit + _filledAtOnce)));
            _fill(start + fillFrom, fillTo - fillFrom);
            holes.Clear(fillFrom, fillTo);
        }
    }

    // The rest of the hole on either side of the pages stays a hole if it is long enough, and is filled otherwise.
    private (int From, int To) Widen(SectionHoles holes, int from, int to)
    {
        var first = holes.Start(from);
        var end = holes.End(from);
        return (from - first < MinPages ? first : from, end - to < MinPages ? end : to);
    }

    [Conditional("DEBUG")]
    private void AssertWriterHeld() => _map.AssertWriterHeld();

    private SectionHoles Make(long section)
    {
        if (Find(section) is { } found)
            return found;
        var made = new SectionHoles(_layout.PagesPerSection);
        _sections[section] = made;
        return _last = made;
    }

    private SectionHoles? Find(long section)
    {
        AssertWriterHeld();
        if (section == _lastSection)
            return _last;
        if (!_sections.TryGetValue(section, out var holes))
        {
            holes = Examine(section);
            _sections.Add(section, holes);
        }

        _lastSection = section;
        _last = holes;
        return holes;
    }

    // Free pages after the page count are also after the end of any hole from before this opening, unless the count was lowered then.
    private SectionHoles? Examine(long section)
    {
        var limit = (int)Math.Clamp(_unknownPages - section * _layout.PagesPerSection, 0, _layout.PagesPerSection);
        if (limit == 0)
            return null;
        SectionHoles? holes = null;
        var bitmap = section < _map.SectionCount ? _map.ReadBitmap(section) : null;
        for (var bit = 0; bit < limit;)
        {
            var first = bitmap == null ? bit : Bitmap.FindClear(bitmap, limit, bit);
            if (first < 0)
                break;
            var end = bitmap == null ? limit : Bitmap.FindSet(bitmap, limit, first);
            if (end < 0)
                end = limit;

            // A range at the former end of the file may have continued after it.
            if (end - first >= MinPages || end == limit)
            {
                holes ??= new SectionHoles(_layout.PagesPerSection);
                holes.SetPossible(first, end);
            }

            bit = end;
        }

        return holes;
    }

    /// <summary>The pages of one section, two bits each.</summary>
    private sealed class SectionHoles
    {
        private readonly ulong[] _bits;
        private readonly int _words;
        private readonly int _pages;

        public SectionHoles(int pages)
        {
            _pages = pages;
            _words = (pages + 63) >> 6;
            _bits = GC.AllocateArray<ulong>(2 * _words, pinned: true);
            Possible = (ulong*)System.Runtime.CompilerServices.Unsafe.AsPointer(ref _bits[0]);
        }

        /// <summary>The address does not change.</summary>
        public ulong* Possible { get; }

        public bool IsPunched(int bit) => (_bits[_words + (bit >> 6)] & (1UL << (bit & 63))) != 0;

        public void SetPunched(int bit)
        {
            Possible[bit >> 6] |= 1UL << (bit & 63);
            _bits[_words + (bit >> 6)] |= 1UL << (bit & 63);
        }

        public void SetPossible(int from, int to)
        {
            for (var bit = from; bit < to; bit++)
                Possible[bit >> 6] |= 1UL << (bit & 63);
        }

        public void Clear(int from, int to)
        {
            for (var bit = from; bit < to; bit++)
            {
                Possible[bit >> 6] &= ~(1UL << (bit & 63));
                _bits[_words + (bit >> 6)] &= ~(1UL << (bit & 63));
            }
        }

        /// <summary>Returns the first page of a hole from <paramref name="from"/> on and before <paramref name="to"/>, or -1.</summary>
        public int Next(int from, int to)
        {
            var bit = from < to ? Bitmap.FindSet((byte*)Possible, _words << 6, from) : -1;
            return bit < to ? bit : -1;
        }

        /// <summary>Returns the beginning of the hole that contains a page.</summary>
        public int Start(int bit)
        {
            while (bit > 0 && (Possible[(bit - 1) >> 6] & (1UL << ((bit - 1) & 63))) != 0)
                bit--;
            return bit;
        }

        /// <summary>Returns the end of the hole that contains a page.</summary>
        public int End(int bit)
        {
            var end = Bitmap.FindClear((byte*)Possible, _pages, bit);
            return end < 0 ? _pages : end;
        }
    }
}

/// <summary>A range of pages that can be returned.</summary>
/// <param name="First">The first page.</param>
/// <param name="Pages">The number of pages.</param>
/// <param name="NewPages">The number of pages that were not returned before.</param>
internal readonly record struct PageRange(long First, long Pages, long NewPages);
