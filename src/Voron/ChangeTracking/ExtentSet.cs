using System.Diagnostics;
using Voron.IO;

namespace Voron.ChangeTracking;

/// <summary>
/// A set of pages, as extents in page order, with its encoding in the change log: for each extent, the pages between it and the one before,
/// doubled, plus 1 if it has more than one page; then, if so, the number of its pages minus 2. Both are numbers of seven bits per byte, lowest
/// first.
/// </summary>
/// <param name="heap">The heap that provides the memory.</param>
internal sealed class ExtentSet(NativeHeap heap) : IDisposable
{
    private const int MaxKept = 64 << 10;
    private const int MaxNumberBytes = 10;

    private readonly NativeList<PageExtent> _extents = new(heap);

    // From here on, extents may be in any order and overlap.
    private int _sorted;

    public int Count => _extents.Count;

    /// <summary>The extents in page order, without overlaps. Valid until the set changes.</summary>
    public ReadOnlySpan<PageExtent> Extents
    {
        get
        {
            Sort();
            return _extents.AsSpan();
        }
    }

    /// <summary>Adds pages that may be in the set already.</summary>
    /// <exception cref="OutOfMemoryException">There is no memory; the set is unchanged.</exception>
    public void Add(long first, long pages)
    {
        Debug.Assert(first >= 0 && pages > 0, "An extent must have pages.");
        if (_extents.Count > 0 && _sorted == _extents.Count && first >= _extents[_extents.Count - 1].First)
        {
            ref var last = ref _extents[_extents.Count - 1];
            if (first <= last.End)
                last = last with { Pages = Math.Max(last.End, first + pages) - last.First };
            else
                _extents.Add(new PageExtent(first, pages));
            _sorted = _extents.Count;
            return;
        }

        _extents.Add(new PageExtent(first, pages));
        if (_extents.Count == 1)
            _sorted = 1;
    }

    /// <summary>
    /// Reduces the set's encoding to a length by adding the pages between close extents. Extra pages cost a later backup some reads; missing pages
    /// would be lost in it.
    /// </summary>
    public void Coarsen(long maxBytes)
    {
        for (var gap = 1L; Count > 1 && EncodedBytes() > maxBytes; gap *= 2)
            Join(gap);
    }

    /// <summary>The number of bytes of the set's encoding.</summary>
    public long EncodedBytes()
    {
        Span<byte> number = stackalloc byte[MaxNumberBytes];
        var (bytes, end) = (0L, 0L);
        foreach (var extent in Extents)
        {
            bytes += Put(number, Gap(extent, end));
            if (extent.Pages > 1)
                bytes += Put(number, (ulong)extent.Pages - 2);
            end = extent.End;
        }

        return bytes;
    }

    /// <summary>Writes the set's encoding to a span of exactly <see cref="EncodedBytes"/> bytes.</summary>
    public void Encode(Span<byte> target)
    {
        var end = 0L;
        foreach (var extent in Extents)
        {
            target = target[Put(target, Gap(extent, end))..];
            if (extent.Pages > 1)
                target = target[Put(target, (ulong)extent.Pages - 2)..];
            end = extent.End;
        }

        Debug.Assert(target.IsEmpty, "The form must fill the span.");
    }

    /// <summary>Adds the pages of an encoding. Returns false if it is malformed; the set then contains some of them.</summary>
    /// <param name="source">The encoding.</param>
    /// <param name="count">The number of extents.</param>
    /// <param name="maxPages">The number of pages that a data file can have.</param>
    public bool TryDecode(ReadOnlySpan<byte> source, long count, long maxPages)
    {
        var end = 0L;
        for (; count > 0; count--)
        {
            if (!TryTake(ref source, out var gap))
                return false;
            var more = 0UL;
            if ((gap & 1) != 0 && !TryTake(ref source, out more))
                return false;
            var pages = (gap & 1) != 0 ? more + 2 : 1;
            if (gap >> 1 > (ulong)(maxPages - end) || more > (ulong)maxPages || pages > (ulong)(maxPages - end) - (gap >> 1))
                return false;
            Add(end + (long)(gap >> 1), (long)pages);
            end += (long)(gap >> 1) + (long)pages;
        }

        return source.IsEmpty;
    }

    public void Clear()
    {
        _extents.ClearAndTrim(MaxKept);
        _sorted = 0;
    }

    /// <summary>Removes all pages, and frees the memory.</summary>
    public void Dispose() => _extents.ClearAndTrim(0);

    private static ulong Gap(in PageExtent extent, long end) => ((ulong)(extent.First - end) << 1) | (extent.Pages > 1 ? 1UL : 0);

    private static int Put(Span<byte> target, ulong number)
    {
        var at = 0;
        for (; number >= 0x80; number >>= 7)
            target[at++] = (byte)(number | 0x80);
        target[at++] = (byte)number;
        return at;
    }

    private static bool TryTake(ref ReadOnlySpan<byte> source, out ulong number)
    {
        number = 0;
        for (var at = 0; at < Math.Min(source.Length, MaxNumberBytes); at++)
        {
            number |= (ulong)(source[at] & 0x7F) << (7 * at);
            if (source[at] >= 0x80)
                continue;
            source = source[(at + 1)..];
            return true;
        }

        return false;
    }

    private void Sort()
    {
        if (_sorted == _extents.Count)
            return;
        _extents.AsSpan().Sort();
        Join(0);
    }

    // Joins extents with at most that many pages between them.
    private void Join(long gap)
    {
        if (gap > 0)
            Sort();
        var extents = _extents.AsSpan();
        var last = 0;
        for (var i = 1; i < extents.Length; i++)
        {
            if (extents[i].First <= extents[last].End + gap)
                extents[last] = extents[last] with { Pages = Math.Max(extents[last].End, extents[i].End) - extents[last].First };
            else
                extents[++last] = extents[i];
        }

        _extents.Truncate(Math.Min(extents.Length, last + 1));
        _sorted = _extents.Count;
    }
}

/// <summary>Adjacent pages.</summary>
internal readonly record struct PageExtent(long First, long Pages) : IComparable<PageExtent>
{
    /// <summary>The page after the last one.</summary>
    public long End => First + Pages;

    public int CompareTo(PageExtent other) => First.CompareTo(other.First);
}
