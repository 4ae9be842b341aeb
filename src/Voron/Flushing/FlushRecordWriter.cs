using Voron.Format;
using Voron.IO;
using Voron.Journal;
using Voron.Primitives;
using Voron.Transactions;

namespace Voron.Flushing;

/// <summary>Has the journal say durably what a flush is about to overwrite: checksums, or images where these are wished and needed.</summary>
internal sealed unsafe class FlushRecordWriter
{
    private readonly Engine _context;
    private readonly bool _writesImages;
    private readonly List<(long Sequence, long Bytes)> _records = [];

    public FlushRecordWriter(Engine context)
    {
        _context = context;
        _writesImages = context.Options.TornPageProtection == TornPageProtection.FullPageImages;
    }

    /// <summary>Bytes of journal that the records of the last plan took.</summary>
    public long Bytes { get; private set; }

    /// <summary>Bytes of those of these records that come after another record. Commits and their records take turns.</summary>
    public long BytesAfter(long sequence)
    {
        var bytes = 0L;
        foreach (var record in _records)
            bytes += record.Sequence > sequence ? record.Bytes : 0;
        return bytes;
    }

    /// <summary>The number of the flush that the last record is of.</summary>
    public long Number { get; private set; }

    /// <summary>Returns when it is durable.</summary>
    /// <param name="plan">Its pages have their checksums.</param>
    /// <param name="snapshotId">The transaction of the rewrite file, which has all pages up to there whole; or 0.</param>
    /// <exception cref="StorageFullException">No room in the journal; nothing may be overwritten.</exception>
    public void Write(FlushPlan plan, long snapshotId)
    {
        Bytes = 0;
        _records.Clear();
        var images = _writesImages && plan.Target.State.TransactionId > snapshotId ? plan.PagesNeedingBase : 0;
        if (PlantedFault.LeaveImageOut)
            images = Math.Max(0, images - 1);
        if (images > 0)
            WriteImages(plan, images);
        if (_writesImages && plan.Items.Count > 0 && plan.Items[0].Page != 0)
            WriteImageOfPageZero(plan);
        if (plan.Items.Count > images)
            WriteList(plan, images);
    }

    // One record after the other, so that no more than a few buffers are filled.
    private void WriteImages(FlushPlan plan, int images)
    {
        var perRecord = FlushImageRecords.PagesPerRecord(_context.PageSize);
        var item = 0;
        while (images > 0)
        {
            var first = item;
            var left = Math.Min(perRecord, images);
            images -= left;
            Submit(plan, RecordKind.FlushImages, (ref RecordBuilder record) =>
            {
                for (item = first; left > 0; item++)
                {
                    if (!plan.Items[item].NeedsBasePage)
                        continue;
                    record.AddPage(plan.Items[item].Page, plan.Items[item].Frame, null, _context.PageSize, ulong.MaxValue);
                    left--;
                }
            });
        }
    }

    // The stamp is written into its sector, which may be anything after a power cut. Where the page is damaged already, the image would
    // hide that.
    private void WriteImageOfPageZero(FlushPlan plan)
    {
        if (_context.DataFile.TryVerify(0, out _) != null)
            return;
        var page = (byte*)EngineMemory.Allocate((nuint)_context.PageSize);
        try
        {
            _context.DataFile.File.Read(0, new Span<byte>(page, _context.PageSize));
            Submit(plan, RecordKind.FlushImages, (ref RecordBuilder record) => record.AddPage(0, page, null, _context.PageSize, ulong.MaxValue));
        }
        catch (DiskException e)
        {
            throw new StorageAccessException($"Page 0 of '{_context.DataFile.File.Path}' cannot be read, and nothing is flushed: {e.Message}", e);
        }
        finally
        {
            if (!PlantedFault.KeepBlock)
                EngineMemory.Free(page);
        }
    }

    private void WriteList(FlushPlan plan, int images) => Submit(plan, RecordKind.FlushList, (ref RecordBuilder record) =>
    {
        foreach (var item in plan.Items.AsSpan())
        {
            if (!item.NeedsBasePage || --images < 0)
                record.AddListed(item.Page, ((PageHeader*)item.Frame)->Checksum, (uint)item.Pages);
        }
    });

    private void Submit(FlushPlan plan, RecordKind kind, Fill fill)
    {
        var journal = _context.Journal!;

        // Behind the submission nothing may fail: the entry is the journal's then, and would be given back while it is in the queue.
        _records.EnsureCapacity(_records.Count + 1);
        var entry = journal.Rent();
        JournalEntry? compressed = null;
        long sequence;
        try
        {
            if (kind == RecordKind.FlushImages && _context.Options.JournalCompression != JournalCompression.Never)
                compressed = journal.Rent();
            var record = new RecordBuilder(entry, kind);
            fill(ref record);
            if (record.Finish(plan.Target.State, compressed) == compressed)
                (entry, compressed) = (compressed, entry);
            entry.Header->FlushNumber = (ushort)plan.Number;
            var bytes = entry.Length;
            sequence = journal.Submit(entry, mayUseReserve: true);
            Number = plan.Number;
            Bytes += bytes;
            _records.Add((sequence, bytes));
        }
        catch
        {
            journal.Return(entry);
            throw;
        }
        finally
        {
            if (compressed != null)
                journal.Return(compressed);
        }

        journal.WaitUntilDurable(sequence);
        if (PlantedFault.WriteToPooled)
            entry.Header->FlushNumber = 0;
    }

    private delegate void Fill(ref RecordBuilder record);
}
