using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using Voron.IO;
using Voron.Primitives;

namespace Voron.Trees;

/// <summary>
/// Beside branch pages: the first four distinguishing bytes of each separator, and the children, in arrays that a search
/// reads from end to end instead of jumping about in the page. Nothing of it is on disk or in the journal.
/// </summary>
/// <remarks>
/// <para>
/// It stands for the newest version of a page only, and is used by the holder of the writer alone. Whoever changes, makes,
/// frees or rolls back a branch says <see cref="Invalidate"/>; there is one way to keep an entry over a change: take it with
/// <see cref="Take"/> before, bring it up to date and give it back.
/// </para>
/// <para>
/// An entry leaves out the bytes with which all separators of its page begin, so that keys with a long common prefix are
/// told apart as well as others. Heads that are equal decide nothing: then the page itself is searched.
/// </para>
/// </remarks>
internal sealed unsafe class BranchHeads : IDisposable
{
    private const int MaxPrefixBytes = 40;
    private const long MemoryLimitBytes = 32L << 20;

    // What remains is compared without branches, eight heads at a time.
    private const int LinearHeads = 256;

    private readonly AddressSpace _slotSpace;
    private readonly AddressSpace _entrySpace;
    private readonly int* _slots;
    private readonly int _maxEntries;
    private readonly int _childrenOffset;
    private readonly int _slotBytes;
    private readonly int _slotCount;
    private int _nextSlot = 1;

    public BranchHeads(int pageSize, long maxPageCount)
    {
        _maxEntries = SlottedPage.Capacity(pageSize) / (Format.BranchRecordHeader.Size + SlottedPage.SlotSize) + 1;
        _childrenOffset = Entry.HeaderSize + ((_maxEntries + 7) & ~7) * sizeof(uint);
        _slotBytes = (_childrenOffset + _maxEntries * sizeof(long) + 63) & ~63;
        _slotCount = (int)(MemoryLimitBytes / _slotBytes);
        _slotSpace = AddressSpace.Reserve((nuint)(maxPageCount * sizeof(int)));
        _entrySpace = AddressSpace.Reserve((nuint)_slotCount * (nuint)_slotBytes);
        _slots = (int*)_slotSpace.Address;
    }

    /// <summary>Forgets what is known of a page.</summary>
    public void Invalidate(PageNumber page)
    {
        if (IsCovered(page))
            _slots[page.Value] = 0;
    }

    /// <summary>The entry of a page; null when there is none.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public Entry* Find(PageNumber page)
    {
        if (!IsCovered(page))
            return null;
        var slot = _slots[page.Value];
        return slot == 0 ? null : At(slot);
    }

    /// <summary>As <see cref="Find"/>; the page has no entry after this. For whoever is about to change the page.</summary>
    public Entry* Take(PageNumber page)
    {
        var entry = Find(page);
        Invalidate(page);
        return entry;
    }

    /// <summary>Adds to an entry taken before what has been added to its page, and gives it back.</summary>
    public void GiveBack(Entry* entry, PageNumber page, int index, byte* key, int keyLength, PageNumber child)
    {
        var count = entry->Separators;
        if (count + 1 >= _maxEntries || count == 0 || entry->ComparePrefix(key, keyLength) != 0)
            return;

        // Entry 0 has a child and no separator: separator i belongs to child i + 1.
        var heads = entry->Heads;
        var children = Children(entry);
        var at = index - 1;
        new Span<uint>(heads + at, count - at).CopyTo(new Span<uint>(heads + at + 1, count - at));
        new Span<long>(children + index, count + 1 - index).CopyTo(new Span<long>(children + index + 1, count + 1 - index));
        heads[at] = Head(key + entry->PrefixLength, keyLength - entry->PrefixLength);
        children[index] = child.Value;
        entry->Separators = count + 1;
        Pad(entry);
        if (entry->Page == page.Value)
            _slots[page.Value] = SlotOf(entry);
    }

