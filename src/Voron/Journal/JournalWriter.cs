using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using Voron.Format;
using Voron.IO;
using Voron.Primitives;

namespace Voron.Journal;

/// <summary>Notified when a record becomes durable, before its waiters are released.</summary>
internal interface IJournalListener
{
    /// <summary>Called in sequence order, by one thread at a time.</summary>
    void OnRecordDurable(in RecordHeader header, in JournalPosition end, long lengthBytes);

    /// <summary>
    /// Called after a write by the thread that wrote, once it no longer leads, unless that thread notifies the observers itself.
    /// </summary>
    void OnRecordWritten()
    {
    }
}

/// <summary>Writes records to the journal in order, with one write in progress at a time.</summary>
/// <remarks>
/// <code>
///   Submit: ensures room, assigns place and sequence ──▶ queue ──▶ the leader seals a batch of neighbouring records (durable
///   sequence, chain, checksum) and writes it ──▶ durable ──▶ listener, in order ──▶ waiters
/// </code>
/// A thread that waits for its record leads while no other thread does, until its own record is durable. The journal thread leads for records
/// without a waiting thread. A failed write poisons the environment: the records of its batch have an unknown outcome, and the records still
/// in the queue are never written.
/// <code>
///   open ── RefuseTransactions ──▶ the last flush only ── Dispose ──▶ closed: no thread leads, and none will
/// </code>
/// The leader holds no lock of this class and runs no user code. Waiting for it, as flushes and closing do, therefore means waiting for
/// the device.
/// </remarks>
internal sealed unsafe class JournalWriter : IDisposable
{
    private const long MaxBatchBytes = 1 << 20;
    private const int MaxBatchRecords = 64;
    private const int MaxEntries = 16;
    private const int InitialEntryBytes = 64 << 10;
    private const int LargeEntryBytes = 4 << 20;

    private readonly EngineLock _submission = new(LockRank.Submission);
    private readonly EngineMonitor _queueLock = new(LockRank.JournalQueue);
    private readonly Queue<JournalEntry> _queue = new(MaxEntries);
    private readonly Stack<JournalEntry> _freeEntries = new(MaxEntries);
    private readonly List<JournalEntry> _batch = new(MaxBatchRecords);
    private readonly JournalFileSet _files;
    private readonly PoisonState _poison;
    private readonly IJournalListener _listener;
    private readonly UInt128 _environmentId;
    private EmptyCommits _emptyCommits;
    private readonly AutoResetEvent _work = new(false);
    private readonly DeviceSpeed _speed = new();
    private JournalSeal[] _seals;
    private Thread? _thread;
    private JournalFile? _current;

    // The file of the most recently written records. Used only by the thread that writes.
    private JournalFile? _written;
    private long _offset;
    private long _submittedSequence;
    private long _issuedSequence;
    private long _durableSequence;

    // All commits up to this sequence have been acknowledged. Guarded by the queue lock.
    private long _acknowledgedSequence;
    private ulong _lastChecksum;
    private int _entryCount;
    private bool _writing;
    private bool _refusesTransactions;
    private bool _stopping;
    private bool _isClosed;

    /// <param name="start">The position where the journal continues.</param>
    /// <param name="seals">The seals for the header of the first new file.</param>
    /// <param name="current">The file that contains the start, if records may be appended to it at once; otherwise null.</param>
    public JournalWriter(
        JournalFileSet files,
        PoisonState poison,
        IJournalListener listener,
        UInt128 environmentId,
        in JournalPosition start,
        JournalSeal[] seals,
        JournalFile? current)
    {
        _files = files;
        _poison = poison;
        _listener = listener;
        _environmentId = environmentId;
        _seals = seals;
        _current = current;
        _offset = start.Offset;
        _submittedSequence = _issuedSequence = _durableSequence = _acknowledgedSequence = start.Sequence;
        _lastChecksum = start.Checksum;
    }

    /// <summary>
    /// The number of bytes that every file keeps free at its end for the flush list of the flush that frees space on a full disk. Set
    /// before each submission.
    /// </summary>
    public long ReservedBytes { get; set; }

