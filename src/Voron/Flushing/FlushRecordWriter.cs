using Voron.Format;
using Voron.IO;
using Voron.Journal;
using Voron.Testing;
using Voron.Transactions;

namespace Voron.Flushing;

/// <summary>
/// Records durably in the journal which pages a flush is about to overwrite: as checksums, or as full-page images where these are requested and
/// needed.
/// </summary>
internal sealed unsafe class FlushRecordWriter
{
    private readonly ReadingEngine _engine;
    private readonly JournalWriter _journal;
    private readonly bool _writesImages;
    private readonly List<(long Sequence, long Bytes)> _records = [];

    public FlushRecordWriter(ReadingEngine engine, JournalWriter journal)
    {
        _engine = engine;
        _journal = journal;
        _writesImages = engine.Options.TornPageProtection == TornPageProtection.FullPageImages;
    }

    /// <summary>Bytes of journal that the records of the last plan occupy.</summary>
    public long Bytes { get; private set; }

    /// <summary>Returns the bytes of the last plan's records that come after a given record. Commits and flush records interleave.</summary>
    public long BytesAfter(long sequence)
    {
        var bytes = 0L;
        foreach (var record in _records)
            bytes += record.Sequence > sequence ? record.Bytes : 0;
        return bytes;
    }

    /// <summary>The number of the flush that the last record belongs to.</summary>
    public long Number { get; private set; }

    /// <summary>Writes the records of a plan, and returns when they are durable.</summary>
    /// <param name="plan">The plan; its pages have their checksums.</param>
    /// <param name="snapshotId">The transaction of the journal snapshot, which contains all pages up to there in full; or 0.</param>
    /// <exception cref="StorageFullException">The journal has no space; the caller must not overwrite anything.</exception>
    public void Write(FlushPlan plan, long snapshotId)
    {
        Bytes = 0;
        _records.Clear();
        var images = _writesImages && plan.Target.State.TransactionId > snapshotId
            ? plan.PagesNeedingBase - (PlantedFault.LeaveImageOut && plan.PagesNeedingBase > 0 ? 1 : 0)
            : 0;
        if (images > 0)
            WriteImages(plan, images);
        if (_writesImages && plan.Items.Count > 0 && plan.Items[0].Page != 0)
            WriteImageOfPageZero(plan);
        if (plan.Items.Count > images)
            WriteList(plan, images);
    }

    // Submits one record after the other, so that only a few buffers are filled.
    private void WriteImages(FlushPlan plan, int images)
    {
        var perRecord = FlushImageRecords.PagesPerRecord(_engine.PageSize);
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
                    record.AddPage(plan.Items[item].Page, plan.Items[item].Frame, null, _engine.PageSize, ulong.MaxValue);
                    left--;
                }
            });
        }
    }

    // The flush writes the stamp into the page's sector, which may hold anything after a power cut. If the page is already damaged, the
    // image would hide that.
    private void WriteImageOfPageZero(FlushPlan plan)
    {
        if (_engine.DataFile.TryVerify(0, out _) != null)
            return;
        var page = (byte*)EngineMemory.Allocate((nuint)_engine.PageSize);
        try
        {
            _engine.DataFile.File.Read(0, new Span<byte>(page, _engine.PageSize));
            Submit(plan, RecordKind.FlushImages, (ref RecordBuilder record) => record.AddPage(0, page, null, _engine.PageSize, ulong.MaxValue));
        }
        catch (DiskException e)
        {
            throw new StorageAccessException($"Page 0 of '{_engine.DataFile.File.Path}' cannot be read, so nothing is flushed: {e.Message}", e);
        }
        finally
        {
            EngineMemory.Free(PlantedFault.KeepBlock ? null : page);
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

        // Nothing must fail after the submission: the buffer then belongs to the journal, and would be returned while it is in the queue.
        _records.EnsureCapacity(_records.Count + 1);
        var buffer = _journal.Rent();
        RecordBuffer? compressed = null;
        long sequence;
        try
        {
            if (kind == RecordKind.FlushImages && _engine.Options.JournalCompression != JournalCompression.Never)
                compressed = _journal.Rent();
            var record = new RecordBuilder(buffer, kind, JournalFormat.Version1);
            fill(ref record);
            if (record.Finish(plan.Target.State, compressed) == compressed)
                (buffer, compressed) = (compressed, buffer);
            buffer.Header->FlushNumber = (ushort)plan.Number;
            var bytes = buffer.Length;
            sequence = _journal.Submit(buffer, reserve: null);
            Number = plan.Number;
            Bytes += bytes;
            _records.Add((sequence, bytes));
        }
        catch
        {
            _journal.Return(buffer);
            throw;
        }
        finally
        {
            if (compressed != null)
                _journal.Return(compressed);
        }

        _journal.WaitUntilDurable(sequence);
        if (PlantedFault.WriteToPooled)
            buffer.Header->FlushNumber = 0;
    }

    private delegate void Fill(ref RecordBuilder record);
}
