using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using Voron.IO;
using Voron.Primitives;
using Voron.Testing;

namespace Voron.Journal;

/// <summary>The submitted records that are not acknowledged yet, their progress, and whether a thread leads.</summary>
/// <remarks>
/// Four sequences rise, by one from record to record:
/// <code>
///   submitted ── TakeBatch ──▶ issued ── SetDurable ──▶ durable ── TryEndLeading ──▶ acknowledged
///   acknowledged &lt;= durable &lt;= issued &lt;= submitted
/// </code>
/// A record is queued while it is submitted and not issued. It is in the leader's batch from then until it is acknowledged. On most devices, one
/// thread leads at a time:
/// <code>
///   free ── TryLead, WaitUntilLeading ──▶ led ── TakeBatch ──▶ batch taken ── TryEndLeading, Fail ──▶ free
///                                          └── TakeBatch, if the environment is poisoned ─────────────▲
/// </code>
/// On a slow device, the leader admits a second one when its batch is sealed (<see cref="AdmitSecond"/>). The second takes and writes the next
/// records, but makes none durable before the first has ended (<see cref="WaitForTurn"/>). If the first fails, so does the second, however its own
/// write ends. When the first has ended, the second takes its place, and may have admitted another one.
/// <para>
/// Only a leader issues records and makes them durable. A poisoned environment issues none: those in the queue fail.
/// </para>
/// </remarks>
internal sealed class RecordQueue
{
    private readonly PoisonState _poison;
    private readonly Queue<RecordBuffer> _queue = new(RecordBufferPool.MaxBuffers);
    private UnchangedCommits _unchangedCommits;
    private long _submittedSequence;
    private long _issuedSequence;
    private long _durableSequence;

    // The sequence of the newest record that was published before it was durable.
    private long _earlySequence;

    // All commits up to this sequence have been acknowledged.
    private long _acknowledgedSequence;

    // The leaders of all records up to this sequence have ended.
    private long _endedSequence;

    // The number of threads that lead: 0, 1 or 2.
    private int _leaders;

    // True if the newest of them has sealed its batch and admits another one.
    private bool _admitsSecond;

    // The file of the newest record issued.
    private JournalFile? _issuedFile;
    private int _acknowledgedCount;
    private readonly RecordBatchPair _batches = new();
    private bool _isClosed;
#if DEBUG
    private readonly List<int> _leadingThreads = [];
#endif

    /// <param name="sequence">The last record of the journal when it was opened.</param>
    /// <param name="memory">The memory for the buffers of the records.</param>
    public RecordQueue(PoisonState poison, long sequence, BlockMemory memory)
    {
        _poison = poison;
        _submittedSequence = _issuedSequence = _durableSequence = _acknowledgedSequence = _endedSequence = sequence;
        Buffers = new RecordBufferPool(Lock, poison, memory);
    }

    /// <summary>Guards the queue, the free buffers, the sequences and the leadership; comes after the submission lock.</summary>
    public EngineMonitor Lock { get; } = new(LockRank.JournalQueue);

    /// <summary>The buffers of the records, which return there.</summary>
    public RecordBufferPool Buffers { get; }

    /// <summary>The sequence of the newest durable record.</summary>
    public long DurableSequence => Volatile.Read(ref PlantedFault.AcknowledgeBeforePublish ? ref _issuedSequence : ref _durableSequence);

    /// <summary>The sequence of the newest record that is published, durable or not.</summary>
    public long PublishedSequence => Math.Max(Volatile.Read(ref _earlySequence), DurableSequence);

    /// <summary>The sequence of the newest record that was published when it was submitted.</summary>
    public long EarlySequence => Volatile.Read(ref _earlySequence);

    /// <summary>The sequence of the newest record submitted.</summary>
    public long SubmittedSequence => Volatile.Read(ref _submittedSequence);

    /// <summary>True while a second leader may write the records that are queued next. Read without the lock.</summary>
    public bool AdmitsSecond => Volatile.Read(ref _admitsSecond);

    /// <summary>Returns true if the queued records are being written while another write is under way, or may be.</summary>
    public bool WritesSecond()
    {
        using (Lock.Enter())
            return _leaders == 2 || (_leaders == 1 && CanLead);
    }