    /// <summary>Makes the entry of a branch.</summary>
    /// <exception cref="CorruptionException">The branch claims to have more children than there is room for, or none.</exception>
    public Entry* Build(PageNumber page, byte* branch)
    {
        var separators = SlottedPage.Count(branch) - 1;
        if ((uint)separators >= (uint)_maxEntries)
            TreeErrors.ThrowChildren(page, separators + 1);
        var slot = _nextSlot;
        _nextSlot = slot + 1 < _slotCount ? slot + 1 : 1;
        _slotSpace.EnsureCommitted((nuint)((page.Value + 1) * sizeof(int)));
        _entrySpace.EnsureCommitted((nuint)(slot + 1) * (nuint)_slotBytes);
        var entry = At(slot);

        // Memory that was never used belongs to no page: it says 0, which is no branch.
        if (IsCovered(new PageNumber(entry->Page)) && _slots[entry->Page] == slot)
            _slots[entry->Page] = 0;

        entry->Page = page.Value;
        entry->Separators = separators;
        entry->SetPrefix(CommonPrefix(branch, separators));
        var heads = entry->Heads;
        var children = Children(entry);
        children[0] = BranchPage.Child(branch, 0).Value;
        for (var i = 0; i < separators; i++)
        {
            var record = SlottedPage.Record(branch, i + 1);
            heads[i] = Head(BranchPage.KeyBytes(record) + entry->PrefixLength, BranchPage.KeyLength(record) - entry->PrefixLength);
            children[i + 1] = BranchPage.Child(branch, i + 1).Value;
        }

        Pad(entry);
        _slots[page.Value] = slot;
        return entry;
    }

    /// <summary>The child whose range holds the key.</summary>
    /// <param name="entry">The entry of the branch.</param>
    /// <param name="reader">For the branch itself, which is looked at when heads are equal.</param>
    /// <param name="key">The key.</param>
    public PageNumber Search(Entry* entry, PageReader reader, in SearchKey key)
    {
        var separators = entry->Separators;
        var order = entry->ComparePrefix(key.Bytes, key.Length);
        var child = 0;
        if (order > 0)
        {
            child = separators;
        }
        else if (order == 0)
        {
            var head = Head(key.Bytes + entry->PrefixLength, key.Length - entry->PrefixLength);
            Count(entry->Heads, separators, head, out var less, out var notGreater);
            child = less == notGreater ? less : SearchEqual(reader, new PageNumber(entry->Page), key, less, notGreater);
        }

        return new PageNumber(Children(entry)[child]);
    }

    /// <summary>Asks for what a search of the page will read.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Prefetch(PageReader reader, PageNumber page)
    {
        var bytes = (byte*)Find(page);
        if (bytes == null)
            bytes = reader.Peek(page);
        CacheLines.Prefetch(bytes);
        CacheLines.Prefetch(bytes + CacheLines.LineBytes);
        CacheLines.Prefetch(bytes + 2 * CacheLines.LineBytes);
    }

    public void Dispose()
    {
        _slotSpace.Dispose();
        _entrySpace.Dispose();
    }

    /// <summary>Counts heads below, and heads not above, a head. They rise.</summary>
    private static void Count(uint* heads, int count, uint head, out int less, out int notGreater)
    {
        var from = 0;
        while (count > LinearHeads)
        {
            // Whole vectors only, and equal heads are never cut off on either side.
            var half = (count >> 1) & ~7;
            if (heads[from + half - 1] < head)
                from += half;
            else if (heads[from + half] <= head)
                break;
            else
            {
                count = half;
                continue;
            }

            count -= half;
        }

        var wanted = Vector256.Create(head);
        var below = Vector256<uint>.Zero;
        var upTo = Vector256<uint>.Zero;
        for (var i = from; i < from + count; i += Vector256<uint>.Count)
        {
            var stored = Vector256.Load(heads + i);
            below -= Vector256.LessThan(stored, wanted);
            upTo -= Vector256.LessThanOrEqual(stored, wanted);
        }

        less = from + (int)Vector256.Sum(below);

        // Behind the last head stand the largest of all.
        notGreater = Math.Min(from + (int)Vector256.Sum(upTo), from + count);
    }

