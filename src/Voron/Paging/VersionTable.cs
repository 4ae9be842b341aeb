using System.Diagnostics;
using System.Runtime.CompilerServices;
using Voron.IO;
using Voron.Testing;

namespace Voron.Paging;

/// <summary>
/// Finds the version of a page that a snapshot sees. Each page number has a chain of nodes, newest first. A page without a
/// version here is in the data file.
/// </summary>
/// <remarks>
/// Invariants:
/// 1. Only the holder of the writer changes chain heads, links and nodes. Any thread may call <see cref="Find"/> at any time.
/// 2. A link holds a node's index in its low half and the node's generation in its high half; 0 is no link.
/// 3. Freeing a node raises its generation before anything else in it changes, and a new chain head is stored after the whole of its
///    node. A walker that reads a node's fields and *then* still finds the link's generation has therefore read the fields of
///    one version.
/// 4. Along a chain, transaction ids fall, or stay the same for versions of one transaction at different savepoints.
/// </remarks>
internal sealed unsafe class VersionTable : IDisposable
{
    /// <summary>The number of pages that share a counter of chains, so that empty stretches can be skipped quickly.</summary>
    public const int PagesPerStretch = 512;

    private readonly long _maxNodes;
    private readonly MemoryAccount? _account;
    private readonly AddressSpace _chainSpace;
    private readonly AddressSpace _nodeSpace;
    private readonly AddressSpace _stretchSpace;
    private readonly ulong* _chains;
    private readonly int* _chainsInStretch;
    private readonly VersionNode* _nodes;
    private uint _nextNode = 1;
    private uint _freeNode;
    private long _nodeCapacity;
    private long _pagesNeedingBase;
    private long _frameCount;

    /// <param name="maxPageCount">The maximum page count while the environment is open; address space is reserved for the chain heads.</param>
    /// <param name="account">Counts the memory of the nodes; null for none.</param>
    /// <param name="addresses">The reservation to use; null for separate ones.</param>
    public VersionTable(long maxPageCount, MemoryAccount? account = null, AddressReservation? addresses = null)
    {
        _account = account;
        _maxNodes = AddressPlan.Nodes(maxPageCount);
        maxPageCount = RoundUp(maxPageCount);
        _stretchSpace = AddressSpace.Reserve((nuint)((maxPageCount / PagesPerStretch + 1) * sizeof(int)), addresses);
        try
        {
            _chainSpace = AddressSpace.Reserve((nuint)(maxPageCount * sizeof(ulong)), addresses);
            _nodeSpace = AddressSpace.Reserve(unchecked((nuint)(_maxNodes * VersionNode.Size)), addresses);
        }
        catch
        {
            _chainSpace?.Dispose();
            _stretchSpace.Dispose();
            throw;
        }

        _chains = (ulong*)_chainSpace.Address;
        _chainsInStretch = (int*)_stretchSpace.Address;
        _nodes = (VersionNode*)_nodeSpace.Address;
    }

    /// <summary>Asserts that the caller holds the writer; null before there is a writer, and in tests of this class alone.</summary>
    public Action? AssertHeld { get; set; }

    /// <summary>The number of pages with space for a chain head. Looking up a page at or beyond it is an error.</summary>
    public long PageCapacity { get; private set; }

    /// <summary>The number of nodes in use.</summary>
    public long NodeCount { get; private set; }

    /// <summary>The number of pages with at least one version.</summary>
    public long ChainCount { get; private set; }

    /// <summary>
    /// The maximum number of pages that a flush may have to write: free pages and the inside of extents have a chain but no frame.
    /// </summary>
    public long MaxPagesToFlush => Math.Min(ChainCount, _frameCount);

    /// <summary>
    /// The number of pages whose newest version can be restored only from its base page in the data file: no record since the last flush
    /// makes it self-contained.
    /// </summary>
    public long PagesNeedingBase => DetachIsIncomplete ? ChainCount : _pagesNeedingBase;

    /// <summary>True while flushed versions are still in their chains, so the number of pages that need their base page is unknown.</summary>
    public bool DetachIsIncomplete => Volatile.Read(ref _detachesEnded) != Volatile.Read(ref _detachesBegun);

    private long _detachesBegun;
    private long _detachesEnded;

    /// <summary>The number of the last detach that was begun.</summary>
    public long LastDetach => Volatile.Read(ref _detachesBegun);

