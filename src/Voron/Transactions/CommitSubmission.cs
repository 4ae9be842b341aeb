using System.Diagnostics;
using Voron.Format;
using Voron.Journal;
using Voron.Testing;

namespace Voron.Transactions;

/// <summary>Collects the open write transaction's changes in a record, and hands it to the journal. Used by the holder of the writer.</summary>
internal sealed unsafe class CommitSubmission
{
    /// <summary>The number of journal bytes kept free beyond the next flush list, for padding and durability markers.</summary>
    private const long SlackBytes = 16 << 10;

    private readonly Engine _engine;
    private readonly SingleWriter _writer;
    private readonly CommitTimes _times;
    private readonly DirectPageWriter _directPages;
    private readonly TransactionRecordBuilder _recordBuilder;

    public CommitSubmission(Engine engine, SingleWriter writer)
    {
        _engine = engine;
        _writer = writer;
        _times = new CommitTimes(engine.WriterClock, engine.Logger, engine.Disk.Path);
        _directPages = new DirectPageWriter(engine);
        _recordBuilder = new TransactionRecordBuilder(engine, engine.Journal!, _directPages);
    }

    /// <summary>Submits the changes. If this throws, nothing has been submitted, and the changes must be rolled back.</summary>
    /// <param name="write">The changes; only the time of the commit is missing from their state.</param>
    /// <param name="completion">Completed when the record is durable; null when a caller waits by the sequence.</param>
    /// <param name="isLazy"><inheritdoc cref="RecordBuffer.IsLazy" path="/summary/node()"/></param>
    /// <param name="began"><inheritdoc cref="RecordBuffer.BeganTimestamp" path="/summary/node()"/></param>
    /// <param name="progress">Receives the report of the commit.</param>
    /// <returns>The sequence of the record.</returns>
    /// <exception cref="StorageFullException">There is not enough space.</exception>
    /// <exception cref="EnvironmentPoisonedException">A write failed, now or earlier.</exception>
    public long Submit(WriteContext write, CommitCompletion? completion, bool isLazy, long began, ref CommitProgress progress)
    {
        _engine.AssertWriterHeld();
        Debug.Assert(
            write.Pages.State.TransactionId == _writer.Submitted.TransactionId + 1 || PlantedFault.WrapTransactionIds,
            "The id of a transaction must follow that of the last submitted one.");
        var journal = _engine.Journal!;
        var reserve = FlushReserve();
        if (!_engine.Format.IsVersion1)
            write.Pages.State.CommitTime = _times.Next(write.Pages.State.CommitTime);
        _directPages.Write(write.Pages);
        var record = _recordBuilder.Build(write.Pages);
        try
        {
            if (FinishValues(write) || _directPages.Bytes > 0)
                record.Header->Flags |= RecordFlags.ExtentsUnsynced;
            record.Completion = completion;
            record.BeganTimestamp = began;
            record.IsLazy = isLazy;
            record.Attached = write.Attached;
            progress.Report = new CommitReport(write.Pages.Id, (int)record.Header->EntryCount, record.Length);
            _writer.VersionReclaimer.EnsureRoom(write.Pages.VersionCount);
            NoteDirectWrites(write);
            _engine.Counters.DirectBytes += write.Pages.DirectBytes + _directPages.Bytes;
            return SubmitOrMakeRoom(record, reserve);
        }
        catch
        {
            _engine.ChangedPages!.WithdrawDirectWrites(write.Pages.State.TransactionId);
            journal.Return(record);
            throw;
        }
    }

    /// <summary>Notifies the reclaimer of the versions that the submitted transaction has superseded. Allocates nothing.</summary>
    public void NoteSuperseded(WriteContext write)
    {
        _engine.AssertWriterHeld();
        foreach (var change in write.Pages.FinalVersions())
        {
            var node = (Paging.VersionNode*)change.Node;
            if (node->Older != 0)
                _writer.VersionReclaimer.AddSuperseded(node->Page, node->TransactionId);
        }
    }

