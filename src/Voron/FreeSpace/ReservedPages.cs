using System.Diagnostics;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Voron.Format;
using Voron.Testing;

namespace Voron.FreeSpace;

/// <summary>The pages that are free in the section maps but not available, because staged values are written to them.</summary>
/// <remarks>
/// Kept in memory only, with a bit for each page of the sections that contain reserved pages: after a crash, the pages are simply free. The holder
/// of the writer makes reservations, of pages that are free and have no version. Such a page stays free and without a version until the
/// reservation ends, because nothing else takes, punches or cuts it off.
/// <para>
/// Any thread may end a reservation, without a lock and without memory. The pages become available when the next transaction begins, so the set of
/// reserved pages does not change within a transaction.
/// </para>
/// </remarks>
internal sealed unsafe class ReservedPages
{
    private readonly SectionMapLayout _layout;
    private readonly SectionMap _map;
    private readonly Dictionary<long, ulong[]> _sections = [];
    private readonly ulong[] _occupied;

    // Ended reservations: pushed by any thread, and taken together by the holder of the writer, who then removes one at a time.
    private PageReservation? _ended;
    private PageReservation? _leaving;
    private long _pages;

    public ReservedPages(SectionMapLayout layout, SectionMap map)
    {
        _layout = layout;
        _map = map;
        _occupied = GC.AllocateArray<ulong>((layout.PagesPerSection + 63) >> 6, pinned: true);
    }

    /// <summary>The number of pages in reservations that have not ended. Any thread may read it.</summary>
    public long Pages => Volatile.Read(ref _pages);

    /// <summary>The number of sections that contain reserved pages, for tests.</summary>
    public int SectionCount => _sections.Count;

    /// <summary>The number of ended reservations whose pages have become available. Used by the holder of the writer.</summary>
    public long ReleaseCount { get; private set; }

    /// <summary>True when the pages of an ended reservation are still to be made available.</summary>
    public bool HasEnded => _leaving != null || Volatile.Read(ref _ended) != null;

    /// <summary>
    /// Returns the bitmap of a section in which reserved pages count as used. It may be read until the next change, or the next call.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public byte* ReadBitmap(long section)
    {
        var bitmap = _map.ReadBitmap(section);
        return _sections.Count == 0 || PlantedFault.ForgetReservations ? bitmap : Combine(bitmap, section);
    }

    /// <summary>Returns the number of pages in a section that are used or reserved.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public int OccupiedPages(long section) =>
        _sections.Count == 0 || PlantedFault.ForgetReservations ? _map.UsedPages(section) : Count(section);

    /// <summary>True when the page is reserved.</summary>
    public bool Contains(long page) =>
        _sections.TryGetValue(_layout.SectionOf(page), out var bits) && (bits[Bit(page) >> 6] & (1UL << (Bit(page) & 63))) != 0;

    /// <summary>Reserves pages that are free, have no version and are not reserved.</summary>
    /// <exception cref="OutOfMemoryException">Nothing is reserved.</exception>
    public PageReservation Add(long first, long pages)
    {
        _map.AssertWriterHeld();
        var made = new PageReservation(first, pages);
        Set(first, pages);
        Interlocked.Add(ref _pages, pages);
        return made;
    }

    /// <summary>Adds the pages after a reservation, which meet the same conditions.</summary>
    /// <inheritdoc cref="Add"/>
    public void Grow(PageReservation reservation, long pages)
    {
        _map.AssertWriterHeld();
        var more = pages - reservation.Pages;
        Set(reservation.End, more);
        reservation.Pages = pages;
        Interlocked.Add(ref _pages, more);
    }

    /// <summary>Ends a part of a reservation: all pages except the first ones. Any thread may call this for a reservation that it owns.</summary>
    public void Shorten(PageReservation reservation, long pages)
    {
        if (pages == reservation.Pages)
            return;
        Debug.Assert(pages < reservation.Pages, "A reservation is shortened to fewer pages than it has.");
        var tail = new PageReservation(reservation.First + pages, reservation.Pages - pages);
        reservation.Pages = pages;
        End(tail);
    }

