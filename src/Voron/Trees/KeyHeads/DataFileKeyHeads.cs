using System.Diagnostics;
using System.Numerics;
using System.Runtime.CompilerServices;
using Voron.IO;
using Voron.Paging;
using Voron.Primitives;
using Voron.Testing;
using Voron.Trees.Pages;

namespace Voron.Trees.KeyHeads;

/// <summary>
/// A table of key heads of data-file pages, shared by all readers, with the children or the offsets of records. A search of a leaf then waits for
/// memory only twice, for the heads and for the record, instead of once for each compared key.
/// </summary>
/// <remarks>
/// <para>
/// An entry represents the content of a page in the data file. Only transactions that find no version of the page use it: see
/// <see cref="PageReader.DataFilePage"/>. The data-file page does not change while they are registered, because a flush never advances past the
/// oldest snapshot, and up to that snapshot the page has no version to flush. Code that removes a flushed version from the version table calls
/// <see cref="Invalidate(PageNumber)"/> first: until the removal, no transaction looks up the page here.
/// </para>
/// <para>
/// A leaf has one place, a branch has two, and other pages share them. An entry is written under its sequence number, which is odd during the write.
/// A search that finds the sequence changed may have read a mix of two entries, though never outside the table, and falls back to the page. Entries
/// are built from verified pages only, so a search that hits does not read the page's header. If a search finds no entry, its caller reads the page
/// and adds the entry.
/// </para>
/// </remarks>
internal sealed unsafe class DataFileKeyHeads : IDisposable
{
    /// <summary>The number of places that can hold a branch's entry. With so few branches, a collision between two would be noticeable.</summary>
    private const int Ways = 2;

    private const int SmallPagesBytes = 2 << 20;
    private const int LeafBytes = 256;
    private const int LeafLines = LeafBytes / CacheLines.LineBytes;
    private const int BranchLinesAhead = 4;

    /// <summary>
    /// Branches receive one part in this many of the memory: each branch has some fifty leaves, with entries a tenth of the size.
    /// </summary>
    private const int BranchShare = 5;

    // When two pages compete for a place, only one miss in this many replaces the entry. Otherwise, a store much larger than the table would
    // constantly build entries.
    private const int ReplaceOneIn = 8;

    /// <summary>The memory in use is counted in units of this size.</summary>
    private const long CountedBytes = 256 << 10;

    private readonly AddressSpace _space;
    private readonly MemoryAccount? _account;
    private readonly byte* _leaves;
    private readonly byte* _branches;
    private readonly long _leafMask;
    private readonly long _setMask;
    private readonly int _maxBranchEntries;
    private readonly int _branchBytes;
    private readonly int _childrenOffset;
    private long _usedBytes;

    /// <param name="pageSize">The size of a page in bytes.</param>
    /// <param name="memoryBytes">The maximum memory to use, in bytes. It is touched only as entries are built.</param>
    /// <param name="account">Counts the memory in use; null for none.</param>
    /// <param name="addresses">The reservation to share; null for a separate one.</param>
    public DataFileKeyHeads(int pageSize, long memoryBytes, MemoryAccount? account = null, AddressReservation? addresses = null)
    {
        _account = account;
        _maxBranchEntries = KeyHeadsEntry.MaxBranchEntries(pageSize);
        _branchBytes = KeyHeadsEntry.BranchBytes(pageSize);
        _childrenOffset = KeyHeadsEntry.KeyHeadsBytes(_maxBranchEntries);
        var (leafCount, sets) = Counts(memoryBytes, _branchBytes);
        _leafMask = leafCount - 1;
        _setMask = sets - 1;
        _space = AddressSpace.Reserve(AddressBytes(pageSize, memoryBytes), addresses);
        try
        {
            _space.EnsureCommitted(_space.Length);
        }
        catch
        {
            _space.Dispose();
            throw;
        }

        _leaves = _space.Address;
        _branches = _leaves + leafCount * LeafBytes;

        // The beginning keeps small pages: a small store touches nothing else.
        if (_space.Length > 2 * SmallPagesBytes)
            MemoryAdvice.PreferLargePages(_leaves + SmallPagesBytes, _space.Length - SmallPagesBytes);
    }

    /// <summary>The total size in bytes of the places used so far.</summary>
    public long UsedBytes => Volatile.Read(ref _usedBytes);

    /// <summary>Returns the number of bytes of address space required by a table.</summary>
    public static nuint AddressBytes(int pageSize, long memoryBytes)
    {
        var branchBytes = KeyHeadsEntry.BranchBytes(pageSize);
        var (leafCount, sets) = Counts(memoryBytes, branchBytes);
        return (nuint)(leafCount * LeafBytes + sets * Ways * branchBytes);
    }

