using System.Diagnostics;
using System.Runtime.CompilerServices;
using Voron.IO;
using Voron.Paging;
using Voron.Primitives;
using Voron.Trees.Pages;

namespace Voron.Trees.KeyHeads;

/// <summary>
/// The key heads of branches: the first four distinguishing bytes of each separator, and the children, in arrays that a search reads sequentially
/// instead of jumping around in the page. They are stored neither in the data file nor in the journal.
/// </summary>
/// <remarks>
/// An entry represents only the newest version of a page, and is used only by the thread holding the writer. Code that changes, creates, frees or
/// rolls back a branch calls <see cref="Invalidate"/>. To keep an entry across the insertion of a child, take it with <see cref="Take"/> before the
/// change, and put it back with <see cref="Free"/>.
/// </remarks>
internal sealed unsafe class BranchKeyHeads : IDisposable
{
    private const long DefaultMemoryBytes = 32 << 20;

    /// <summary>One for each level of a deep tree, and the first one, which is unused.</summary>
    private const int MinSlots = 8;

    private readonly MemoryAccount? _account;
    private readonly AddressSpace _slotSpace;
    private readonly AddressSpace _entrySpace;
    private readonly int* _slots;
    private readonly int _maxEntries;
    private readonly int _childrenOffset;
    private readonly int _slotBytes;
    private readonly int _slotCount;
    private int _nextSlot = 1;

    /// <param name="pageSize">The size of a page in bytes.</param>
    /// <param name="maxPageCount">The maximum page count while the environment is open.</param>
    /// <param name="memoryBytes">The memory for entries, in bytes.</param>
    /// <param name="account">Counts the memory of the entries; null for none.</param>
    /// <param name="addresses">The reservation to share; null for separate ones.</param>
    public BranchKeyHeads(
        int pageSize, long maxPageCount, long memoryBytes = DefaultMemoryBytes, MemoryAccount? account = null, AddressReservation? addresses = null)
    {
        _account = account;
        _maxEntries = KeyHeadsEntry.MaxBranchEntries(pageSize);
        _childrenOffset = KeyHeadsEntry.KeyHeadsBytes(_maxEntries);
        _slotBytes = KeyHeadsEntry.BranchBytes(pageSize);
        _slotCount = SlotCount(pageSize, memoryBytes);
        _slotSpace = AddressSpace.Reserve((nuint)(maxPageCount * sizeof(int)), addresses);
        try
        {
            _entrySpace = AddressSpace.Reserve(EntryAddressBytes(pageSize, memoryBytes), addresses);
        }
        catch
        {
            _slotSpace.Dispose();
            throw;
        }

        _slots = (int*)_slotSpace.Address;
    }

    /// <summary>Asserts that the caller holds the writer; null before there is a writer, and in tests of this class alone.</summary>
    public Action? AssertHeld { get; set; }

    /// <summary>Returns the number of bytes of address space required by the entries.</summary>
    public static nuint EntryAddressBytes(int pageSize, long memoryBytes) =>
        (nuint)SlotCount(pageSize, memoryBytes) * (nuint)KeyHeadsEntry.BranchBytes(pageSize);

    /// <summary>Drops the entry of a page.</summary>
    public void Invalidate(PageNumber page)
    {
        AssertWriterHeld();
        if (IsCovered(page))
            _slots[page.Value] = 0;
    }

    /// <summary>Returns the entry of a page; null when there is none.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public KeyHeadsEntry* Find(PageNumber page)
    {
        AssertWriterHeld();
        if (!IsCovered(page))
            return null;
        var slot = _slots[page.Value];
        return slot == 0 ? null : At(slot);
    }

    /// <summary>Like <see cref="Find"/>, but leaves the page without an entry. For callers about to change the page.</summary>
    public KeyHeadsEntry* Take(PageNumber page)
    {
        var entry = Find(page);
        Invalidate(page);
        return entry;
    }