    /// <summary>Begins a detach. Must be called by one flush at a time, before its checkpoint is durable.</summary>
    /// <returns>The number to pass to <see cref="EndDetach"/>.</returns>
    public long BeginDetach()
    {
        var number = _detachesBegun + 1;
        Debug.Assert(Volatile.Read(ref _detachesEnded) < number, "A detach must begin before it ends.");
        Volatile.Write(ref _detachesBegun, number);
        return number;
    }

    /// <summary>
    /// Records that all versions found by the flush with this number are detached, including those that earlier flushes have left.
    /// </summary>
    public void EndDetach(long number)
    {
        Debug.Assert(number <= Volatile.Read(ref _detachesBegun), "A detach must begin before it ends.");
        var ended = Volatile.Read(ref _detachesEnded);
        while (ended < number)
        {
            var seen = Interlocked.CompareExchange(ref _detachesEnded, number, ended);
            if (seen == ended)
                return;
            ended = seen;
        }
    }

    /// <summary>Commits memory for the chain heads of the first <paramref name="pageCount"/> pages.</summary>
    public void EnsureCapacity(long pageCount)
    {
        AssertWriterHeld();
        if (pageCount <= PageCapacity)
            return;

        var capacity = RoundUp(pageCount);
        _chainSpace.EnsureCommitted((nuint)(capacity * sizeof(ulong)));
        _stretchSpace.EnsureCommitted((nuint)((capacity / PagesPerStretch + 1) * sizeof(int)));
        PageCapacity = capacity;
    }

    /// <summary>
    /// Finds the newest version whose transaction is at most <paramref name="snapshot"/>. Returns false when there is none: the page is
    /// then in the data file.
    /// </summary>
    /// <remarks>
    /// The result is a copy of the node's fields, because the node itself may be detached at any time. The frame stays for as long as the
    /// caller is registered with that snapshot.
    /// </remarks>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool Find(long page, long snapshot, out PageVersion version)
    {
        Debug.Assert(page >= 0 && page < PageCapacity, "A page that is looked up must have a place for its chain.");
        if (Volatile.Read(ref _chains[page]) != 0)
            return Walk(page, snapshot, out version);
        version = default;
        return false;
    }

    /// <summary>Returns the head of a page's chain, or null. Only for the holder of the writer.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public VersionNode* Newest(long page)
    {
        AssertWriterHeld();
        Debug.Assert(page >= 0 && page < PageCapacity, "A page that is looked up must have a place for its chain.");
        var link = _chains[page];
        return link == 0 ? null : _nodes + (uint)link;
    }

    /// <summary>Returns the node that a link of a chain refers to, or null. Only for the holder of the writer.</summary>
    public VersionNode* Follow(ulong link)
    {
        AssertWriterHeld();
        return link == 0 ? null : _nodes + (uint)link;
    }

    /// <summary>Prefetches the head of a page's chain.</summary>
    public void PrefetchChain(long page)
    {
        if ((ulong)page < (ulong)PageCapacity)
            CacheLines.Prefetch(_chains + page);
    }

    /// <summary>Prefetches the newest node of a page's chain, whose head has already been prefetched.</summary>
    public void PrefetchNewest(long page)
    {
        if ((ulong)page < (ulong)PageCapacity)
            CacheLines.Prefetch(_nodes + (uint)_chains[page]);
    }

    /// <summary>Returns true when the page has any version. Exact for the holder of the writer.</summary>
    public bool HasVersion(long page) => _chains[page] != 0;

    /// <summary>Returns the number of pages in a stretch that have a chain. Only a hint for threads that do not hold the writer.</summary>
    public int ChainsInStretch(long stretch) => Volatile.Read(ref _chainsInStretch[stretch]);

    /// <summary>Makes a version the newest one of its page. None of its lines is dirty.</summary>
    public VersionNode* Push(long page, long transactionId, int level, byte* frame, int pages, VersionFlags flags)
    {
        AssertWriterHeld();
        var index = TakeNode();
        var node = _nodes + index;
        var older = _chains[page];
        node->Flags = flags;
        node->Pages = pages;
        node->SavepointStamp = level;
        node->TransactionId = transactionId;
        node->Frame = frame;
        _frameCount += frame != null ? 1 : 0;
        node->Older = older;
        node->DirtyLines = 0;
        node->Page = page;
        AssertFollows(node, older);
        node->SelfContainedSinceId = (flags & VersionFlags.SelfContained) != 0 ? transactionId : older != 0 ? Follow(older)->SelfContainedSinceId : 0;
        if (older == 0)
            CountChain(page, 1);
        else
            _pagesNeedingBase -= CountNeedingBase(Follow(older));
        _pagesNeedingBase += CountNeedingBase(node);
        Volatile.Write(ref _chains[page], ((ulong)node->Generation << 32) | index);
        return node;
    }

