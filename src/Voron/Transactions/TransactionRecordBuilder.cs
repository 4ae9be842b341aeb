using System.Diagnostics;
using Voron.Format;
using Voron.Journal;
using Voron.Paging;
using Voron.Testing;

namespace Voron.Transactions;

/// <summary>Builds the journal record of the open write transaction.</summary>
internal sealed unsafe class TransactionRecordBuilder
{
    /// <summary>The maximum number of freed page numbers whose memory is kept for the next transaction.</summary>
    private const int MaxKeptPages = 16 << 10;

    private readonly ReadingEngine _engine;
    private readonly JournalWriter _journal;
    private readonly DirectPageWriter _directPages;
    private readonly List<long> _freed = [];

    /// <param name="engine">The environment.</param>
    /// <param name="directPages">Writes pages of the transaction before each call of <see cref="Build"/>.</param>
    public TransactionRecordBuilder(ReadingEngine engine, JournalWriter journal, DirectPageWriter directPages)
    {
        _engine = engine;
        _journal = journal;
        _directPages = directPages;
    }

    /// <summary>Collects all changes in a record. The buffer belongs to the caller, which submits it or returns it.</summary>
    public RecordBuffer Build(CopyOnWritePages writePages)
    {
        _engine.AssertWriterHeld();
        var buffer = _journal.Rent();
        RecordBuffer? compressed = null;
        try
        {
            var record = new RecordBuilder(buffer, RecordKind.Transaction, _engine.Format.Version);
            _freed.Clear();
            AddDirect(ref record, writePages, isLoaded: true);
            foreach (var change in writePages.FinalVersions())
                AddChange(ref record, writePages, (VersionNode*)change.Node);
            AddFreed(ref record);
            AddDirect(ref record, writePages, isLoaded: false);
            _directPages.AddTo(ref record);
            if (!ShouldCompress)
                return record.Finish(writePages.State, null);

            compressed = _journal.Rent();
            var finished = record.Finish(writePages.State, compressed);
            _journal.Return(finished == buffer ? compressed : buffer);
            return finished;
        }
        catch
        {
            if (compressed != null)
                _journal.Return(compressed);
            _journal.Return(buffer);
            throw;
        }
    }

    // Loaded pages come first: the transaction may have changed them since, and a replay must apply the changes to them. Values never change.
    private static void AddDirect(ref RecordBuilder record, CopyOnWritePages writePages, bool isLoaded)
    {
        foreach (var extent in writePages.DirectExtents)
        {
            if (!extent.IsFreed && extent.IsLoaded == isLoaded)
                record.AddDirect(extent.FirstPage, extent.Pages, extent.Value);
        }
    }

    private void AddChange(ref RecordBuilder record, CopyOnWritePages writePages, VersionNode* node)
    {
        if ((node->Flags & VersionFlags.Tombstone) != 0)
        {
            _freed.Add(node->Page);
        }
        else if ((node->Flags & VersionFlags.Extent) != 0)
        {
            record.AddExtent(node->Page, node->Frame, node->Pages, writePages.PageSize);
        }
        else if ((node->Flags & (VersionFlags.InsideExtent | VersionFlags.InDataFile)) == 0)
        {
            var isWhole = (node->Flags & VersionFlags.New) != 0 || _engine.Options.JournalsFullPages;
            var previous = isWhole ? null : PreviousBytes(writePages, node);
            Debug.Assert(previous == null || PageDiff.FindUnmarked(node->Frame, previous, writePages.PageSize, node->DirtyLines) < 0);
            record.AddPage(node->Page, node->Frame, previous, writePages.PageSize, node->DirtyLines);
        }
    }

    private byte* PreviousBytes(CopyOnWritePages writePages, VersionNode* node)
    {
        var previous = writePages.PreviousVersion(node);
        return previous == null ? _engine.DataFile.Address(node->Page) : previous->Frame;
    }

    private void AddFreed(ref RecordBuilder record)
    {
        _freed.Sort();
        for (var i = 0; i < _freed.Count && !PlantedFault.LeaveFreesOut;)
        {
            var first = i++;
            while (i < _freed.Count && _freed[i] == _freed[i - 1] + 1)
                i++;
            record.AddFree(_freed[first], (uint)(i - first));
        }

        _freed.Clear();
        if (_freed.Capacity > MaxKeptPages)
            _freed.Capacity = 0;
    }

    private bool ShouldCompress => _engine.Options.JournalCompression switch
    {
        JournalCompression.Always => true,
        JournalCompression.Never => false,
        _ => _journal.IsSlowerThanCodec,
    };
}