    /// <summary>
    /// The number of additional bytes reserved for the page images of a flush. The images may need far more room than commits write, so a
    /// file with too little room for them is followed by one with room for twice as many.
    /// </summary>
    public long ReservedImageBytes { get; set; }

    /// <summary>The sequence of the newest durable record.</summary>
    public long DurableSequence => Volatile.Read(ref _durableSequence);

    /// <summary>The sequence of the newest record submitted.</summary>
    public long SubmittedSequence => Volatile.Read(ref _submittedSequence);

    /// <summary>True if, as measured, the device takes longer to write a byte than the codec takes to save one.</summary>
    public bool IsSlowerThanCodec => _speed.IsSlowerThanCodec;

    /// <summary>Ticks of <see cref="Stopwatch"/> spent inside the device's write calls.</summary>
    public long WriteTicks { get; private set; }

    /// <summary>True once anything has been written since opening; until then the files are as they were found.</summary>
    public bool HasBegun => Volatile.Read(ref _current) != null;

    /// <summary>The end of the journal when no write is in progress; its epoch is 0 if nothing has been written since opening.</summary>
    public JournalPosition End => new()
    {
        Incarnation = _current?.Incarnation ?? 0,
        Epoch = _current?.Epoch ?? 0,
        Offset = _offset,
        Sequence = _durableSequence,
        Checksum = _lastChecksum,
    };

    /// <summary>Bytes written, padding included.</summary>
    public long BytesWritten { get; private set; }

    /// <summary>Write calls issued.</summary>
    public long Writes { get; private set; }

    /// <summary>Returns an entry to fill. Waits while too many are in use.</summary>
    /// <exception cref="EnvironmentPoisonedException">An earlier write has failed.</exception>
    public JournalEntry Rent()
    {
        var isInterrupted = false;
        try
        {
            using (_queueLock.Enter())
            {
                while (true)
                {
                    _poison.ThrowIfPoisoned();
                    if (_freeEntries.TryPop(out var entry))
                    {
                        entry.Revive();
                        return entry;
                    }

                    if (_entryCount < MaxEntries)
                    {
                        entry = new JournalEntry(InitialEntryBytes);
                        _entryCount++;
                        return entry;
                    }

                    _queueLock.Wait(ref isInterrupted);
                }
            }
        }
        finally
        {
            Uninterrupted.PassOn(isInterrupted);
        }
    }

    /// <summary>The total size in bytes of the buffers that wait for records.</summary>
    public long BufferBytes
    {
        get
        {
            using (_queueLock.Enter())
                return _freeEntries.Sum(entry => entry.Capacity);
        }
    }

    /// <summary>True if the writer keeps a buffer of a size that few records need.</summary>
    public bool HasLargeBuffers
    {
        get
        {
            using (_queueLock.Enter())
                return _freeEntries.Any(entry => entry.Capacity > LargeEntryBytes);
        }
    }

    /// <summary>Frees large buffers if no record since the last call has needed more than half of them.</summary>
    public void TrimBuffers()
    {
        var large = new List<JournalEntry>();
        using (_queueLock.Enter())
        {
            foreach (var entry in _freeEntries)
            {
                // The first call after a large record still counts that record.
                if (entry.TakeNeeded() * 2 <= entry.Capacity && entry.Capacity > LargeEntryBytes)
                    large.Add(entry);
            }

            if (large.Count == 0)
                return;
            var kept = _freeEntries.Except(large).Reverse().ToArray();
            _freeEntries.Clear();
            foreach (var entry in kept)
                _freeEntries.Push(entry);
        }

        // Outside the lock, because freeing a lot of memory takes time.
        foreach (var entry in large)
        {
            try
            {
                entry.Shrink(InitialEntryBytes);
            }
            catch (OutOfMemoryException)
            {
                // There is one entry fewer until there is memory for another.
                using (_queueLock.Enter())
                    _entryCount--;
                continue;
            }

            Return(entry);
        }
    }