    /// <summary>Replaces the content of a version of the open transaction. Its previous frame belongs to the caller.</summary>
    public void Refill(VersionNode* node, byte* frame, int pages, VersionFlags flags)
    {
        AssertWriterHeld();
        _frameCount += (frame != null ? 1 : 0) - (node->Frame != null ? 1 : 0);
        node->Frame = frame;
        node->Pages = pages;
        node->Flags = flags;
    }

    /// <summary>Marks a page's newest version as self-contained by the record of a transaction.</summary>
    public void SetSelfContained(VersionNode* node, long transactionId)
    {
        Debug.Assert(Newest(node->Page) == node, "Only the newest version of a page can be marked.");
        _pagesNeedingBase -= CountNeedingBase(node);
        node->SelfContainedSinceId = transactionId;
        _pagesNeedingBase += CountNeedingBase(node);
    }

    /// <summary>Marks a page's newest version as written to the data file by its transaction, whose record contains only its checksum.</summary>
    public void MarkInDataFile(VersionNode* node)
    {
        AssertWriterHeld();
        node->Flags |= VersionFlags.InDataFile;
        SetSelfContained(node, 0);
    }

    /// <summary>Removes the newest version from its page and frees the node. The frame belongs to the caller.</summary>
    public void Pop(VersionNode* node)
    {
        Debug.Assert(Newest(node->Page) == node, "Only the newest version of a page can be popped.");
        Volatile.Write(ref _chains[node->Page], node->Older);
        _pagesNeedingBase -= CountNeedingBase(node);
        if (node->Older == 0)
            CountChain(node->Page, -1);
        else
            _pagesNeedingBase += CountNeedingBase(Follow(node->Older));
        Free(node);
    }

    /// <summary>
    /// Moves the newest version into the node below it, whose version is no longer needed: both belong to one transaction. The frame that
    /// the older version had belongs to the caller.
    /// </summary>
    /// <remarks>A walker may find fields of both. It uses neither, because the transaction is newer than every snapshot.</remarks>
    public void JoinWithOlder(VersionNode* node)
    {
        var older = Follow(node->Older);
        Debug.Assert(older->TransactionId == node->TransactionId, "Two versions can be joined only if they belong to one transaction.");
        Refill(older, node->Frame, node->Pages, node->Flags);
        older->DirtyLines = node->DirtyLines;
        var selfContainedSinceId = node->SelfContainedSinceId;
        Pop(node);
        SetSelfContained(older, selfContainedSinceId);
    }

    /// <summary>
    /// Removes a version that is not the newest from its chain and frees the node. The frame belongs to the caller.
    /// </summary>
    public void Unlink(VersionNode* newer, VersionNode* node)
    {
        Debug.Assert(Follow(newer->Older) == node, "A version must be unlinked from the version above it.");
        Volatile.Write(ref newer->Older, node->Older);
        Free(node);
    }

    /// <summary>
    /// Cuts a chain after <paramref name="newer"/>, or entirely when that is null. The nodes remain readable through <see cref="Follow"/> until
    /// each is passed to <see cref="Free"/>.
    /// </summary>
    /// <returns>The link of the first node that was cut off.</returns>
    public ulong TruncateChain(long page, VersionNode* newer)
    {
        AssertWriterHeld();
        Debug.Assert(newer == null || newer->Page == page, "A chain must be cut behind a version of its own page.");
        ulong link;
        if (newer != null)
        {
            link = newer->Older;
            Volatile.Write(ref newer->Older, 0);
            if (link != 0)
                ClearSelfContained(page, Follow(link)->TransactionId);
            return link;
        }

        link = _chains[page];
        Volatile.Write(ref _chains[page], 0);
        if (link != 0)
        {
            _pagesNeedingBase -= CountNeedingBase(Follow(link));
            CountChain(page, -1);
        }

        return link;
    }

    /// <summary>Frees a node that no chain refers to any more.</summary>
    public void Free(VersionNode* node)
    {
        Debug.Assert(Newest(node->Page) != node, "A node must leave its chain before it is freed.");
        Volatile.Write(ref node->Generation, node->Generation + (PlantedFault.KeepGeneration ? 0u : 1u));
        Volatile.WriteBarrier();
        node->NextFree = _freeNode;
        _freeNode = (uint)(node - _nodes);
        NodeCount--;
        _frameCount -= node->Frame != null ? 1 : 0;
        EngineMemory.Retire(&node->Flags, VersionNode.PooledBytes);
    }

