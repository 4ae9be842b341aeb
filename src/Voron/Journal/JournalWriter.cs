using System.Diagnostics;
using Voron.Format;
using Voron.IO;
using Voron.Primitives;

namespace Voron.Journal;

/// <summary>What is told when a record is durable, before anybody who waits for it is.</summary>
internal interface IJournalListener
{
    /// <summary>Called in the order of sequences, by one thread at a time.</summary>
    void OnDurable(in RecordHeader header, in JournalPosition end, long lengthBytes);
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
/// </remarks>
internal sealed unsafe class JournalWriter : IDisposable
{
    private const long MaxBatchBytes = 1 << 20;
    private const int MaxBatchRecords = 64;
    private const int MaxEntries = 16;
    private const int InitialEntryBytes = 64 << 10;
    private const int LargeEntryBytes = 4 << 20;

    private readonly Lock _submission = new();
    private readonly object _queueLock = new();
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
    private ulong _lastChecksum;
    private int _entryCount;
    private bool _writing;
    private bool _stopping;
    private bool _isDisposed;

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
        _submittedSequence = _issuedSequence = _durableSequence = start.Sequence;
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
        LifeNumber = _current?.LifeNumber ?? 0,
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
        lock (_queueLock)
        {
            while (true)
            {
                _poison.ThrowIfPoisoned();
                if (_freeEntries.TryPop(out var entry))
                    return entry;
                if (_entryCount < MaxEntries)
                {
                    entry = new JournalEntry(InitialEntryBytes);
                    _entryCount++;
                    return entry;
                }

                SchedulePoint.Wait(_queueLock);
            }
        }
    }

    /// <summary>Bytes of the buffers that wait for records.</summary>
    public long BufferBytes
    {
        get
        {
            lock (_queueLock)
                return _freeEntries.Sum(entry => entry.Capacity);
        }
    }

    /// <summary>True when a buffer is kept that few records need.</summary>
    public bool HasLargeBuffers
    {
        get
        {
            lock (_queueLock)
                return _freeEntries.Any(entry => entry.Capacity > LargeEntryBytes);
        }
    }

    /// <summary>Frees large buffers that no record since the last call has needed half of.</summary>
    public void TrimBuffers()
    {
        var large = new List<JournalEntry>();
        lock (_queueLock)
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
                lock (_queueLock)
                    _entryCount--;
                continue;
            }