    /// <summary>Gives back an entry that was not submitted.</summary>
    public void Return(JournalEntry entry)
    {
        using (_queueLock.Enter())
        {
            Keep(entry);
            _queueLock.PulseAll();
        }
    }

    /// <summary>Assigns the record its place and queues it. From then on the entry belongs to the journal.</summary>
    /// <returns>The record's sequence, to wait for unless the entry has a completion.</returns>
    /// <exception cref="StorageFullException">There is no room for another journal file. The entry still belongs to the caller.</exception>
    /// <exception cref="ObjectDisposedException">The environment is being closed. The entry still belongs to the caller.</exception>
    public long Submit(JournalEntry entry, bool mayUseReserve = false)
    {
        SchedulePoint.Reach(SchedulePlace.Submitting);
        using (_submission.Enter())
        {
            _poison.ThrowIfPoisoned();
            if (_refusesTransactions && entry.Header->Kind == RecordKind.Transaction)
                ThrowClosed();
            EnsureRoom(entry.Length, mayUseReserve || PlantedFault.IgnoreReserve ? 0 : ReservedBytes + ReservedImageBytes);
            using (_queueLock.Enter())
            {
                // If a write has failed meanwhile, its thread has already emptied the queue, and this record would stay there forever.
                _poison.ThrowIfPoisoned();
                if (_isClosed)
                    ThrowClosed();

                // Only queued records get a place and a sequence, because recovery ends at the first missing sequence.
                entry.File = _current;
                entry.Offset = _offset;
                entry.Sequence = _submittedSequence + 1;
                _offset += entry.Length;
                _current!.UsedBytes = _offset;
                Volatile.Write(ref _submittedSequence, entry.Sequence);
                if (PlantedFault.AcknowledgeBeforeWrite)
                    AcknowledgeUnwritten(entry);
                _queue.Enqueue(entry);
            }

            // No thread waits for records that are already acknowledged, so the entries would run out.
            if (PlantedFault.AcknowledgeBeforeWrite && _queue.Count > MaxEntries / 2)
                WriteInBackground();
            return entry.Sequence;
        }
    }

    /// <summary>Makes the journal thread write the queued records; the caller does not wait.</summary>
    public void WriteInBackground()
    {
        if (_thread == null)
        {
            using (_submission.Enter())
            {
                if (_thread == null && !_stopping)
                {
                    var thread = new Thread(SchedulePoint.Adopt(RunThread, this)) { IsBackground = true, Name = "Voron journal" };
                    thread.Start();
                    _thread = thread;
                }
            }
        }

        SchedulePoint.Set(_work);
    }

    /// <summary>
    /// Waits until the record with that sequence is durable and published, and writes it on this thread if no other thread is writing. An
    /// interrupt of this thread does not end the wait; it is pending again when this method returns. The record is already on its way, and
    /// the caller learns its outcome.
    /// </summary>
    /// <param name="sequence">The record's sequence.</param>
    /// <param name="tellsObservers">The caller notifies the observers when this method returns, so they need no thread-pool thread.</param>
    /// <exception cref="EnvironmentPoisonedException">The write failed; the outcome says whether it had begun.</exception>
    public void WaitUntilDurable(long sequence, bool tellsObservers = false)
    {
        var isInterrupted = false;
        try
        {
            while (DurableSequence < sequence && WaitUntilLeading(sequence, ref isInterrupted))
                WriteBatch(tellsObservers);
        }
        finally
        {
            Uninterrupted.PassOn(isInterrupted);
        }
    }

    /// <summary>
    /// Completes a commit without a record of its own when the record that it read is durable and published: at once if it already is. The
    /// caller makes sure that the journal is written.
    /// </summary>
    public void CompleteWhenDurable(long sequence, CommitCompletion completion)
    {
        EnvironmentPoisonedException? failure = null;
        using (_queueLock.Enter())
        {
            if (_poison.IsPoisoned)
            {
                if (_durableSequence < sequence)
                    failure = NotDurable(sequence);
            }
            else if (_acknowledgedSequence < sequence)
            {
                // The record may already be durable while earlier commits are still being acknowledged. This commit comes after them.
                completion.Sequence = sequence;
                _emptyCommits.Add(completion);
                return;
            }
        }

        if (failure == null)
            completion.SetResult();
        else
            completion.SetException(failure);
    }