    /// <summary>
    /// Adds a separator and a child, just inserted into the page, to the entry taken earlier, and puts the entry back. The page remains without an
    /// entry if the entry is full, has no head yet, or now belongs to another page, or if the separator does not begin with its prefix.
    /// </summary>
    public void Free(KeyHeadsEntry* entry, PageNumber page, int index, byte* key, int keyLength, PageNumber child)
    {
        AssertWriterHeld();
        Debug.Assert(!IsCovered(page) || _slots[page.Value] == 0, "The entry of a page must be taken before the page changes.");
        var count = entry->Count;
        if (count + 1 >= _maxEntries || count == 0 || entry->ComparePrefix(key, keyLength) != 0)
            return;

        // Entry 0 has a child and no separator: separator i belongs to child i + 1.
        var heads = entry->Heads;
        var children = Children(entry);
        var at = index - 1;
        new Span<uint>(heads + at, count - at).CopyTo(new Span<uint>(heads + at + 1, count - at));
        new Span<long>(children + index, count + 1 - index).CopyTo(new Span<long>(children + index + 1, count + 1 - index));
        heads[at] = KeyHeadsEntry.Head(key + entry->PrefixLength, keyLength - entry->PrefixLength);
        children[index] = child.Value;
        entry->Count = count + 1;
        entry->Pad();
        if (entry->Page == page.Value)
            _slots[page.Value] = SlotOf(entry);
    }

    [Conditional("DEBUG")]
    private void AssertWriterHeld() => AssertHeld?.Invoke();

    /// <summary>Builds the entry of a branch.</summary>
    /// <exception cref="CorruptionException">The branch claims more children than fit into a page, or none.</exception>
    public KeyHeadsEntry* Build(PageNumber page, byte* branch)
    {
        AssertWriterHeld();
        var separators = SlottedPage.Count(branch) - 1;
        if ((uint)separators >= (uint)_maxEntries)
            PageErrors.ThrowChildren(page, separators + 1);
        var slot = _nextSlot;
        _nextSlot = slot + 1 < _slotCount ? slot + 1 : 1;
        _slotSpace.EnsureCommitted((nuint)((page.Value + 1) * sizeof(int)));
        Commit((nuint)(slot + 1) * (nuint)_slotBytes);
        var entry = At(slot);

        // Unused memory belongs to no page: its page number is 0, which is never a branch.
        if (IsCovered(new PageNumber(entry->Page)) && _slots[entry->Page] == slot)
            _slots[entry->Page] = 0;

        entry->Page = page.Value;
        entry->FillBranch(branch, separators, Children(entry));
        _slots[page.Value] = slot;
        return entry;
    }

    /// <summary>Returns a child of the branch to which an entry belongs.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public PageNumber Child(KeyHeadsEntry* entry, int index) => new(Children(entry)[index]);

    /// <summary>Prefetches the memory that a search of the page will read.</summary>
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
        _account?.Add(-(long)_entrySpace.Committed);
        _slotSpace.Dispose();
        _entrySpace.Dispose();
    }

    private static int SlotCount(int pageSize, long memoryBytes) => (int)Math.Max(MinSlots, memoryBytes / KeyHeadsEntry.BranchBytes(pageSize));

    private void Commit(nuint bytes)
    {
        var before = _entrySpace.Committed;
        if (bytes <= before)
            return;
        _entrySpace.EnsureCommitted(bytes);
        _account?.Add((long)(_entrySpace.Committed - before));
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool IsCovered(PageNumber page) => (nuint)page.Value < _slotSpace.Committed / sizeof(int);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private KeyHeadsEntry* At(int slot) => (KeyHeadsEntry*)(_entrySpace.Address + (long)slot * _slotBytes);

    private int SlotOf(KeyHeadsEntry* entry) => (int)(((byte*)entry - _entrySpace.Address) / _slotBytes);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private long* Children(KeyHeadsEntry* entry) => (long*)((byte*)entry + _childrenOffset);
}