    /// <summary>Among separators whose heads are that of the key: the page has the last word.</summary>
    private static int SearchEqual(PageReader reader, PageNumber page, in SearchKey key, int low, int high)
    {
        var branch = TreeReader.ReadBranch(reader, page);
        while (low < high)
        {
            var middle = (low + high) >>> 1;
            var record = SlottedPage.Record(branch, middle + 1);
            if (key.CompareStored(BranchPage.KeyBytes(record), BranchPage.KeyLength(record)) <= 0)
                low = middle + 1;
            else
                high = middle;
        }

        return low;
    }

    private static ReadOnlySpan<byte> CommonPrefix(byte* branch, int separators)
    {
        if (separators == 0)
            return default;
        var first = BranchPage.Key(SlottedPage.Record(branch, 1));
        var last = BranchPage.Key(SlottedPage.Record(branch, separators));

        // With one separator, or a first that begins the last, at least its last byte is left to be a head.
        var length = Math.Min(first.CommonPrefixLength(last), first.Length - 1);
        return first[..Math.Min(length, MaxPrefixBytes)];
    }

    /// <summary>Up to four bytes as a number, padded with zeros.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static uint Head(byte* bytes, int length)
    {
        if (length >= sizeof(uint))
            return System.Buffers.Binary.BinaryPrimitives.ReverseEndianness(Unsafe.ReadUnaligned<uint>(bytes));
        uint head = 0;
        for (var i = 0; i < length; i++)
            head |= (uint)bytes[i] << (24 - 8 * i);
        return head;
    }

    // Vectors read past the last head.
    private static void Pad(Entry* entry)
    {
        for (var i = entry->Separators; (i & 7) != 0; i++)
            entry->Heads[i] = uint.MaxValue;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool IsCovered(PageNumber page) => (nuint)page.Value < _slotSpace.Committed / sizeof(int);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private Entry* At(int slot) => (Entry*)(_entrySpace.Address + (long)slot * _slotBytes);

    private int SlotOf(Entry* entry) => (int)(((byte*)entry - _entrySpace.Address) / _slotBytes);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private long* Children(Entry* entry) => (long*)((byte*)entry + _childrenOffset);

    /// <summary>The start of an entry; heads and children follow.</summary>
    [StructLayout(LayoutKind.Explicit, Size = HeaderSize)]
    internal struct Entry
    {
        public const int HeaderSize = 64;

        [FieldOffset(0)]
        public long Page;

        [FieldOffset(8)]
        public int Separators;

        /// <summary>Bytes that all separators of the page begin with; those of a head come behind them.</summary>
        [FieldOffset(12)]
        public int PrefixLength;

        [FieldOffset(16)]
        private fixed byte _prefix[MaxPrefixBytes];

        public uint* Heads
        {
            [MethodImpl(MethodImplOptions.AggressiveInlining)]
            get => (uint*)((byte*)Unsafe.AsPointer(ref this) + HeaderSize);
        }

        public void SetPrefix(ReadOnlySpan<byte> prefix)
        {
            Debug.Assert(prefix.Length <= MaxPrefixBytes);
            PrefixLength = prefix.Length;
            prefix.CopyTo(MemoryMarshal.CreateSpan(ref _prefix[0], MaxPrefixBytes));
        }

        /// <summary>Below zero when a key sorts before all keys with the prefix, 0 when it has it.</summary>
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public int ComparePrefix(byte* key, int length) => PrefixLength == 0 ? 0 : CompareLongPrefix(key, length);

        private int CompareLongPrefix(byte* key, int length)
        {
            var prefix = MemoryMarshal.CreateReadOnlySpan(ref _prefix[0], PrefixLength);
            return new ReadOnlySpan<byte>(key, Math.Min(length, PrefixLength)).SequenceCompareTo(prefix);
        }
    }
}