    /// <summary>
    /// Writes a durability marker, which says only that all records before it are durable. Returns its sequence once it is durable.
    /// </summary>
    public long ConfirmDurability()
    {
        var entry = Rent();
        long sequence;
        try
        {
            new RecordBuilder(entry, RecordKind.DurabilityMarker).Finish(default, null);
            sequence = Submit(entry, mayUseReserve: true);
        }
        catch
        {
            Return(entry);
            throw;
        }

        WaitUntilDurable(sequence);
        return sequence;
    }

    /// <summary>True while a record waits in the queue: further records would only wait behind it.</summary>
    public bool HasBacklog
    {
        get
        {
            using (_queueLock.Enter())
                return _queue.Count > 0;
        }
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
        // A caller that has just submitted may be starting the thread. After this, the thread either has been started or never will be.
        using (_submission.Enter())
        {
            _refusesTransactions = true;
            _stopping = true;
        }

        try
        {
            if (!PlantedFault.CloseBelowWrite)
                Drain();
        }
        catch (EnvironmentPoisonedException)
        {
            // The waiters have been notified.
        }

        SchedulePoint.Set(_work);
        SchedulePoint.UntilEnded(this);
        if (_thread is { } thread)
            Uninterrupted.Run(thread.Join);
        var isInterrupted = false;
        using (_queueLock.Enter())
        {
            while (_writing && !PlantedFault.CloseBelowWrite)
                _queueLock.Wait(ref isInterrupted);
            FailQueued();
            _isClosed = true;
            _queueLock.PulseAll();
            while (_freeEntries.TryPop(out var entry))
                entry.Dispose();
        }

        Uninterrupted.PassOn(isInterrupted);

        // The event is not disposed: a thread that has just submitted may still set it.
    }

    private void EnsureRoom(long length, long reserve)
    {
        if (_current != null && _offset + length + reserve <= _current.Length)
            return;

        try
        {
            SchedulePoint.Reach(SchedulePlace.FileBeginning);

            // As much additional room as is kept free; otherwise there would soon be one file per record.
            _current = _files.Begin(length + reserve, reserve + ReservedImageBytes, length, _seals);
        }
        catch (DiskException e)
        {
            if (e.Error == DiskError.NoSpace)
                throw new StorageFullException($"No room for another journal file: {e.Message} The transaction was not committed.", e);
            throw new StorageAccessException($"A journal file could not be made: {e.Message} The transaction was not committed.", e);
        }

        _seals = [];
        _offset = JournalFormat.FirstRecordOffset;
    }

    // An exception that ended this thread would end the process.
    private void RunThread()
    {
        try
        {
            while (!_stopping)
            {
                SchedulePoint.WaitOne(_work, Timeout.InfiniteTimeSpan);
                while (TryLead())
                    WriteBatch(tellsObservers: false);
            }
        }
        catch (Exception e)
        {
            _poison.Set(e);
            using (_queueLock.Enter())
            {
                FailQueued();
                _queueLock.PulseAll();
            }
        }
    }

    // The exception for a record that is not durable in a poisoned environment. The caller holds the queue lock.
    private EnvironmentPoisonedException NotDurable(long sequence) =>
        _poison.Exception(sequence <= _issuedSequence ? CommitOutcome.Unknown : CommitOutcome.NotCommitted);

    // Returns false if the record is durable.
    private bool WaitUntilLeading(long sequence, ref bool isInterrupted)
    {
        using (_queueLock.Enter())
        {
            while (true)
            {
                if (_durableSequence >= sequence)
                    return false;
                if (_poison.IsPoisoned)
                    throw NotDurable(sequence);
                if (!_writing)
                    break;
                _queueLock.Wait(ref isInterrupted);
            }

            if (_isClosed)
                ThrowClosed();
            return _writing = true;
        }
    }