    /// <summary>In debug builds, asserts that the record just submitted follows all earlier ones.</summary>
    /// <remarks>The record may be durable already, and its state published. No later one can be: the writer is held.</remarks>
    [Conditional("DEBUG")]
    public void AssertOrder(WriteContext write, long sequence)
    {
        _engine.AssertWriterHeld();
        Debug.Assert(sequence > _writer.SubmittedSequence, "The sequence of a transaction's record must be above that of the last one.");
        Debug.Assert(write.Pages.State.TransactionId > _writer.Submitted.TransactionId, "The submitted state must be the newest so far.");

        // Both only rise, so the horizon is read first.
        var horizon = _engine.Readers.Horizon;
        var published = _engine.Ring.PublishedId;
        Debug.Assert(published <= write.Pages.State.TransactionId, "No state may be published before its transaction is submitted.");
        Debug.Assert(horizon <= published, "The horizon of readers must not be above the published snapshot.");
    }

    // The record stays valid across a flush: the base of its differences is then in the data file, unchanged.
    private long SubmitOrMakeRoom(RecordBuffer record, in JournalReserve reserve)
    {
        try
        {
            return _engine.Journal!.Submit(record, reserve);
        }
        catch (StorageFullException)
        {
            if (_engine.FlushServices is not { } flushServices)
                throw;

            // A flush frees journal files, which is usually enough.
            if (flushServices.TryFlush() && TrySubmitAgain(record, out var sequence))
                return sequence;
            if (!flushServices.TryPunch())
                throw;
        }

        return SubmitAgain(record);
    }

    private bool TrySubmitAgain(RecordBuffer record, out long sequence)
    {
        sequence = 0;
        try
        {
            sequence = SubmitAgain(record);
            return true;
        }
        catch (StorageFullException)
        {
            return false;
        }
    }

    // A flush has changed the reserve that the next one needs.
    private long SubmitAgain(RecordBuffer record) => _engine.Journal!.Submit(record, FlushReserve());

    private JournalReserve FlushReserve() => new(FlushListReserve(), FlushImagesReserve());

    // Space for the flush list of all pages that have a version now, and for a small transaction, so that a full disk can be emptied.
    private long FlushListReserve() =>
        JournalFormat.AlignUp(RecordHeader.Size + _engine.Versions.MaxPagesToFlush * FlushListEntry.Size) + SlackBytes;

    private long FlushImagesReserve() => _engine.Options.TornPageProtection == TornPageProtection.FullPageImages
        ? FlushImageRecords.MaxBytes(_engine.Versions.PagesNeedingBase, _engine.PageSize)
        : 0;

    // Called before the record that names the values is submitted: no write of this transaction may be in progress when the next one begins, and a
    // failed write must fail only this transaction. Returns true if the journal has to sync the data file before it acknowledges the record.
    private static bool FinishValues(WriteContext write)
    {
        if (HasUnsyncedValues(write))
        {
            write.LargeValues.Finish();
            return true;
        }

        // Values that were put and deleted again must not be written once their pages serve another purpose.
        write.Pages.LargeValueBuffer?.Discard();
        return false;
    }

    // Before the record is submitted: a flush may reach it immediately.
    private void NoteDirectWrites(WriteContext write)
    {
        foreach (var extent in write.Pages.DirectExtents)
        {
            if (!extent.IsFreed)
                _engine.ChangedPages!.NoteDirectWrite(write.Pages.State.TransactionId, extent.FirstPage, extent.Pages);
        }
    }

    // Staged values were synced when their upload ended.
    private static bool HasUnsyncedValues(WriteContext write)
    {
        foreach (var extent in write.Pages.DirectExtents)
        {
            if (!extent.IsFreed && !extent.IsDurable)
                return true;
        }

        return false;
    }
}
