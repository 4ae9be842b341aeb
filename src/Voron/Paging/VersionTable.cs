using System.Diagnostics;
using System.Runtime.CompilerServices;
using Voron.IO;
using Voron.Primitives;

namespace Voron.Paging;

/// <summary>
/// Finds the version of a page that a snapshot sees: for each page number a chain of nodes, newest first. What has no
/// version here is in the data file.
/// </summary>
/// <remarks>
/// Invariants:
/// 1. Only the holder of the writer changes heads, links and nodes. <see cref="Find"/> may be called by anybody, at any time.
/// 2. A link is a node's index in its low half and the node's generation in its high half; 0 is no link.
/// 3. Giving a node back raises its generation before anything else in it changes, and a new head is stored after all of its
///    node: so a walker that reads a node's fields and *then* finds the link's generation has read one version's fields.
/// 4. Transaction ids along a chain fall, or stay for versions of one transaction at different savepoint levels.
/// </remarks>
internal sealed unsafe class VersionTable : IDisposable
{
    /// <summary>Pages that share a counter of chains, so that empty stretches are skipped quickly.</summary>
    public const int PagesPerStretch = 512;

    private readonly long _maxNodes;
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

    /// <param name="maxPageCount">The most pages the environment can have while it is open; address space is reserved for their heads.</param>
    public VersionTable(long maxPageCount)
    {
        _maxNodes = AddressPlan.Nodes(maxPageCount);
        maxPageCount = RoundUp(maxPageCount);
        _chainSpace = AddressSpace.Reserve((nuint)(maxPageCount * sizeof(ulong)));
        try
        {
            _stretchSpace = AddressSpace.Reserve((nuint)((maxPageCount / PagesPerStretch + 1) * sizeof(int)));
            _nodeSpace = AddressSpace.Reserve(unchecked((nuint)(_maxNodes * VersionNode.Size)));
        }
        catch
        {
            _stretchSpace?.Dispose();
            _chainSpace.Dispose();
            throw;
        }

        _chains = (ulong*)_chainSpace.Address;
        _chainsInStretch = (int*)_stretchSpace.Address;
        _nodes = (VersionNode*)_nodeSpace.Address;
    }

    /// <summary>How many pages have room for a head. Looking up a page at or beyond it is a mistake.</summary>
    public long PageCapacity { get; private set; }

    /// <summary>Nodes in use.</summary>
    public long NodeCount { get; private set; }

    /// <summary>How many pages have at least one version.</summary>
    public long ChainCount { get; private set; }

    /// <summary>
    /// How many pages a flush may have to write, at most: those that are free, and the inside of runs, have a chain and no frame.
    /// </summary>
    public long MaxPagesToFlush => Math.Min(ChainCount, _frameCount);

    /// <summary>
    /// How many pages have a newest version that can be made again only from what the data file holds: no record since the last
    /// flush makes them without a base.
    /// </summary>
    public long PagesNeedingBase => DetachIsIncomplete ? ChainCount : _pagesNeedingBase;

    /// <summary>Versions that have been flushed are still in their chains, so that it is not known how many pages need their base.</summary>
    public bool DetachIsIncomplete => Volatile.Read(ref _detachesEnded) != Volatile.Read(ref _detachesBegun);

    private long _detachesBegun;
    private long _detachesEnded;

    /// <summary>The number of the last detaching that was begun.</summary>
    public long LastDetach => Volatile.Read(ref _detachesBegun);

    /// <summary>To be called, by one flush at a time, before its checkpoint is durable.</summary>
    /// <returns>A number for <see cref="EndDetach"/>.</returns>
    public long BeginDetach()
    {
        var number = _detachesBegun + 1;
        Volatile.Write(ref _detachesBegun, number);
        return number;
    }

    /// <summary>Everything is detached that the flush of that number found, which includes what those before it have left.</summary>
    public void EndDetach(long number)
    {
        var ended = Volatile.Read(ref _detachesEnded);
        while (ended < number)
        {
            var seen = Interlocked.CompareExchange(ref _detachesEnded, number, ended);
            if (seen == ended)
                return;
            ended = seen;
        }
    }

    /// <summary>Makes room for the heads of the first <paramref name="pageCount"/> pages.</summary>
    public void EnsureCapacity(long pageCount)
    {
        if (pageCount <= PageCapacity)
            return;

        var capacity = RoundUp(pageCount);
        _chainSpace.EnsureCommitted((nuint)(capacity * sizeof(ulong)));
        _stretchSpace.EnsureCommitted((nuint)((capacity / PagesPerStretch + 1) * sizeof(int)));
        PageCapacity = capacity;
    }

    /// <summary>
    /// The newest version whose transaction is at most <paramref name="snapshot"/>. False when there is none: then the data
    /// file has the page.
    /// </summary>
    /// <remarks>
    /// What is found is a copy of the node's fields, because the node itself may be detached at any time; the frame stays for
    /// as long as the caller is registered with that snapshot.
    /// </remarks>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool Find(long page, long snapshot, out PageVersion version)
    {
        Debug.Assert(page >= 0 && page < PageCapacity);
        if (Volatile.Read(ref _chains[page]) != 0)
            return Walk(page, snapshot, out version);
        version = default;
        return false;
    }

    /// <summary>The head of a page's chain, or null. For the holder of the writer.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public VersionNode* Newest(long page)
    {
        Debug.Assert(page >= 0 && page < PageCapacity);
        var link = _chains[page];
        return link == 0 ? null : _nodes + (uint)link;
    }

    /// <summary>The node that a link of a chain leads to, or null. For the holder of the writer.</summary>
    public VersionNode* Follow(ulong link) => link == 0 ? null : _nodes + (uint)link;