    /// <summary>Ends a reservation. Any thread may call this, even after the environment is closed.</summary>
    /// <returns>False when it has ended already.</returns>
    public bool End(PageReservation reservation)
    {
        if (!reservation.TryEnd())
            return false;
        Interlocked.Add(ref _pages, -reservation.Pages);
        var head = Volatile.Read(ref _ended);
        while (true)
        {
            reservation.Next = head;
            var found = Interlocked.CompareExchange(ref _ended, reservation, head);
            if (found == head)
                return true;
            head = found;
        }
    }

    /// <summary>Makes the pages of an ended reservation available, and returns it; null when there is none.</summary>
    /// <remarks>The caller notes the pages, and then calls <see cref="Forget"/>. If noting them fails, the next call returns it again.</remarks>
    public PageReservation? Remove()
    {
        _map.AssertWriterHeld();
        _leaving ??= Interlocked.Exchange(ref _ended, null);
        if (_leaving != null && !PlantedFault.KeepReservations)
            Clear(_leaving.First, _leaving.Pages);
        return _leaving;
    }

    /// <summary>Completes the removal of the reservation that <see cref="Remove"/> has returned.</summary>
    public void Forget()
    {
        _map.AssertWriterHeld();
        _leaving = _leaving!.Next;
        ReleaseCount++;
    }

    private int Bit(long page) => (int)(page % _layout.PagesPerSection);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private byte* Combine(byte* bitmap, long section)
    {
        if (!_sections.TryGetValue(section, out var reserved))
            return bitmap;
        for (var word = 0; word < reserved.Length; word++)
            _occupied[word] = ((ulong*)bitmap)[word] | reserved[word];

        // The array is pinned.
        return (byte*)Unsafe.AsPointer(ref MemoryMarshal.GetArrayDataReference(_occupied));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private int Count(long section)
    {
        if (!_sections.ContainsKey(section))
            return _map.UsedPages(section);

        // Counted, not added: pages that the open transaction has taken from a reservation are both used and reserved.
        var words = (ulong*)ReadBitmap(section);
        var count = 0;
        for (var word = 0; word < _occupied.Length; word++)
            count += BitOperations.PopCount(words[word]);
        return count;
    }

    private void Set(long first, long pages)
    {
        var end = first + pages;
        var at = first;
        try
        {
            while (at < end)
            {
                var section = _layout.SectionOf(at);
                ref var bits = ref CollectionsMarshal.GetValueRefOrAddDefault(_sections, section, out _);
                bits ??= new ulong[_occupied.Length];
                var next = Math.Min(end, (section + 1) * _layout.PagesPerSection);
                for (var word = Bit(at) >> 6; word <= Bit(next - 1) >> 6; word++)
                {
                    var mask = Mask(word, at, next);
                    Debug.Assert((bits[word] & mask) == 0, "A page must be reserved only once.");
                    bits[word] |= mask;
                }

                at = next;
            }
        }
        catch (OutOfMemoryException)
        {
            // The entry of the last section may have been added without its bits.
            if (_sections.TryGetValue(_layout.SectionOf(at), out var bits) && bits == null)
                _sections.Remove(_layout.SectionOf(at));
            Clear(first, at - first);
            throw;
        }
    }

    private void Clear(long first, long pages)
    {
        var end = first + pages;
        for (var at = first; at < end;)
        {
            var section = _layout.SectionOf(at);
            var next = Math.Min(end, (section + 1) * _layout.PagesPerSection);
            if (_sections.TryGetValue(section, out var bits))
            {
                for (var word = Bit(at) >> 6; word <= Bit(next - 1) >> 6; word++)
                    bits[word] &= ~Mask(word, at, next);
                if (bits.AsSpan().IndexOfAnyExcept(0UL) < 0)
                    _sections.Remove(section);
            }

            at = next;
        }
    }

    // Returns the bits of a word that belong to the pages from `first` to `end`, which are pages of one section.
    private ulong Mask(int word, long first, long end)
    {
        var from = Math.Max(Bit(first) - (word << 6), 0);
        var last = Math.Min(Bit(end - 1) - (word << 6), 63);
        return (ulong.MaxValue << from) & (ulong.MaxValue >> (63 - last));
    }
}