    public void Dispose()
    {
        _account?.Add(-_nodeCapacity * VersionNode.Size);
        _nodeCapacity = 0;
        _chainSpace.Dispose();
        _stretchSpace.Dispose();
        _nodeSpace.Dispose();
    }

    private bool Walk(long page, long snapshot, out PageVersion version)
    {
    Again:
        var link = Volatile.Read(ref _chains[page]);
        while (link != 0)
        {
            var node = _nodes + (uint)link;
            var id = node->TransactionId;
            version = new PageVersion(id, node->Frame, node->Pages, node->Flags, node->SelfContainedSinceId);
            var older = Volatile.Read(ref node->Older);
            SchedulePoint.Reach(SchedulePlace.VersionRead);
            Volatile.ReadBarrier();
            if (node->Generation != (uint)(link >> 32))
                goto Again;
            if (id <= snapshot + (PlantedFault.SeeNextVersion ? 1 : 0))
                return true;
            link = older;
        }

        version = default;
        return false;
    }

    /// <summary>Ensures that <paramref name="count"/> versions can be pushed without requesting memory.</summary>
    /// <exception cref="StorageFullException">There are too many versions.</exception>
    /// <exception cref="InsufficientMemoryException">There is not enough memory.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void EnsureNodes(int count)
    {
        AssertWriterHeld();
        if (_nextNode + count > _nodeCapacity)
            GrowNodes(count);
    }

    [Conditional("DEBUG")]
    private void AssertWriterHeld() => AssertHeld?.Invoke();

    [Conditional("DEBUG")]
    private void AssertFollows(VersionNode* node, ulong older)
    {
        if (older == 0 || PlantedFault.WrapTransactionIds)
            return;
        var below = Follow(older);
        Debug.Assert(below->Page == node->Page, "A chain must have the versions of one page.");
        Debug.Assert(
            below->TransactionId < node->TransactionId
            || (below->TransactionId == node->TransactionId && below->SavepointStamp <= node->SavepointStamp),
            "A version must be newer than the one below it: of a later transaction, or of the same one.");
    }

    private uint TakeNode()
    {
        var index = _freeNode;
        if (index != 0)
        {
            EngineMemory.Revive(&_nodes[index].Flags, VersionNode.PooledBytes);
            _freeNode = _nodes[index].NextFree;

            // The next node will be needed soon, and may not have been touched for a while.
            CacheLines.Prefetch(_nodes + _freeNode);
        }
        else
        {
            EnsureNodes(1);
            index = _nextNode++;
        }

        NodeCount++;
        return index;
    }

    private void GrowNodes(int count)
    {
        var free = _nextNode - 1 - NodeCount;
        var end = _nextNode + Math.Max(0, count - free);
        if (end <= _nodeCapacity)
            return;
        if (end > _maxNodes)
            ThrowTooMany();

        var capacity = Math.Min(_maxNodes, Math.Max(8192, Math.Max(_nodeCapacity * 2, end)));
        _nodeSpace.EnsureCommitted((nuint)(capacity * VersionNode.Size));
        _account?.Add((capacity - _nodeCapacity) * VersionNode.Size);
        _nodeCapacity = capacity;
    }

    private void ThrowTooMany() => throw new StorageFullException(
        $"The environment holds {_maxNodes} page versions, the maximum that it has addresses for. The oldest open read transaction keeps them: " +
        $"dispose it, then try again. With {nameof(StorageOptions.CaptureTransactionStacks)}, the log says where it was begun.");

    // Heads are made usable in steps, so that most calls find nothing left to do.
    private static long RoundUp(long pages) => (pages + 8191) & ~8191L;

    private static int CountNeedingBase(VersionNode* node) => node->SelfContainedSinceId == 0 ? 1 : 0;

    // The rest of the chain builds on the versions that were cut off, whose content is now in the data file.
    private void ClearSelfContained(long page, long transactionId)
    {
        _pagesNeedingBase -= CountNeedingBase(Newest(page));
        for (var node = Newest(page); node != null; node = Follow(node->Older))
        {
            if (node->SelfContainedSinceId <= transactionId)
                node->SelfContainedSinceId = 0;
        }

        _pagesNeedingBase += CountNeedingBase(Newest(page));
    }

    private void CountChain(long page, int change)
    {
        _chainsInStretch[page / PagesPerStretch] += change;
        ChainCount += change;
    }
}