    /// <summary>Asks for the head of a page's chain.</summary>
    public void PrefetchChain(long page)
    {
        if ((ulong)page < (ulong)PageCapacity)
            CacheLines.Prefetch(_chains + page);
    }

    /// <summary>Asks for the newest node of a page's chain, whose head has come.</summary>
    public void PrefetchNewest(long page)
    {
        if ((ulong)page < (ulong)PageCapacity)
            CacheLines.Prefetch(_nodes + (uint)_chains[page]);
    }

    /// <summary>True when the page has any version. Exact for the holder of the writer.</summary>
    public bool HasVersion(long page) => _chains[page] != 0;

    /// <summary>How many pages of a stretch have a chain. A hint to others than the holder of the writer.</summary>
    public int ChainsInStretch(long stretch) => Volatile.Read(ref _chainsInStretch[stretch]);

    /// <summary>Makes a version the newest of its page.</summary>
    public VersionNode* Push(long page, long transactionId, int level, byte* frame, int pages, VersionFlags flags, ulong dirtyLines)
    {
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
        node->DirtyLines = dirtyLines;
        node->Page = page;
        node->SelfContainedSinceId = (flags & VersionFlags.SelfContained) != 0 ? transactionId : older != 0 ? Follow(older)->SelfContainedSinceId : 0;
        if (older == 0)
            CountChain(page, 1);
        else
            _pagesNeedingBase -= CountNeedingBase(Follow(older));
        _pagesNeedingBase += CountNeedingBase(node);
        Volatile.Write(ref _chains[page], ((ulong)node->Generation << 32) | index);
        return node;
    }

    /// <summary>Gives a version of the open transaction another content. The frame it had is the caller's.</summary>
    public void Refill(VersionNode* node, byte* frame, int pages, VersionFlags flags)
    {
        _frameCount += (frame != null ? 1 : 0) - (node->Frame != null ? 1 : 0);
        node->Frame = frame;
        node->Pages = pages;
        node->Flags = flags;
    }

    /// <summary>Says of a page's newest version that the record of a transaction makes the page without a base.</summary>
    public void SetSelfContained(VersionNode* node, long transactionId)
    {
        Debug.Assert(Newest(node->Page) == node);
        _pagesNeedingBase -= CountNeedingBase(node);
        node->SelfContainedSinceId = transactionId;
        _pagesNeedingBase += CountNeedingBase(node);
    }

    /// <summary>Takes the newest version off its page and gives the node back. The frame is the caller's.</summary>
    public void Pop(VersionNode* node)
    {
        Debug.Assert(Newest(node->Page) == node);
        Volatile.Write(ref _chains[node->Page], node->Older);
        _pagesNeedingBase -= CountNeedingBase(node);
        if (node->Older == 0)
            CountChain(node->Page, -1);
        else
            _pagesNeedingBase += CountNeedingBase(Follow(node->Older));
        Free(node);
    }

    /// <summary>
    /// Has the version below the newest one take its place: both are of one transaction, and the older one is not needed any
    /// more. The frame that this had is the caller's.
    /// </summary>
    /// <remarks>A walker may find fields of both. It takes neither, since the transaction is newer than every snapshot.</remarks>
    public void JoinWithOlder(VersionNode* node)
    {
        var older = Follow(node->Older);
        Debug.Assert(older->TransactionId == node->TransactionId);
        Refill(older, node->Frame, node->Pages, node->Flags);
        older->DirtyLines = node->DirtyLines;
        var selfContainedSinceId = node->SelfContainedSinceId;
        Pop(node);
        SetSelfContained(older, selfContainedSinceId);
    }

    /// <summary>
    /// Takes a version that is not the newest out of its chain and gives the node back. The frame is the caller's.
    /// </summary>
    public void Unlink(VersionNode* newer, VersionNode* node)
    {
        Debug.Assert(Follow(newer->Older) == node);
        Volatile.Write(ref newer->Older, node->Older);
        Free(node);
    }

    /// <summary>
    /// Cuts a chain behind <paramref name="newer"/>, or wholly when that is null. The nodes stay readable by
    /// <see cref="Follow"/> until each is given to <see cref="Free"/>.
    /// </summary>
    /// <returns>The link of the first node that was cut off.</returns>
    public ulong TruncateChain(long page, VersionNode* newer)
    {
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

    /// <summary>Gives a node back that no chain leads to any more.</summary>
    public void Free(VersionNode* node)
    {
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

    /// <summary>Makes sure that so many versions can be pushed without asking for memory.</summary>
    /// <exception cref="StorageFullException">There are too many versions.</exception>
    /// <exception cref="InsufficientMemoryException">There is no memory.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void EnsureNodes(int count)
    {
        if (_nextNode + count > _nodeCapacity)
            GrowNodes(count);
    }

    private uint TakeNode()
    {
        var index = _freeNode;
        if (index != 0)
        {
            EngineMemory.Revive(&_nodes[index].Flags, VersionNode.PooledBytes);
            _freeNode = _nodes[index].NextFree;

            // The next one is wanted soon, and may not have been touched for a while.
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
        _nodeCapacity = capacity;
    }

    private void ThrowTooMany() => throw new StorageFullException(
        $"The environment holds {_maxNodes} versions of pages, the most that it has addresses for. The oldest open read transaction keeps them: " +
        $"dispose it, then try again. With {nameof(StorageOptions.CaptureTransactionStacks)} the log says where it was begun.");

    // Heads are made usable in steps, so that most calls find it done.
    private static long RoundUp(long pages) => (pages + 8191) & ~8191L;

    private static int CountNeedingBase(VersionNode* node) => node->SelfContainedSinceId == 0 ? 1 : 0;

    // What is left of a chain builds on what was cut off it, which is at home in the data file now.
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