    /// <summary>The number of records in the batch that was acknowledged last, if their callers waited for it. Read without the lock.</summary>
    public int AcknowledgedCount => Volatile.Read(ref _acknowledgedCount);

    /// <summary>The number of records in the queue; exact for the holder of the queue lock.</summary>
    public int Count => _queue.Count;

    /// <summary>
    /// Throws if records are refused. The caller holds the queue lock, and adds its record under it: if a write has failed meanwhile, its
    /// thread has already emptied the queue, and the record would stay there forever.
    /// </summary>
    /// <exception cref="EnvironmentPoisonedException">An earlier write has failed.</exception>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    public void ThrowIfRefusing()
    {
        Lock.AssertHeld();
        _poison.ThrowIfPoisoned();
        if (_isClosed)
            ThrowClosed();
    }

    /// <summary>Adds a placed record, and assigns its sequence. The caller holds the queue lock.</summary>
    public void Add(RecordBuffer record)
    {
        Lock.AssertHeld();
        Debug.Assert(!_isClosed, "nothing is submitted after the close");
        Debug.Assert(_queue.Count < RecordBufferPool.MaxBuffers, "the queue has room for every record, and never grows");
        record.Sequence = _submittedSequence + 1;
        Volatile.Write(ref _submittedSequence, record.Sequence);
        _queue.Enqueue(record);
        AssertOrdered();
    }

    /// <summary>Notes that a record was published when it was submitted. The caller holds the queue lock.</summary>
    public void NotePublished(RecordBuffer record)
    {
        Lock.AssertHeld();
        Debug.Assert(record.IsLazy && record.Sequence == _submittedSequence, "only a lazy record is published early, and by its submitter");
        record.IsPublished = true;
        Volatile.Write(ref _earlySequence, record.Sequence);
    }

    /// <summary>Waits until the record is durable, or the calling thread leads to write it. An interrupt does not end the wait.</summary>
    /// <returns>False if the record is durable; true if the calling thread leads.</returns>
    /// <exception cref="EnvironmentPoisonedException">The record will not become durable.</exception>
    public bool WaitUntilLeading(long sequence, ref bool isInterrupted)
    {
        using (Lock.Enter())
        {
            while (true)
            {
                if (_durableSequence >= sequence)
                    return false;

                // A record that is being written has its own outcome, whatever has poisoned the environment.
                if (_poison.IsPoisoned && (sequence > _issuedSequence || _leaders == 0))
                    throw NotDurable(sequence);
                if (CanLead && sequence > _issuedSequence)
                    break;
                Lock.Wait(ref isInterrupted);
            }

            if (_isClosed)
                ThrowClosed();
            return BeginLeading();
        }
    }

    /// <summary>Takes the lead if there are records to write, and no thread leads or the one that does admits a second.</summary>
    public bool TryLead()
    {
        using (Lock.Enter())
        {
            if (_queue.Count == 0 || !CanLead)
                return false;

            // Something other than this journal has poisoned the environment, and only submitting threads notice that.
            if (_poison.IsPoisoned)
            {
                FailQueuedLocked();
                Lock.PulseAll();
                return false;
            }

            return BeginLeading();
        }
    }

    /// <summary>Moves the next adjacent records from the queue to the leader's batch. There may be none.</summary>
    /// <returns>Null if nothing more will be written; the caller then no longer leads.</returns>
    public RecordBatch? TakeBatch()
    {
        using (Lock.Enter())
        {
            AssertLeading();

            // A caller that asked after the environment was poisoned has learned that queued records will never be written.
            if (_poison.IsPoisoned)
            {
                EndLeadingAndFail();
                return null;
            }

            var batch = _batches.Take();
            batch.Begin(_issuedSequence, isSecond: _leaders > 1);

            // Checked under the lock: waiters may already have learned that nothing more will be written.
            while (!_poison.IsPoisoned && _queue.TryPeek(out var next) && batch.Fits(next) && (!batch.IsSecond || MayBeSecond(next)))
            {
                Debug.Assert(next.Sequence == _issuedSequence + 1, "records are issued in sequence order, each once");
                batch.Add(_queue.Dequeue());
                _issuedSequence = next.Sequence;
                _issuedFile = next.File;
            }

            AssertOrdered();
            return batch;
        }
    }

