using System.Numerics;
using Voron.Format;
using Voron.IO;
using Voron.Journal;
using Voron.Paging;
using Voron.Testing;
using Voron.Trees.Pages;

namespace Voron.Transactions;

/// <summary>
/// Writes the pages filled by a large transaction directly to the data file, so that each byte is written once: the journal contains only the
/// pages' checksums, and the flush skips the pages.
/// </summary>
/// <remarks>
/// A page is written here if
/// 1. the transaction has allocated it, and it had no version then: it is free in the last checkpoint and in every snapshot, so that no reader
///    uses its bytes in the data file, no replay starts from them, and no flush under way writes them;
/// 2. it belongs to a tree and is nearly full: a page with space is likely to change again before the next flush, which would then write it twice;
/// 3. there are enough such pages. A small transaction is durable sooner with one write of the journal.
///
/// The pages are written before the record is submitted, and synced while it is written (<see cref="RecordFlags.ExtentsUnsynced"/>). Their
/// versions stay in scratch memory until a flush detaches them. If the record is never submitted, they are free pages with new bytes.
/// </remarks>
internal sealed unsafe class DirectPageWriter
{
    /// <summary>The maximum number of page numbers whose memory is kept for the next transaction.</summary>
    private const int MaxKeptPages = 16 << 10;

    private readonly ReadingEngine _engine;
    private readonly VersionTable _versions;
    private readonly int _pageShift;
    private readonly List<long> _pages = [];

    public DirectPageWriter(ReadingEngine engine)
    {
        _engine = engine;
        _versions = engine.Versions;
        _pageShift = BitOperations.Log2((uint)engine.PageSize);
    }

    /// <summary>The number of bytes that the last call of <see cref="Write"/> has written.</summary>
    public long Bytes => (long)_pages.Count << _pageShift;

    /// <summary>Writes the pages that qualify. They are durable after a sync.</summary>
    /// <exception cref="StorageFullException">There is not enough space for them.</exception>
    /// <exception cref="StorageAccessException">They could not be written.</exception>
    /// <exception cref="EnvironmentPoisonedException">An earlier write failed.</exception>
    public void Write(CopyOnWritePages transaction)
    {
        _engine.AssertWriterHeld();
        _pages.Clear();
        var least = _engine.Options.DirectPageBytes;
        if (transaction.ChangedBytes < least || _engine.Disk.IsVolatile || _engine.Options.JournalsFullPages)
            return;
        foreach (var change in transaction.FinalVersions())
        {
            var node = (VersionNode*)change.Node;
            if (Qualifies(node))
                _pages.Add(node->Page);
        }

        if (Bytes < least)
        {
            _pages.Clear();
            return;
        }

        _engine.Poison.ThrowIfPoisoned();
        _pages.Sort();
        try
        {
            WriteSorted();
        }
        catch (DiskException e)
        {
            _pages.Clear();
            throw DataFile.WriteFailure("new pages", e);
        }

        foreach (var page in _pages)
        {
            _versions.MarkInDataFile(_versions.Newest(page));
            _engine.DataFile.MarkVerified(page);
        }
    }

    /// <summary>Adds the pages that the last call of <see cref="Write"/> has written to the transaction's record.</summary>
    public void AddTo(ref RecordBuilder record)
    {
        for (var i = 0; i < _pages.Count;)
        {
            var end = EndOfExtent(i);
            foreach (ref var checksum in record.AddDirectPages(_pages[i], end - i))
                checksum = ((PageHeader*)_versions.Newest(_pages[i++])->Frame)->Checksum;
        }

        if (_pages.Capacity > MaxKeptPages && _pages.Count == 0)
            _pages.Capacity = 0;
    }

    private bool Qualifies(VersionNode* node)
    {
        const VersionFlags Wanted = VersionFlags.New | VersionFlags.Untouched;
        if ((node->Flags & Wanted) != (PlantedFault.WriteTouchedPages ? VersionFlags.New : Wanted) || node->Pages != 1)
            return false;
        if (((PageHeader*)node->Frame)->Kind is not (PageKind.Leaf or PageKind.Branch))
            return false;
        var capacity = SlottedPage.Capacity(_engine.PageSize);
        return SlottedPage.UsedBytes(node->Frame, _engine.PageSize) >= capacity - capacity / 8;
    }

    private void WriteSorted()
    {
        var gathering = new PageGathering(_engine.DataFile, stackalloc IoBlock[PageGathering.MaxBlocks]);
        foreach (var page in _pages)
        {
            var node = _versions.Newest(page);
            var frame = node->Frame;
            _engine.DataFile.SetChecksum(page, frame, _engine.PageSize, node->TransactionId);
            if (gathering.TryAdd(page, frame, 1))
                continue;
            gathering.Write();
            gathering.TryAdd(page, frame, 1);
        }

        gathering.Write();
    }

    // Returns the index after the run of adjacent pages that begins at an index.
    private int EndOfExtent(int index)
    {
        var end = index + 1;
        while (end < _pages.Count && _pages[end] == _pages[end - 1] + 1)
            end++;
        return end;
    }
}
