using Voron.Format;
using Voron.Primitives;
using Voron.Testing;

namespace Voron.Journal;

/// <summary>The journal: records are written in order, with one write in progress at a time, or two on a slow device.</summary>
/// <remarks>
/// This type submits records and waits for them; <see cref="JournalLeader"/> writes them.
/// <code>
///   Submit: ensures room, assigns place and sequence ──▶ queue ──▶ the leader seals a batch of neighbouring records (durable
///   sequence, chain, checksum) and writes it ──▶ durable ──▶ listener, in order ──▶ waiters
/// </code>
/// A lazy record is sealed, published and acknowledged when it is submitted, unless a transaction before it is still being written. A failed write
/// poisons the environment: the records of its batch have an unknown outcome, and the records still in the queue are never
/// written.
/// <code>
///   open ── RefuseTransactions ──▶ the last flush only ── Dispose ──▶ closed: no thread leads, and none will
/// </code>
/// </remarks>
internal sealed unsafe class JournalWriter : IDisposable
{
    /// <summary>
    /// The length of the largest record that is published early: it is sealed under the lock of the queue, and waits in memory with others.
    /// </summary>
    private const int LargestLazyBytes = 256 << 10;

    // Guards the end of the submitted records; comes before the queue lock.
    private readonly EngineLock _submission = new(LockRank.Submission);
    private readonly JournalTail _tail;
    private readonly RecordQueue _queue;
    private readonly RecordBatchWriter _batches;
    private readonly JournalLeader _leader;
    private readonly PoisonState _poison;
    private readonly IJournalListener _listener;
    private bool _refusesTransactions;

    public JournalWriter(
        JournalFileSet files, PoisonState poison, IJournalListener listener, RandomId environmentId, in JournalStart start,
        in JournalResources resources)
    {
        _poison = poison;
        _listener = listener;
        _tail = new JournalTail(_submission, files, start);
        _queue = new RecordQueue(poison, start.Position.Sequence, resources.Memory);
        _batches = new RecordBatchWriter(environmentId, start.Position, resources.SlowWrite);
        _leader = new JournalLeader(_queue, _batches, poison, listener, resources);
    }

    /// <inheritdoc cref="JournalTail.Reserve"/>
    public JournalReserve Reserve => _tail.Reserve;

    /// <inheritdoc cref="RecordQueue.DurableSequence"/>
    public long DurableSequence => _queue.DurableSequence;

    /// <inheritdoc cref="RecordQueue.SubmittedSequence"/>
    public long SubmittedSequence => _queue.SubmittedSequence;

    /// <inheritdoc cref="RecordBatchWriter.IsSlowerThanCodec"/>
    public bool IsSlowerThanCodec => _batches.IsSlowerThanCodec;

    /// <summary>True if the device is so slow that a second write may begin while one is under way.</summary>
    public bool OverlapsWrites
    {
        get => _batches.SlowTicks != 0;
        set => _batches.Declare(value);
    }

    /// <inheritdoc cref="RecordQueue.WritesSecond"/>
    public bool WritesSecond() => _queue.WritesSecond();

    /// <inheritdoc cref="RecordBatchWriter.WriteTicks"/>
    public long WriteTicks => _batches.WriteTicks;

    /// <inheritdoc cref="RecordBatchWriter.BytesWritten"/>
    public long BytesWritten => _batches.BytesWritten;

    /// <inheritdoc cref="RecordBatchWriter.Writes"/>
    public long Writes => _batches.Writes;

    /// <inheritdoc cref="JournalTail.HasBegun"/>
    public bool HasBegun => _tail.HasBegun;

    /// <summary>The end of the journal when no write is in progress; its epoch is 0 if no file has been begun since opening.</summary>
    public JournalPosition End
    {
        get
        {
            var end = _tail.Position;
            end.Sequence = _queue.DurableSequence;
            end.Checksum = _batches.LastChecksum;
            return end;
        }
    }

    /// <inheritdoc cref="RecordBufferPool.FreeBytes"/>
    public long BufferBytes => _queue.Buffers.FreeBytes;

    /// <inheritdoc cref="RecordBufferPool.HasLargeBuffers"/>
    public bool HasLargeBuffers => _queue.Buffers.HasLargeBuffers;

    /// <inheritdoc cref="RecordBufferPool.TrimBuffers"/>
    public void TrimBuffers() => _queue.Buffers.TrimBuffers();

    /// <inheritdoc cref="RecordBufferPool.Rent"/>
    public RecordBuffer Rent() => _queue.Buffers.Rent();

    /// <inheritdoc cref="RecordBufferPool.Return"/>
    public void Return(RecordBuffer record) => _queue.Buffers.Return(record);

    /// <summary>Assigns the record its place and queues it. From then on the record belongs to the journal.</summary>
    /// <param name="record">The record.</param>
    /// <param name="reserve">The space to leave free after it; null for a flush record, which may use the space left by transactions.</param>
    /// <returns>The record's sequence, to wait for unless the record has a completion.</returns>
    /// <exception cref="StorageFullException">There is not enough space for another journal file. The record still belongs to the caller.</exception>
    /// <exception cref="ObjectDisposedException">The environment is being closed. The record still belongs to the caller.</exception>
    public long Submit(RecordBuffer record, JournalReserve? reserve)
    {
        SchedulePoint.Reach(SchedulePlace.Submitting);
        using (_submission.Enter())
        {
            _poison.ThrowIfPoisoned();
            if (_refusesTransactions && record.Header->Kind == RecordKind.Transaction)
                _queue.ThrowClosed();
            _tail.EnsureRoom(record, reserve);
            using (_queue.Lock.Enter())
            {
                _queue.ThrowIfRefusing();

                // Only queued records receive a place and a sequence, because recovery ends at the first missing sequence.
                _tail.Place(record);
                _queue.Add(record);
                if (record.IsLazy && record.Length <= LargestLazyBytes)
                    PublishEarly(record);
            }

            return record.Sequence;
        }
    }