    /// <summary>Admits a second leader, which writes the next records while the calling one, whose batch is sealed, writes its own.</summary>
    /// <returns>True if there are such records.</returns>
    public bool AdmitSecond()
    {
        using (Lock.Enter())
        {
            AssertLeading();
            Volatile.Write(ref _admitsSecond, true);
            if (_queue.Count == 0 || !CanLead)
                return false;
            Lock.PulseAll();
            return true;
        }
    }

    /// <summary>Waits until all records before those of a batch have been acknowledged, or will not become durable.</summary>
    /// <returns>False if they will not: the leader before the calling one has failed.</returns>
    public bool WaitForTurn(RecordBatch batch)
    {
        var isInterrupted = false;
        using (Lock.Enter())
        {
            AssertLeading();
            while (_endedSequence < batch.Before && _leaders > 1)
                Lock.Wait(ref isInterrupted);
        }

        Uninterrupted.PassOn(isInterrupted);
        return Volatile.Read(ref _endedSequence) >= batch.Before;
    }

    /// <summary>Notes that a record is durable and published. Called by the leader, in sequence order, without the lock.</summary>
    public void SetDurable(long sequence)
    {
        AssertLeading();
        Debug.Assert(sequence <= _issuedSequence, "a record is durable after it was issued");
        Debug.Assert(sequence == _durableSequence + 1, "records become durable in sequence order, each once");
        Volatile.Write(ref _durableSequence, sequence);
    }

    /// <summary>
    /// Takes the empty commits that the durable records allow to be acknowledged. Those that arrive too late to be seen here are found by
    /// <see cref="TryEndLeading"/>.
    /// </summary>
    public CommitCompletion? TakeUnchangedCommits()
    {
        if (_unchangedCommits.IsEmpty)
            return null;
        using (Lock.Enter())
            return _unchangedCommits.TakeUpTo(_durableSequence);
    }

    /// <summary>Ends the lead of a thread whose batch has been acknowledged.</summary>
    /// <param name="batch">The batch, whose buffers return to the pool.</param>
    /// <param name="more">True if there are more records to write.</param>
    /// <param name="late">Commits to complete first, if the method returns false.</param>
    public bool TryEndLeading(RecordBatch batch, ref bool more, out CommitCompletion? late)
    {
        using (Lock.Enter())
        {
            AssertLeading();
            _acknowledgedSequence = _durableSequence;
            AssertOrdered();
            late = _unchangedCommits.TakeUpTo(_acknowledgedSequence);
            if (late != null)
                return false;
            _endedSequence = _durableSequence;
            Volatile.Write(ref _acknowledgedCount, batch.MayOverlap ? batch.Records.Count : 0);
            KeepBatch(batch);
            EndLeading();
            more = _queue.Count > 0 && !PlantedFault.ForgetToWake;
            Lock.PulseAll();
            return true;
        }
    }

    /// <summary>Ends the lead of a thread whose write has failed, and fails all queued records. The environment is poisoned.</summary>
    public void Fail(RecordBatch batch)
    {
        using (Lock.Enter())
        {
            AssertLeading();
            Debug.Assert(_poison.IsPoisoned, "a failed write poisons the environment before its leader is replaced");
            KeepBatch(batch);
            EndLeadingAndFail();
        }
    }

    /// <summary>Fails all queued records. The environment is poisoned.</summary>
    public void FailQueued()
    {
        using (Lock.Enter())
        {
            FailQueuedLocked();
            Lock.PulseAll();
        }
    }

    /// <summary>
    /// Completes a commit without its own record when the record that it read is durable and published: immediately if it already is. The caller
    /// ensures that the journal is written.
    /// </summary>
    public void CompleteWhenDurable(long sequence, CommitCompletion completion)
    {
        EnvironmentPoisonedException? failure = null;
        using (Lock.Enter())
        {
            Debug.Assert(sequence <= _submittedSequence, "a transaction reads only what has been submitted");
            if (_poison.IsPoisoned)
            {
                if (_durableSequence < sequence)
                    failure = NotDurable(sequence);
            }
            else if (_acknowledgedSequence < sequence)
            {
                // The record may already be durable while earlier commits are still being acknowledged. This commit comes after them.
                completion.Sequence = sequence;
                _unchangedCommits.Add(completion);
                return;
            }
        }

        if (failure == null)
            completion.SetResult();
        else
            completion.SetException(failure);
    }