    private bool TryLead()
    {
        using (_queueLock.Enter())
        {
            if (_queue.Count == 0 || _writing)
                return false;

            // Something other than this journal has poisoned the environment, and only submitting threads notice that.
            if (_poison.IsPoisoned)
            {
                FailQueued();
                _queueLock.PulseAll();
                return false;
            }

            return _writing = true;
        }
    }

    // The caller has set _writing; it is false again afterwards in every case.
    private void WriteBatch(bool tellsObservers)
    {
        try
        {
            if (!TakeBatch(out var bytes))
                return;
            SchedulePoint.Reach(SchedulePlace.Writing);
            if (_batch.Count > 0)
                WriteBlocks(bytes);
            SchedulePoint.Reach(SchedulePlace.Written);
            Publish();
        }
        catch (Exception e)
        {
            Fail(e);
            return;
        }

        Complete();
        if (!tellsObservers)
            _listener.OnRecordWritten();
    }

    // Returns false if nothing more will be written; the caller then no longer leads.
    private bool TakeBatch(out long bytes)
    {
        bytes = 0;
        using (_queueLock.Enter())
        {
            // A caller that asked after the environment was poisoned has learned that queued records will never be written.
            if (_poison.IsPoisoned)
            {
                FailQueued();
                _writing = false;
                _queueLock.PulseAll();
                return false;
            }

            _batch.Clear();

            // Checked under the lock: waiters may already have learned that nothing more will be written.
            while (!_poison.IsPoisoned && _queue.TryPeek(out var next) && _batch.Count < MaxBatchRecords
                && (_batch.Count == 0 || (next.File == _batch[0].File && bytes + next.Length <= MaxBatchBytes)))
            {
                _batch.Add(_queue.Dequeue());
                bytes += next.Length;
                _issuedSequence = next.Sequence;
            }

            return true;
        }
    }

    private void WriteBlocks(long bytes)
    {
        var blocks = stackalloc IoBlock[MaxBatchRecords];
        for (var i = 0; i < _batch.Count; i++)
        {
            Seal(_batch[i]);
            blocks[i] = new IoBlock(_batch[i].Buffer, (nuint)_batch[i].Length);
        }

        // All records of the previous file are durable. It is full, and is not written again in this epoch.
        var file = _batch[0].File!;
        if (file != _written)
        {
            _written?.Close();
            _written = file;
        }

        var start = Stopwatch.GetTimestamp();
        file.Handle.WriteVectored(_batch[0].Offset, new ReadOnlySpan<IoBlock>(blocks, _batch.Count));
        var ticks = Stopwatch.GetTimestamp() - start;
        WriteTicks += ticks;
        _speed.Add(bytes, ticks);
        BytesWritten += bytes;
        Writes++;
    }

    // Sealed when issued rather than when submitted, so that the record confirms the durability of as many records as possible.
    private void Seal(JournalEntry entry)
    {
        var header = entry.Header;
        header->Incarnation = entry.File!.Incarnation;
        header->Offset = entry.Offset;
        header->Sequence = entry.Sequence;
        header->DurableSequence = _durableSequence;
        header->PreviousChecksum = _lastChecksum;
        header->Checksum = RecordChecksum.Compute(_environmentId, entry.Buffer);
        _lastChecksum = header->Checksum;
    }

    private void Publish()
    {
        foreach (var entry in _batch)
        {
            if (PlantedFault.AcknowledgeBeforePublish)
                Volatile.Write(ref _durableSequence, entry.Sequence);
            SchedulePoint.Reach(SchedulePlace.Publishing);
            if (!PlantedFault.AcknowledgeBeforeWrite)
                _listener.OnRecordDurable(*entry.Header, EndOf(entry), entry.Length);
            SchedulePoint.Reach(SchedulePlace.Published);
            Volatile.Write(ref _durableSequence, Math.Max(_durableSequence, entry.Sequence));
        }
    }

