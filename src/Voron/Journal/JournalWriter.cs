using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using Voron.Format;
using Voron.IO;
using Voron.Primitives;

namespace Voron.Journal;

/// <summary>What is told when a record is durable, before anybody who waits for it is.</summary>
internal interface IJournalListener
{
    /// <summary>Called in the order of sequences, by one thread at a time.</summary>
    void OnRecordDurable(in RecordHeader header, in JournalPosition end, long lengthBytes);

    /// <summary>Called after a write by the thread that made it, which leads no more, unless it tells the observers itself.</summary>
    void OnRecordWritten()
    {
    }
}

/// <summary>Puts records into the journal, in order, with one write under way at a time.</summary>
/// <remarks>
/// <code>
///   Submit: room made sure of, place and sequence assigned ──▶ queue ──▶ a batch of neighbours is sealed (durable sequence,
///   chain, checksum) and written by whoever leads ──▶ durable ──▶ listener, in order ──▶ those who wait
/// </code>
/// A thread that waits for its record leads when nobody does, until its own record is durable; records that nobody waits for
/// are led by the journal thread. A failed write poisons the environment: what was in the batch has an unknown outcome, what
/// was still queued is never written.
/// <code>
///   open ── RefuseTransactions ──▶ the last flush only ── Dispose ──▶ closed: no thread leads, and none will
/// </code>
/// A thread that leads holds no lock of this class, and runs no code of the user's: so waiting for it, as flushes and the closing do,
/// is waiting for the device.
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

    // The one whose records were written last; only the thread that writes looks at it.
    private JournalFile? _written;
    private long _offset;
    private long _submittedSequence;
    private long _issuedSequence;
    private long _durableSequence;

    // Of the commits up to here, all have been acknowledged. Guarded by the queue's lock.
    private long _acknowledgedSequence;
    private ulong _lastChecksum;
    private int _entryCount;
    private bool _writing;
    private bool _refusesTransactions;
    private bool _stopping;
    private bool _isClosed;

    /// <param name="start">Where the journal goes on.</param>
    /// <param name="seals">What the first file that is begun has to seal.</param>
    /// <param name="current">The file that the start is in, where records may be appended to it at once; else null.</param>
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

    /// <summary>Bytes that every file keeps free at its end, for the flush list that empties a full disk. Set before each submission.</summary>
    public long ReservedBytes { get; set; }

    /// <summary>
    /// How many more, for the images of a flush. There may be far more of them than what commits write, so a file that has too
    /// little room for them is followed by one that has room for twice as many.
    /// </summary>
    public long ReservedImageBytes { get; set; }

    /// <summary>The sequence of the newest durable record.</summary>
    public long DurableSequence => Volatile.Read(ref _durableSequence);

    /// <summary>The sequence of the newest record submitted.</summary>
    public long SubmittedSequence => Volatile.Read(ref _submittedSequence);

    /// <summary>True when the device, as measured, takes longer for a byte than compressing saves.</summary>
    public bool IsSlowerThanCodec => _speed.IsSlowerThanCodec;

    /// <summary>Ticks of <see cref="Stopwatch"/> spent inside the device's write calls.</summary>
    public long WriteTicks { get; private set; }

    /// <summary>True once something has been written since opening: until then the files are as they were found.</summary>
    public bool HasBegun => Volatile.Read(ref _current) != null;

    /// <summary>Where the journal ends, when nothing is under way; life 0 when nothing has been written since opening.</summary>
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

    /// <summary>An entry to fill. Waits while too many are under way.</summary>
    /// <exception cref="EnvironmentPoisonedException">A write has failed before.</exception>
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

    /// <summary>Bytes of the buffers that wait for records.</summary>
    public long BufferBytes
    {
        get
        {
            using (_queueLock.Enter())
                return _freeEntries.Sum(entry => entry.Capacity);
        }
    }

    /// <summary>True when a buffer is kept that few records need.</summary>
    public bool HasLargeBuffers
    {
        get
        {
            using (_queueLock.Enter())
                return _freeEntries.Any(entry => entry.Capacity > LargeEntryBytes);
        }
    }

    /// <summary>Frees large buffers that no record since the last call has needed half of.</summary>
    public void TrimBuffers()
    {
        var large = new List<JournalEntry>();
        using (_queueLock.Enter())
        {
            foreach (var entry in _freeEntries)
            {
                // The first call after a large record finds it needed.
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

        // Without the lock: giving much memory back takes its time.
        foreach (var entry in large)
        {
            try
            {
                entry.Shrink(InitialEntryBytes);
            }
            catch (OutOfMemoryException)
            {
                // One entry less, until there is memory for another.
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

    /// <summary>Gives the record its place and puts it into the queue. The entry is the journal's from here on.</summary>
    /// <returns>The record's sequence, to be waited for, unless the entry has a completion.</returns>
    /// <exception cref="StorageFullException">There is no room for another journal file. The entry is still the caller's.</exception>
    /// <exception cref="ObjectDisposedException">The environment is being closed. The entry is still the caller's.</exception>
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
                // A thread whose write failed meanwhile has emptied the queue already, and would leave this record in it for ever.
                _poison.ThrowIfPoisoned();
                if (_isClosed)
                    ThrowClosed();

                // Only what is queued has a place and a sequence: a recovery ends at a sequence that is missing.
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

            // Nobody waits for what was acknowledged already, and entries would run out.
            if (PlantedFault.AcknowledgeBeforeWrite && _queue.Count > MaxEntries / 2)
                WriteInBackground();
            return entry.Sequence;
        }
    }

    /// <summary>Has the journal thread write what is queued; the caller does not wait.</summary>
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
    /// Returns when the record of that sequence is durable and published, writing it here when no other thread writes. A thread that is
    /// interrupted meanwhile is so when this returns: its record is on its way, and the caller learns what becomes of it.
    /// </summary>
    /// <param name="sequence">Of the record.</param>
    /// <param name="tellsObservers">The caller calls the observers when this returns, which then need no thread of the pool.</param>
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
    /// Completes a commit that has no record of its own when the record of what it read is durable and published: at once if it is.
    /// The caller sees to it that the journal is written.
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
                // Perhaps it is durable already, and commits before it are just being acknowledged: it comes after them.
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

    /// <summary>Writes a record that says nothing but that all before it are durable; returns its sequence when it is.</summary>
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

    /// <summary>True while a record waits in the queue: more would only wait behind it.</summary>
    public bool HasBacklog
    {
        get
        {
            using (_queueLock.Enter())
                return _queue.Count > 0;
        }
    }

    /// <summary>Waits until nothing is queued, leading if need be.</summary>
    public void Drain()
    {
        var sequence = SubmittedSequence;
        if (!_poison.IsPoisoned)
            WaitUntilDurable(sequence);
    }

    /// <summary>Takes no more records of transactions; those of the last flush are taken.</summary>
    public void RefuseTransactions()
    {
        using (_submission.Enter())
            _refusesTransactions = true;
    }

    /// <summary>
    /// Writes what has been submitted, unless the environment is poisoned, and returns when no write is under way, whoever makes it:
    /// from then on nothing is written, published or acknowledged. Takes as long as the device does.
    /// </summary>
    public void Dispose()
    {
        // A caller that has just submitted may be starting the thread: it has been started, or never is.
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
            // Those who wait have been told.
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

        // The event stays: a thread that has just submitted may yet set it.
    }

    private void EnsureRoom(long length, long reserve)
    {
        if (_current != null && _offset + length + reserve <= _current.Length)
            return;

        try
        {
            SchedulePoint.Reach(SchedulePlace.FileBeginning);

            // As much room again as is kept free: else there would soon be a file for each record.
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

    // What ends this thread would end the process.
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

    // For the holder of the queue's lock, of a record that is not durable in a poisoned environment.
    private EnvironmentPoisonedException NotDurable(long sequence) =>
        _poison.Exception(sequence <= _issuedSequence ? CommitOutcome.Unknown : CommitOutcome.NotCommitted);

    // False when the record is durable.
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

            // Poisoned by another than this journal, which tells only those who submit.
            if (_poison.IsPoisoned)
            {
                FailQueued();
                _queueLock.PulseAll();
                return false;
            }

            return _writing = true;
        }
    }

    // The caller has set _writing, and it is false again afterwards, whatever happens.
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

    // False when nothing more is written; the caller leads no more then.
    private bool TakeBatch(out long bytes)
    {
        bytes = 0;
        using (_queueLock.Enter())
        {
            // A caller that has asked since the environment was poisoned was told that what is queued is never written.
            if (_poison.IsPoisoned)
            {
                FailQueued();
                _writing = false;
                _queueLock.PulseAll();
                return false;
            }

            _batch.Clear();

            // Under the lock: those who wait have perhaps been told already that nothing more is written.
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

        // All records of the file before are durable: it is full, and is not written again in this life.
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

    // Sealed when it is issued rather than when it is submitted, so that it vouches for as much as it can.
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
        // Those that come too late to be seen here are found at the end.
        CommitCompletion? empty = null;
        if (!_emptyCommits.IsEmpty)
        {
            using (_queueLock.Enter())
                empty = _emptyCommits.TakeUpTo(_durableSequence);
        }

        // Outside the lock: completing a source may take its own time.
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

    /// <summary>Ends the leading of a thread whose batch has been acknowledged.</summary>
    /// <param name="more">Whether there are records to write.</param>
    /// <param name="late">Commits to be completed first, if it returns false.</param>
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

    // Where the caller's continuation runs is for the caller to choose, by code that may throw: the journal goes on.
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
            // Of the scheduler that was to run the continuation: it has nobody else to tell.
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

    // Whoever has written the last batch may come here when the environment has been closed already.
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