    /// <summary>
    /// Waits until no thread leads, and allows none to lead afterwards. Records that are still queued fail; the environment is poisoned then.
    /// </summary>
    public void Close()
    {
        var isInterrupted = false;
        using (Lock.Enter())
        {
            while (_leaders > 0 && !PlantedFault.CloseBelowWrite)
                Lock.Wait(ref isInterrupted);
            Debug.Assert(
                _queue.Count == 0 || _poison.IsPoisoned || PlantedFault.CloseBelowWrite, "all submitted records are written before the close");
            FailQueuedLocked();
            _isClosed = true;
            Lock.PulseAll();
            Buffers.Close();
        }

        Uninterrupted.PassOn(isInterrupted);
    }

    [DoesNotReturn]
    public void ThrowClosed() => throw EndedErrors.Environment(
        _poison.Path, " It was closed while this transaction was open. The transaction was not committed, and is rolled back.");

    /// <summary>Asserts that the calling thread leads, as the first or the second.</summary>
    [Conditional("DEBUG")]
    public void AssertLeading()
    {
        Debug.Assert(_leaders > 0, "a thread leads");
#if DEBUG
        Debug.Assert(_leadingThreads.Contains(Environment.CurrentManagedThreadId), "only a leader issues, writes and publishes records");
#endif
    }

    // The exception for a record that is not durable in a poisoned environment. The caller holds the queue lock.
    private EnvironmentPoisonedException NotDurable(long sequence) =>
        _poison.Exception(sequence <= _issuedSequence ? CommitOutcome.Unknown : CommitOutcome.NotCommitted);

    private bool CanLead => _leaders == 0 || (_leaders == 1 && _admitsSecond && _queue.TryPeek(out var next) && MayBeSecond(next));

    // A leader that reaches another file closes the one before.
    private bool MayBeSecond(RecordBuffer record) => record.MayOverlap && record.File == _issuedFile;

    private bool BeginLeading()
    {
        Lock.AssertHeld();
        Debug.Assert(CanLead && !_isClosed, "one thread leads at a time, or a second one that it admits, and none after the close");
#if DEBUG
        _leadingThreads.Add(Environment.CurrentManagedThreadId);
#endif
        _leaders++;
        Volatile.Write(ref _admitsSecond, false);
        return true;
    }

    private void EndLeading()
    {
        Lock.AssertHeld();
        _leaders--;
#if DEBUG
        _leadingThreads.Remove(Environment.CurrentManagedThreadId);
#endif
    }

    // Each failed record gets an exception of its own. The lead ends even without memory for them: closing and another leader wait for that.
    private void EndLeadingAndFail()
    {
        EndLeading();
        Lock.PulseAll();
        FailQueuedLocked();
    }

    private void KeepBatch(RecordBatch batch)
    {
        foreach (var record in batch.Records)
            Buffers.Keep(record);
        batch.Records.Clear();
        _batches.Return(batch);
    }

    private void FailQueuedLocked()
    {
        Lock.AssertHeld();
        UnchangedCommits.Complete(_unchangedCommits.TakeUpTo(_durableSequence), long.MaxValue);
        for (var empty = _unchangedCommits.TakeUpTo(long.MaxValue); empty != null;)
        {
            var next = (CommitCompletion?)empty.Next;
            empty.SetException(NotDurable(empty.Sequence));
            empty = next;
        }

        while (_queue.TryDequeue(out var record))
        {
            record.Acknowledge(_poison.Exception(CommitOutcome.NotCommitted));
            Buffers.Keep(record);
        }
    }

    [Conditional("DEBUG")]
    private void AssertOrdered() => Debug.Assert(
        _acknowledgedSequence <= _durableSequence && _durableSequence <= _issuedSequence && _issuedSequence <= _submittedSequence,
        "acknowledged <= durable <= issued <= submitted");
}