    private void Complete()
    {
        // Empty commits that arrive too late to be seen here are found at the end.
        CommitCompletion? empty = null;
        if (!_emptyCommits.IsEmpty)
        {
            using (_queueLock.Enter())
                empty = _emptyCommits.TakeUpTo(_durableSequence);
        }

        // Outside the lock, because completing a source may take time.
        if (PlantedFault.AcknowledgeOutOfOrder)
            _batch.Reverse();
        foreach (var entry in _batch)
        {
            Acknowledge(entry, null);
            empty = EmptyCommits.Complete(empty, entry.Sequence);
            SchedulePoint.Reach(SchedulePlace.Acknowledged);
        }

        EmptyCommits.Complete(empty, long.MaxValue);

        var more = false;
        while (!TryEndLeading(ref more, out empty))
            EmptyCommits.Complete(empty, long.MaxValue);
        if (more)
            WriteInBackground();
    }

    /// <summary>Ends the lead of a thread whose batch has been acknowledged.</summary>
    /// <param name="more">True if there are more records to write.</param>
    /// <param name="late">Commits to complete first, if the method returns false.</param>
    private bool TryEndLeading(ref bool more, out CommitCompletion? late)
    {
        using (_queueLock.Enter())
        {
            _acknowledgedSequence = _durableSequence;
            late = _emptyCommits.TakeUpTo(_acknowledgedSequence);
            if (late != null)
                return false;
            foreach (var entry in _batch)
                Keep(entry);
            _batch.Clear();
            _writing = false;
            more = _queue.Count > 0;
            if (!PlantedFault.ForgetToWake)
                _queueLock.PulseAll();
            return true;
        }
    }

    // The caller chooses where its continuation runs, through code that may throw. The journal carries on regardless.
    private static void Acknowledge(JournalEntry entry, Exception? failure)
    {
        var completion = entry.Completion;
        entry.Completion = null;
        try
        {
            if (failure == null)
                completion?.SetResult();
            else
                completion?.SetException(failure);
        }
        catch (Exception)
        {
            // Thrown by the scheduler that was to run the continuation; there is no other place to report it.
        }
    }

    private void Fail(Exception cause)
    {
        _poison.Set(cause);
        foreach (var entry in _batch)
            Acknowledge(entry, _poison.Exception(CommitOutcome.Unknown));
        using (_queueLock.Enter())
        {
            foreach (var entry in _batch)
                Keep(entry);
            _batch.Clear();
            FailQueued();
            _writing = false;
            _queueLock.PulseAll();
        }
    }

    private void FailQueued()
    {
        EmptyCommits.Complete(_emptyCommits.TakeUpTo(_durableSequence), long.MaxValue);
        for (var empty = _emptyCommits.TakeUpTo(long.MaxValue); empty != null;)
        {
            var next = (CommitCompletion?)empty.Next;
            empty.SetException(_poison.Exception(empty.Sequence <= _issuedSequence ? CommitOutcome.Unknown : CommitOutcome.NotCommitted));
            empty = next;
        }

        while (_queue.TryDequeue(out var entry))
        {
            Acknowledge(entry, _poison.Exception(CommitOutcome.NotCommitted));
            entry.Retire();
            _freeEntries.Push(entry);
        }
    }

    // The thread that wrote the last batch may get here after the environment has been closed.
    private void Keep(JournalEntry entry)
    {
        if (_isClosed)
        {
            entry.Dispose();
            return;
        }

        entry.Retire();
        _freeEntries.Push(entry);
    }

    [DoesNotReturn]
    private static void ThrowClosed() => throw new ObjectDisposedException(
        nameof(StorageEnvironment), "The environment was closed while this transaction was open. The transaction was not committed, and is rolled back.");

    private void AcknowledgeUnwritten(JournalEntry entry)
    {
        _listener.OnRecordDurable(*entry.Header, EndOf(entry), entry.Length);
        Volatile.Write(ref _durableSequence, entry.Sequence);
    }

    private static JournalPosition EndOf(JournalEntry entry) => new()
    {
        Incarnation = entry.File!.Incarnation,
        Epoch = entry.File.Epoch,
        Offset = entry.Offset + entry.Length,
        Sequence = entry.Sequence,
        Checksum = entry.Header->Checksum,
    };
}