    /// <summary>Drops the entry of a page whose content in the data file has changed.</summary>
    public void Invalidate(PageNumber page)
    {
        Invalidate(Leaf(page), page);
        Invalidate(Branch(page, 0), page);
        Invalidate(Branch(page, 1), page);
    }

    /// <summary>Finds the child of a branch whose range contains the key. Returns false if the entry is missing or was rewritten meanwhile.</summary>
    /// <param name="page">The branch.</param>
    /// <param name="filePage">The branch's address, as returned by <see cref="PageReader.DataFilePage"/>.</param>
    /// <param name="key">The key.</param>
    /// <param name="child">Receives the child.</param>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryChild(PageNumber page, byte* filePage, in SearchKey key, out PageNumber child)
    {
        if (TrySearch(page, filePage, key, out var place))
            return TryChild(place, out child);
        child = default;
        return false;
    }

    /// <summary>
    /// The first half of <see cref="TryChild(PageNumber, byte*, in SearchKey, out PageNumber)"/>: prefetches the child's number without
    /// waiting for it.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TrySearch(PageNumber page, byte* filePage, in SearchKey key, out ChildPlace place)
    {
        var entry = Branch(page, 0);
        if (entry->Page != page.Value)
            entry = Branch(page, 1);
        var sequence = Volatile.Read(ref entry->Sequence);
        if (entry->Page != page.Value || (sequence & 1) != 0)
        {
            place = default;
            return false;
        }

        entry->Search(key, out var child, out var notGreater);
        if (child != notGreater && !TrySearchPage(entry, sequence, filePage, key, notGreater, ref child))
        {
            place = default;
            return false;
        }

        place = new ChildPlace(entry, sequence, Children(entry) + child);
        CacheLines.Prefetch(place.Child);
        return true;
    }

    /// <summary>The second half. Returns false if the entry was rewritten meanwhile.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static bool TryChild(in ChildPlace place, out PageNumber child)
    {
        SchedulePoint.Reach(SchedulePlace.KeyHeadsRead);
        child = new PageNumber(*place.Child);
        Volatile.ReadBarrier();
        return place.Entry->Sequence == place.Sequence || PlantedFault.TrustChangedKeyHeads;
    }

    /// <summary>
    /// Finds the records of a leaf that can have a key, without reading the leaf. Returns false if the entry is missing or was rewritten meanwhile.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryPlace(PageNumber page, byte* filePage, in SearchKey key, out LeafPlace place)
    {
        var entry = Leaf(page);
        var sequence = Volatile.Read(ref entry->Sequence);
        if (entry->Page != page.Value || (sequence & 1) != 0)
        {
            place = default;
            return false;
        }

        place = default;
        if (entry->Search(key, out var less, out var notGreater))
        {
            SchedulePoint.Reach(SchedulePlace.KeyHeadsRead);

            // A head covers the records up to the next head's record; the last head may cover fewer.
            var step = entry->Step;
            place.Low = less == 0 ? 0 : (less - 1) * step + 1;
            place.High = notGreater * step - 1;
            place.Record = less < notGreater ? filePage + Offsets(entry)[less] : null;
        }
        else
        {
            place.High = -1;
        }

        Volatile.ReadBarrier();
        return entry->Sequence == sequence || PlantedFault.TrustChangedKeyHeads;
    }

    /// <summary>Builds an entry for a branch that the transaction sees in the data file, unless another page keeps its place.</summary>
    /// <param name="page">The branch.</param>
    /// <param name="branch">The branch's verified content.</param>
    /// <param name="misses">The number of times that the transaction has found a place occupied by another page.</param>
    /// <exception cref="CorruptionException">The branch claims more children than fit into a page, or none.</exception>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public void AddBranch(PageNumber page, byte* branch, ref uint misses)
    {
        var separators = SlottedPage.Count(branch) - 1;
        var entry = Branch(page, 0);
        if (entry->Page != 0 && (Branch(page, 1)->Page == 0 || (misses & ReplaceOneIn) != 0))
            entry = Branch(page, 1);
        if ((uint)separators >= (uint)_maxBranchEntries)
            PageErrors.ThrowChildren(page, separators + 1);
        if (!TryBegin(entry, _branchBytes, ref misses, out var sequence))
            return;
        try
        {
            entry->Page = 0;
            SchedulePoint.Reach(SchedulePlace.KeyHeadsMaking);
            entry->FillBranch(branch, separators, Children(entry));
            entry->Page = page.Value;
        }
        finally
        {
            End(entry, sequence);
        }
    }