            Return(entry);
        }
    }

    /// <summary>Gives back an entry that was not submitted.</summary>
    public void Return(JournalEntry entry)
    {
        lock (_queueLock)
        {
            Keep(entry);
            SchedulePoint.PulseAll(_queueLock);
        }
    }

    /// <summary>Gives the record its place and puts it into the queue. The entry is the journal's from here on.</summary>
    /// <returns>The record's sequence, to be waited for, unless the entry has a completion.</returns>
    /// <exception cref="StorageFullException">There is no room for another journal file. The entry is still the caller's.</exception>
    public long Submit(JournalEntry entry, bool mayUseReserve = false)
    {
        SchedulePoint.Reach(SchedulePlace.Submitting);
        SchedulePoint.UntilFree(_submission);
        lock (_submission)
        {
            _poison.ThrowIfPoisoned();
            EnsureRoom(entry.Length, mayUseReserve || PlantedFault.IgnoreReserve ? 0 : ReservedBytes + ReservedImageBytes);
            entry.File = _current;
            entry.Offset = _offset;
            entry.Sequence = _submittedSequence + 1;
            _offset += entry.Length;
            _current!.UsedBytes = _offset;
            Volatile.Write(ref _submittedSequence, entry.Sequence);
            if (PlantedFault.AcknowledgeBeforeWrite)
                AcknowledgeUnwritten(entry);
            lock (_queueLock)
            {
                // Whoever failed meanwhile has emptied the queue already, and would leave this one in it for ever.
                _poison.ThrowIfPoisoned();
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
            SchedulePoint.UntilFree(_submission);
            lock (_submission)
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

    /// <summary>Returns when the record of that sequence is durable and published, writing it here when nobody else writes.</summary>
    /// <exception cref="EnvironmentPoisonedException">The write failed; the outcome says whether it had begun.</exception>
    public void WaitUntilDurable(long sequence)
    {
        while (DurableSequence < sequence)
        {
            lock (_queueLock)
            {
                while (true)
                {
                    if (_durableSequence >= sequence)
                        return;
                    if (_poison.IsPoisoned)
                        throw _poison.Exception(sequence <= _issuedSequence ? CommitOutcome.Unknown : CommitOutcome.NotCommitted);
                    if (!_writing)
                        break;
                    SchedulePoint.Wait(_queueLock);
                }

                _writing = true;
            }

            WriteBatch();
        }
    }

    /// <summary>
    /// Completes a commit that has no record of its own when the record of what it read is durable and published: at once if it is.
    /// The caller sees to it that the journal is written.
    /// </summary>
    public void CompleteWhenDurable(long sequence, CommitCompletion completion)
    {
        EnvironmentPoisonedException? failure = null;
        lock (_queueLock)
        {
            if (_durableSequence < sequence)
            {
                if (!_poison.IsPoisoned)
                {
                    completion.Sequence = sequence;
                    _emptyCommits.Add(completion);
                    return;
                }

                failure = _poison.Exception(sequence <= _issuedSequence ? CommitOutcome.Unknown : CommitOutcome.NotCommitted);
            }
        }

        if (failure == null)
            completion.SetResult();
        else
            completion.SetException(failure);
    }

    /// <summary>Writes a record that says nothing but that all before it are durable; returns its sequence when it is.</summary>
    public long Vouch()
    {
        var entry = Rent();
        long sequence;
        try
        {
            new RecordBuilder(entry, RecordKind.Vouching).Finish(default, null);
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
            lock (_queueLock)
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

    public void Dispose()
    {
        // Whoever has just submitted may be starting the thread: it has been started, or never is.
        SchedulePoint.UntilFree(_submission);
        lock (_submission)
            _stopping = true;
        SchedulePoint.Set(_work);
        SchedulePoint.UntilEnded(this);
        _thread?.Join();
        lock (_queueLock)
        {
            FailQueued();
            _isDisposed = true;
            while (_freeEntries.TryPop(out var entry))
                entry.Dispose();
        }

        // The event stays: one who has just submitted may yet set it.
    }

    private void EnsureRoom(long length, long reserve)
    {
        if (_current != null && _offset + length + reserve <= _current.Length)
            return;

        try
        {
            SchedulePoint.Reach(SchedulePlace.FileBeginning);

            // As much room again as is kept free: else there would soon be a file for each record.
            _current = BeginFile(length + reserve, reserve + ReservedImageBytes, length);
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

    private JournalFile BeginFile(long length, long more, long recordBytes)
    {
        try
        {
            return _files.Begin(length, more, recordBytes, _seals);
        }
        catch (DiskException e) when (e.Error == DiskError.NoSpace && more > 0)
        {
            return _files.Begin(length, 0, recordBytes, _seals);
        }
    }

    private void RunThread()
    {
        while (!_stopping)
        {
            SchedulePoint.WaitOne(_work, Timeout.InfiniteTimeSpan);
            while (true)
            {
                lock (_queueLock)
                {
                    if (_queue.Count == 0 || _writing)
                        break;

                    // Poisoned by another than this journal, which tells only those who submit.
                    if (_poison.IsPoisoned)
                    {
                        FailQueued();
                        SchedulePoint.PulseAll(_queueLock);
                        break;
                    }

                    _writing = true;
                }

                WriteBatch();
            }
        }
    }

    // The caller has set _writing.
    private void WriteBatch()
    {
        long bytes = 0;
        lock (_queueLock)
        {
            // Whoever has asked since the environment was poisoned was told that what is queued is never written.
            if (_poison.IsPoisoned)
            {
                FailQueued();
                _writing = false;
                SchedulePoint.PulseAll(_queueLock);
                return;
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
        }

        try
        {
            SchedulePoint.Reach(SchedulePlace.Writing);
            if (_batch.Count > 0)
                WriteBlocks(bytes);
            SchedulePoint.Reach(SchedulePlace.Written);
        }
        catch (Exception e)
        {
            Fail(e);
            return;
        }

        Complete();
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

    private void Complete()
    {
        foreach (var entry in _batch)
        {
            if (PlantedFault.AcknowledgeBeforePublish)
                Volatile.Write(ref _durableSequence, entry.Sequence);
            SchedulePoint.Reach(SchedulePlace.Publishing);
            if (!PlantedFault.AcknowledgeBeforeWrite)
                _listener.OnDurable(*entry.Header, EndOf(entry), entry.Length);
            SchedulePoint.Reach(SchedulePlace.Published);
            Volatile.Write(ref _durableSequence, Math.Max(_durableSequence, entry.Sequence));
        }

        CommitCompletion? empty;
        lock (_queueLock)
            empty = _emptyCommits.TakeUpTo(_durableSequence);

        // Outside the lock: completing a source may take its own time.
        if (PlantedFault.AcknowledgeOutOfOrder)
            _batch.Reverse();
        foreach (var entry in _batch)
        {
            entry.Completion?.SetResult();
            empty = EmptyCommits.Complete(empty, entry.Sequence);
            SchedulePoint.Reach(SchedulePlace.Acknowledged);
        }

        EmptyCommits.Complete(empty, long.MaxValue);

        bool more;
        lock (_queueLock)
        {
            foreach (var entry in _batch)
                Keep(entry);
            _batch.Clear();
            _writing = false;
            more = _queue.Count > 0;
            if (!PlantedFault.ForgetToWake)
                SchedulePoint.PulseAll(_queueLock);
        }

        if (more)
            WriteInBackground();
    }

    private void Fail(Exception cause)
    {
        _poison.Set(cause);
        foreach (var entry in _batch)
            entry.Completion?.SetException(_poison.Exception(CommitOutcome.Unknown));
        lock (_queueLock)
        {
            foreach (var entry in _batch)
                Keep(entry);
            _batch.Clear();
            FailQueued();
            _writing = false;
            SchedulePoint.PulseAll(_queueLock);
        }
    }

    private void FailQueued()
    {
        for (var empty = _emptyCommits.TakeUpTo(long.MaxValue); empty != null;)
        {
            var next = (CommitCompletion?)empty.Next;
            empty.SetException(_poison.Exception(empty.Sequence <= _issuedSequence ? CommitOutcome.Unknown : CommitOutcome.NotCommitted));
            empty = next;
        }

        while (_queue.TryDequeue(out var entry))
        {
            entry.Completion?.SetException(_poison.Exception(CommitOutcome.NotCommitted));
            _freeEntries.Push(entry);
        }
    }

    // Whoever has written the last batch may come here when the environment has been closed already.
    private void Keep(JournalEntry entry)
    {
        if (_isDisposed)
            entry.Dispose();
        else
            _freeEntries.Push(entry);
    }

    private void AcknowledgeUnwritten(JournalEntry entry)
    {
        _listener.OnDurable(*entry.Header, EndOf(entry), entry.Length);
        lock (_queueLock)
            Volatile.Write(ref _durableSequence, entry.Sequence);
    }

    private static JournalPosition EndOf(JournalEntry entry) => new()
    {
        Incarnation = entry.File!.Incarnation,
        LifeNumber = entry.File.LifeNumber,
        Offset = entry.Offset + entry.Length,
        Sequence = entry.Sequence,
        Checksum = entry.Header->Checksum,
    };
}