    /// <summary>True while there is a journal thread.</summary>
    public bool HasThread => _leader.HasThread;

    /// <summary>True when a write takes less time than waking another thread for it.</summary>
    public bool WritesAtOnce { get; init; }

    /// <summary>Makes the journal thread write the queued records; the caller does not wait, unless this thread writes them immediately.</summary>
    public void WriteInBackground()
    {
        if (WritesAtOnce)
            _leader.WriteQueued();
        else
            _leader.WriteInBackground();
    }

    /// <summary>Returns true if the record with that sequence is visible to readers.</summary>
    public bool IsPublished(long sequence) => _queue.PublishedSequence >= sequence;

    /// <summary>True while a record that was published when it was submitted waits to be written.</summary>
    public bool HasEarlyRecords => _queue.EarlySequence > _queue.DurableSequence;

    /// <summary>Returns true if the record with that sequence, the newest one, was published when it was submitted.</summary>
    public bool IsPublishedEarly(long sequence) => _queue.EarlySequence == sequence;

    // A record that is not published is sealed when it is issued: then it confirms the durability of more records.
    private void PublishEarly(RecordBuffer record)
    {
        if (!_listener.IsNext(record) || !_batches.TrySealEarly(record, _queue.DurableSequence))
            return;
        _listener.Publish(record);
        _queue.NotePublished(record);
    }

    /// <summary>
    /// Leaves a lazy record to the next write, which follows soon enough; false if it is not published yet, because a record before it is still
    /// being written: the caller then waits until it is durable.
    /// </summary>
    public bool TryLeave(long sequence)
    {
        if (!IsPublished(sequence))
            return false;
        if (_queue.DurableSequence >= sequence)
            return true;
        if (_queue.Count >= RecordBufferPool.MaxBuffers / 2)
            _leader.WriteInBackground();
        else
            _leader.WriteWithinInterval();
        return true;
    }

    /// <summary>
    /// Waits until the record with that sequence is durable and published, and writes it on this thread if no other thread is writing. An
    /// interrupt of this thread does not end the wait; it is pending again when this method returns. The record is already on its way, and
    /// the caller learns its outcome.
    /// </summary>
    /// <param name="sequence">The record's sequence.</param>
    /// <param name="notifiesObservers">The caller notifies the observers when this method returns, so they need no thread-pool thread.</param>
    /// <exception cref="EnvironmentPoisonedException">The write failed; the outcome says whether it had begun.</exception>
    public void WaitUntilDurable(long sequence, bool notifiesObservers = false)
    {
        var isInterrupted = false;
        try
        {
            while (!IsDurable(sequence) && _queue.WaitUntilLeading(sequence, ref isInterrupted))
            {
                if (_leader.WriteBatch(notifiesObservers))
                    WriteInBackground();
            }
        }
        finally
        {
            Uninterrupted.PassOn(isInterrupted);
        }
    }

    private bool IsDurable(long sequence) =>
        _queue.DurableSequence >= sequence || (PlantedFault.BelievePublished && IsPublished(sequence));

    /// <inheritdoc cref="RecordQueue.CompleteWhenDurable"/>
    public void CompleteWhenDurable(long sequence, CommitCompletion completion) => _queue.CompleteWhenDurable(sequence, completion);

    /// <summary>
    /// Writes a durability marker, which says only that all records before it are durable. Returns its sequence once it is durable.
    /// </summary>
    public long ConfirmDurability()
    {
        var record = Rent();
        long sequence;
        try
        {
            new RecordBuilder(record, RecordKind.DurabilityMarker, JournalFormat.Version1).Finish(default, null);
            sequence = Submit(record, reserve: null);
        }
        catch
        {
            Return(record);
            throw;
        }

        WaitUntilDurable(sequence);
        return sequence;
    }

    /// <summary>Waits until every record submitted so far is durable, taking the lead if necessary.</summary>
    public void Drain()
    {
        var sequence = SubmittedSequence;
        if (!_poison.IsPoisoned)
            WaitUntilDurable(sequence);
    }

    /// <summary>Refuses further transaction records; records of the last flush are still accepted.</summary>
    public void RefuseTransactions()
    {
        using (_submission.Enter())
            _refusesTransactions = true;
    }

    /// <summary>
    /// Writes the submitted records, unless the environment is poisoned, and returns when no thread is writing. From then on nothing is
    /// written, published or acknowledged. Takes as long as the device does.
    /// </summary>
    public void Dispose()
    {
        RefuseTransactions();

        // A caller that has just submitted may be starting the thread.
        _leader.RefuseThreads();

        try
        {
            WaitUntilDurable(_poison.IsPoisoned || PlantedFault.CloseBelowWrite ? 0 : SubmittedSequence);
        }
        catch (EnvironmentPoisonedException)
        {
            // The waiters have been notified.
        }

        _leader.JoinThreads();
        _queue.Close();
        _batches.Dispose();
    }
}