    /// <summary>Like <see cref="AddBranch"/>, for a leaf.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public void AddLeaf(PageNumber page, byte* leaf, ref uint misses)
    {
        var entry = Leaf(page);
        if (!TryBegin(entry, LeafBytes, ref misses, out var sequence))
            return;
        try
        {
            entry->Page = 0;
            SchedulePoint.Reach(SchedulePlace.KeyHeadsMaking);
            entry->FillLeaf(leaf, Offsets(entry));
            entry->Page = page.Value;
        }
        finally
        {
            End(entry, sequence);
        }
    }

    /// <summary>Prefetches the memory that a search of a branch reads first.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void PrefetchBranch(PageNumber page) => CacheLines.PrefetchRange((byte*)Branch(page, 0), BranchLinesAhead * CacheLines.LineBytes);

    /// <summary>Prefetches the memory that a search of a leaf reads.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void PrefetchLeaf(PageNumber page) => CacheLines.PrefetchRange((byte*)Leaf(page), LeafLines * CacheLines.LineBytes);

    public void Dispose()
    {
        _account?.Add(-(UsedBytes / CountedBytes * CountedBytes));
        _space.Dispose();
    }

    // Indices from a mix of two entries must not be looked up in a page.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static bool TrySearchPage(KeyHeadsEntry* entry, uint sequence, byte* filePage, in SearchKey key, int notGreater, ref int child)
    {
        Volatile.ReadBarrier();
        if (entry->Sequence != sequence)
            return false;
        child = BranchPage.SearchBetween(filePage, key, child, notGreater);
        return true;
    }

    private bool TryBegin(KeyHeadsEntry* entry, int bytes, ref uint misses, out uint sequence)
    {
        sequence = Volatile.Read(ref entry->Sequence);
        if ((sequence & 1) != 0 || (entry->Page != 0 && misses++ % ReplaceOneIn != 0))
            return false;
        if (Interlocked.CompareExchange(ref entry->Sequence, sequence + 1, sequence) != sequence)
            return false;
        if (sequence == 0)
            Count(bytes);
        return true;
    }

    private static (long Leaves, long Sets) Counts(long memoryBytes, int branchBytes) => (
        (long)BitOperations.RoundUpToPowerOf2((ulong)(memoryBytes / BranchShare * (BranchShare - 1) / LeafBytes / 2 + 1)),
        (long)BitOperations.RoundUpToPowerOf2((ulong)(memoryBytes / BranchShare / (Ways * branchBytes) / 2 + 1)));

    private void Count(int bytes)
    {
        var used = Interlocked.Add(ref _usedBytes, bytes);
        var pieces = used / CountedBytes - (used - bytes) / CountedBytes;
        if (pieces > 0)
            _account?.Add(pieces * CountedBytes);
    }

    // Ends the write of an entry, which began at an even sequence and has been exclusive to this thread since then.
    private static void End(KeyHeadsEntry* entry, uint sequence)
    {
        Debug.Assert((sequence & 1) == 0 && Volatile.Read(ref entry->Sequence) == sequence + 1, "Only the thread writing an entry may finish it.");
        Volatile.Write(ref entry->Sequence, sequence + 2);
    }

    private static void Invalidate(KeyHeadsEntry* entry, PageNumber page)
    {
        // No thread can be building an entry of this page now. If another page's entry is being built here, wait for it.
        var spin = default(SpinWait);
        while (entry->Page == page.Value)
        {
            var sequence = Volatile.Read(ref entry->Sequence);
            if ((sequence & 1) == 0 && Interlocked.CompareExchange(ref entry->Sequence, sequence + 1, sequence) == sequence)
            {
                if (entry->Page == page.Value)
                    entry->Page = 0;
                End(entry, sequence);
                return;
            }

            SchedulePoint.Spin();
            spin.SpinOnce();
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private KeyHeadsEntry* Leaf(PageNumber page) => (KeyHeadsEntry*)(_leaves + (page.Value & _leafMask) * LeafBytes);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private KeyHeadsEntry* Branch(PageNumber page, int way) =>
        (KeyHeadsEntry*)(_branches + ((page.Value & _setMask) * Ways + way) * _branchBytes);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private long* Children(KeyHeadsEntry* entry) => (long*)((byte*)entry + _childrenOffset);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static ushort* Offsets(KeyHeadsEntry* entry) =>
        (ushort*)((byte*)entry + KeyHeadsEntry.HeaderSize + KeyHeadsEntry.KeyHeadsAtOnce * sizeof(uint));
}
