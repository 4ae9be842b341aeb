using System.Diagnostics;
using Microsoft.Extensions.Logging.Abstractions;
using Voron.Flushing;
using Voron.IO;
using Voron.Maintenance;
using Voron.Primitives;
using Voron.Transactions;

namespace Voron;

/// <summary>
/// An embedded store of ordered trees in a directory: one writer at a time, any number of readers that never wait, every commit
/// durable when it returns.
/// </summary>
/// <remarks>All members may be called by several threads at once. One environment a directory and process tree at a time.</remarks>
public sealed partial class StorageEnvironment : IDisposable
{
    private static readonly TimeSpan AbandonedWriterWait = TimeSpan.FromSeconds(5);

    /// <summary>Who waits for the writer for longer has the collector look whether it has been leaked.</summary>
    private static readonly TimeSpan SuspiciousWait = TimeSpan.FromSeconds(5);

    private const int MostOpeningsUnflushed = 8;

    private readonly EnvironmentParts _parts;
    private readonly EngineContext _context;
    private readonly ReaderPool _readers;
    private readonly WriterGate _gate = new();
    private readonly WriterHome? _writer;
    private readonly WriteMerger? _merger;
    private readonly Flusher? _flusher;
    private readonly FlushScheduler? _scheduler;
    private readonly SpaceReclaimer? _reclaimer;
    private readonly MemoryTrimmer? _trimmer;
    private readonly Scrubber? _scrubber;
    private int _disposed;
    private long _writerSinceTick;
    private long _collectedFor = -1;

    private StorageEnvironment(EnvironmentParts parts)
    {
        _parts = parts;
        _context = parts.Context;
        Recovery = Describe(parts.Recovered);
        _readers = new ReaderPool(_context, OnReaderLeaked, _parts.Release);
        if (_context.Options.ReadOnly)
            return;

        _context.FlusherSlot = _context.Readers.TakeSlot(forEngine: true);
        var keeper = new VersionKeeper(
            _context.Versions, _context.Frames, _context.Readers, _context.Ring, _context.HomeHeads, _context.Heap)
        {
            FlusherSlot = _context.FlusherSlot,
        };
        _writer = new WriterHome(_context, _gate, keeper) { Submitted = parts.Recovered.State };
        _merger = new WriteMerger(
            () => Begin(TimeSpan.MaxValue, nameof(WriteAsync), CancellationToken.None), _context.Options, CountMerged);
        _flusher = new Flusher(_context, parts.Checkpoints, _gate, _writer);
        _flusher.Start(parts.Recovered.Stamp);
        FlushAfterCrashes(parts.Recovered.Openings);
        _reclaimer = new SpaceReclaimer(_context, _gate, _writer, _flusher);
        _trimmer = new MemoryTrimmer(_context, _gate, _writer);
        _scheduler = new FlushScheduler(_context, _flusher, () => _reclaimer.Run(), _trimmer, parts.ReplayedBytes, _context.Options.BackgroundFlush);
        parts.Publisher.BackPressure = _scheduler;
        _scrubber = new Scrubber(_context, () => new EngineSnapshot(_context, _readers));
    }

    /// <summary>The directory, or "memory".</summary>
    public string Path => _context.Disk.Path;

    /// <summary>The options that the environment was opened with, with the page size that it has.</summary>
    public StorageOptions Options => _context.Options;

    /// <summary>What the opening found in the journal.</summary>
    public RecoveryReport Recovery { get; }

    /// <summary>Bytes of the longest key.</summary>
    public int MaxKeyLength => Trees.TreeLimits.MaxKeyLength(_context.PageSize);

    /// <summary>Opens the environment in a directory; makes it, and the directory, when they are missing.</summary>
    /// <exception cref="EnvironmentInUseException">It is open already, by this process or another.</exception>
    /// <exception cref="UnsupportedFormatException">The files are not Voron's, or of a newer version.</exception>
    /// <exception cref="CorruptionException">The files are damaged; nothing was changed.</exception>
    /// <exception cref="StorageAccessException">The files cannot be read or written, or the directory is on a network.</exception>
    /// <exception cref="StorageMemoryException">The system has not enough memory.</exception>
    /// <exception cref="ArgumentException">The options do not fit.</exception>
    public static StorageEnvironment Open(string directory, StorageOptions? options = null)
    {
        ArgumentException.ThrowIfNullOrEmpty(directory);
        options ??= new StorageOptions();
        options.Validate();
        IDisk disk;
        try
        {
            disk = FileSystemDisk.Open(directory, options.ReadOnly, options.Logger ?? NullLogger.Instance, options.FileMode);
        }
        catch (DiskException e)
        {
            throw new StorageAccessException($"The directory '{directory}' cannot be used: {e.Message}", e);
        }

        return Open(disk, options);
    }

    /// <summary>Makes an environment in memory, which is gone when it is disposed. It runs the same code as one on disk.</summary>
    /// <exception cref="ArgumentException">The options do not fit.</exception>
    public static StorageEnvironment OpenInMemory(StorageOptions? options = null)
    {
        options ??= new StorageOptions();
        options.Validate();
        return Open(new MemoryDisk(), options);
    }

    /// <summary>Opens the environment on a disk, which it disposes.</summary>
    internal static StorageEnvironment Open(IDisk disk, StorageOptions options)
    {
        var parts = EnvironmentParts.Open(disk, options);
        try
        {
            return new StorageEnvironment(parts);
        }
        catch (OutOfMemoryException e)
        {
            parts.CloseWriting();
            parts.Release();
            throw EnvironmentParts.NoMemory(disk.Path, options, e);
        }
        catch
        {
            parts.CloseWriting();
            parts.Release();
            throw;
        }
    }

    /// <summary>Begins a snapshot of what is committed. Takes no lock and never waits.</summary>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    public ReadTransaction BeginRead() => new(PlantedFault.ReadBehindFlush ? _flusher!.RentBehind(_readers) : _readers.Rent());

    /// <summary>Begins the write transaction, waiting until the one before has been committed or disposed.</summary>
    /// <exception cref="InvalidOperationException">The environment is read-only, or this is called inside a merged operation.</exception>
    /// <exception cref="EnvironmentPoisonedException">A write has failed before.</exception>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    public WriteTransaction BeginWrite() => BeginWrite(TimeSpan.MaxValue);

    /// <summary>Begins the write transaction, waiting for a time at most.</summary>
    /// <exception cref="TimeoutException">Another write transaction is open, and was not ended in time.</exception>
    /// <inheritdoc cref="BeginWrite()"/>
    public WriteTransaction BeginWrite(TimeSpan timeout, CancellationToken cancellationToken = default) =>
        new(Begin(timeout, nameof(BeginWrite), cancellationToken));

    /// <summary>Begins the write transaction, without blocking a thread while another is open.</summary>
    /// <exception cref="OperationCanceledException">Cancelled while waiting.</exception>
    /// <inheritdoc cref="BeginWrite()"/>
    public async ValueTask<WriteTransaction> BeginWriteAsync(CancellationToken cancellationToken = default)
    {
        ThrowIfNotWritable(nameof(BeginWriteAsync));
        _scheduler!.SlowDown();
        if (!await _gate.TryEnterAsync(SuspiciousWait, cancellationToken).ConfigureAwait(false))
        {
            LookForLeakedWriter();
            await _gate.EnterAsync(cancellationToken).ConfigureAwait(false);
        }

        return new WriteTransaction(BeginHeld());
    }

    /// <summary>Brings the data file up to the newest state that it can take: what is published, or what the oldest reader sees.</summary>
    /// <returns>What was written; null when there was nothing to do, or a reader stands in the way.</returns>
    /// <exception cref="EnvironmentPoisonedException">A write failed, now or before.</exception>
    public FlushReport? Flush()
    {
        ThrowIfNotWritable(nameof(Flush));
        return WhileOpen(static environment => environment._flusher!.Flush());
    }

    /// <summary>Has the flusher write what an old reader keeps out of the data file to a file of its own; for tests.</summary>
    internal bool Rewrite() => WhileOpen(static environment => environment._flusher!.Rewrite());

    /// <summary>Ends a period after which memory that was not needed in two of them goes back to the system; for tests.</summary>
    internal void TrimMemory() => WhileOpen(static environment =>
    {
        environment._trimmer!.Look(CancellationToken.None);
        return true;
    });

    /// <summary>
    /// Gives free space back to the file system: cuts free sections of 4 MiB off the end of the data file, and punches holes for
    /// others. Space that an open reader may still need stays.
    /// </summary>
    /// <returns>How many bytes were given back.</returns>
    /// <exception cref="EnvironmentPoisonedException">A write failed, now or before.</exception>
    public long ReclaimSpace()
    {
        ThrowIfNotWritable(nameof(ReclaimSpace));
        return WhileOpen(static environment => environment._reclaimer!.Run());
    }

    /// <summary>
    /// Walks everything: trees, order, counts, values, free space, the owner of each page, checksums. Reads and writes go on
    /// meanwhile; the snapshot that is walked is kept like that of any reader.
    /// </summary>
    public VerificationReport Verify()
    {
        using var reading = new EngineSnapshot(_context, _readers);
        return Verifier.Run(_context, reading.Snapshot);
    }

    /// <summary>What the environment has done and holds.</summary>
    public EnvironmentStatistics GetStatistics() => WhileOpen(static environment => environment.CollectStatistics());

    // Without a snapshot: the figures are there also when no more readers can be.
    private EnvironmentStatistics CollectStatistics()
    {
        _context.Ring.Read(out var published);
        var counters = _context.Counters;
        var journal = _context.Journal;
        return new EnvironmentStatistics
        {
            PageSize = _context.PageSize,
            PublishedTransactionId = published.State.TransactionId,
            CheckpointTransactionId = _parts.Checkpoints.Current.State.TransactionId,
            PageCount = published.State.PageCount,
            DataFileBytes = _context.DataFile.CapacityPages * _context.PageSize,
            LiveJournalBytes = _context.JournalFiles?.LiveRecordBytes ?? 0,
            TotalJournalBytes = _context.JournalFiles?.TotalBytes ?? 0,
            ScratchBytes = _context.Frames.UsedBytes,
            ScratchReservedBytes = _context.Frames.ReservedBytes,
            SpilledBytes = _context.Frames.SpilledBytes,
            JournalBufferBytes = journal?.BufferBytes ?? 0,
            SearchMemoryBytes = _context.HomeHeads?.UsedBytes ?? 0,
            PageVersions = _context.Versions.NodeCount,
            OpenReaders = _readers.OpenCount - 1,
            LeakedReaders = counters.LeakedReaders,
            LeakedWriters = counters.LeakedWriters,
            CommittedTransactions = counters.CommittedTransactions,
            RolledBackTransactions = counters.RolledBackTransactions,
            PagesChanged = counters.PagesChanged,
            JournalTransactionBytes = counters.JournalTransactionBytes,
            JournalBytes = journal?.BytesWritten ?? 0,
            JournalWrites = journal?.Writes ?? 0,
            JournalWriteTime = Stopwatch.GetElapsedTime(0, journal?.WriteTicks ?? 0),
            Flushes = counters.FlushCount,
            FlushedPages = counters.FlushedPages,
            FlushedBytes = counters.FlushedBytes,
            FlushSeeks = counters.FlushSeeks,
            Rewrites = counters.RewriteCount,
            MergedOperations = counters.MergedOperations,
            QueuedOperations = _merger?.QueuedCount ?? 0,
            BackPressureWaits = counters.BackPressureWaits,
            FreedPages = counters.FreedPages,
            ReclaimedBytes = counters.PunchedBytes + counters.TruncatedBytes,
            IsPoisoned = _context.Poison.IsPoisoned,
            IsUnbuffered = _context.Disk.IsUnbuffered,
        };
    }

    /// <summary>
    /// Closes the environment: flushes what it can, so that the next opening has nothing to replay. What is durable stays
    /// so whatever happens here. Open read transactions may be used to their end; an open write transaction is given up
    /// after five seconds.
    /// </summary>
    public void Dispose()
    {
        if (Interlocked.Exchange(ref _disposed, 1) != 0)
            return;

        try
        {
            _scrubber?.Dispose();

            // It is still told of what is written until the writer is closed.
            _scheduler?.Stop();
            if (_writer != null)
                CloseWriter();
        }
        finally
        {
            _readers.Close();
        }
    }

    /// <summary>The parts; for tests.</summary>
    internal EngineContext Context => _context;

    /// <summary>Has the journal confirm its last record; for tests of what can be told of it then.</summary>
    internal void Vouch() => _context.Journal!.Vouch();

    // What they use must not be let go of below them by a Dispose beside them.
    private T WhileOpen<T>(Func<StorageEnvironment, T> work)
    {
        _readers.AddUser();
        try
        {
            return work(this);
        }
        finally
        {
            _readers.RemoveUser();
        }
    }

    private void CloseWriter()
    {
        if (!_gate.TryEnter(AbandonedWriterWait, CancellationToken.None))
        {
            // Whoever holds it may be running: nothing that it uses can be taken away.
            EnvironmentLog.WriterAbandoned(_context.Logger, Path, _writer!.TransactionId);
            _parts.KeepMemory();
            return;
        }

        _gate.Release();
        try
        {
            // Whoever flushes or gives space back beside this has done so before, or comes too late: what is sealed is the end.
            SchedulePoint.UntilFree(_flusher!.Exclusion);
            lock (_flusher.Exclusion)
            {
                if (!_context.Poison.IsPoisoned)
                    FlushAndSeal();
                else if (PlantedFault.WriteWhenPoisoned)
                    _parts.Checkpoints.WriteBothAlike();
                _flusher.IsClosed = true;
            }
        }
        catch (Exception e)
        {
            // An observer's exception too: everything has to be let go of all the same.
            EnvironmentLog.CloseFailed(_context.Logger, Path, e.Message, e);
        }
        finally
        {
            _flusher!.IsClosed = true;

            // What still waits fails: no transaction begins any more.
            _merger!.Dispose();

            // The last flush still tells it of the list that it writes.
            _scheduler!.Dispose();
            _parts.CloseWriting();
        }
    }

    private void FlushAndSeal()
    {
        var journal = _context.Journal!;
        journal.Drain();
        SchedulePoint.Reach(SchedulePlace.Closing);
        _flusher!.Flush();
        if (journal.End.LifeNumber != 0 && _flusher.CheckpointId == _writer!.Submitted.TransactionId)
            _flusher.Seal(journal.End);
    }

    // Each opening begins a journal file, which only a flush releases. A process that dies sooner, again and again, would fill the directory.
    private void FlushAfterCrashes(int openings)
    {
        if (openings <= MostOpeningsUnflushed)
            return;
        try
        {
            _flusher!.Flush();
        }
        catch (StorageFullException e)
        {
            EnvironmentLog.OpeningFlushFailed(_context.Logger, Path, openings, e.Message);
        }
    }

    private WriteCore Begin(TimeSpan timeout, string call, CancellationToken cancellationToken)
    {
        ThrowIfNotWritable(call);
        _scheduler!.SlowDown();
        if (!TryEnterGate(timeout, cancellationToken))
        {
            throw new TimeoutException(
                $"Write transaction {_writer!.TransactionId} has been open for {Environment.TickCount64 - _writerSinceTick} ms, and was not ended within " +
                $"{timeout.TotalMilliseconds} ms. A write transaction has to be committed or disposed.");
        }

        return BeginHeld();
    }

    private bool TryEnterGate(TimeSpan timeout, CancellationToken cancellationToken)
    {
        if (timeout <= SuspiciousWait)
            return _gate.TryEnter(timeout, cancellationToken);
        if (_gate.TryEnter(SuspiciousWait, cancellationToken))
            return true;
        LookForLeakedWriter();
        if (timeout != TimeSpan.MaxValue)
            return _gate.TryEnter(timeout - SuspiciousWait, cancellationToken);
        _gate.Enter(cancellationToken);
        return true;
    }

    // Only the collector notices a transaction that nobody can end any more, and who waits for it allocates nothing. In the
    // background, and once for a transaction that has kept others waiting for long.
    private void LookForLeakedWriter()
    {
        var id = _writer!.TransactionId;
        if (Interlocked.Exchange(ref _collectedFor, id) != id)
            GC.Collect(GC.MaxGeneration, GCCollectionMode.Forced, blocking: false);
    }

    private WriteCore BeginHeld()
    {
        try
        {
            SchedulePoint.Reach(SchedulePlace.WriterTaken);
            ObjectDisposedException.ThrowIf(_disposed != 0, this);
            _context.Poison.ThrowIfPoisoned();
            _writerSinceTick = Environment.TickCount64;
            return _writer!.Begin();
        }
        catch
        {
            _gate.Release();
            throw;
        }
    }

    private void ThrowIfNotWritable(string call)
    {
        ObjectDisposedException.ThrowIf(Volatile.Read(ref _disposed) != 0, this);
        if (_writer == null)
            throw new InvalidOperationException($"{call}: the environment in '{Path}' is open for reading only.");
        _merger?.ThrowIfInside(call);
        _context.Poison.ThrowIfPoisoned();
    }

    private static RecoveryReport Describe(RecoveryResult recovered) => new()
    {
        TransactionId = recovered.State.TransactionId,
        ReplayedRecords = recovered.ReplayedRecords,
        ReplayedBytes = recovered.ReplayedBytes,
        Duration = recovered.Duration,
        DroppedRecords = recovered.Dropped is { } tail ? tail.BrokenRecords + tail.WholeRecords : 0,
        FirstDroppedTransactionId = recovered.Dropped?.FirstTransactionId ?? 0,
        LastDroppedTransactionId = recovered.Dropped?.LastTransactionId ?? 0,
        DroppedFile = recovered.Dropped?.Path,
        DroppedOffset = recovered.Dropped?.Offset ?? 0,
    };

    private void CountMerged(int operations) => _context.Counters.MergedOperations += operations;

    private void OnReaderLeaked(long snapshotId, StackTrace? openedAt)
    {
        try
        {
            TransactionLog.ReaderLeaked(_context.Logger, snapshotId, TransactionLog.Describe(openedAt));
        }
        finally
        {
            Interlocked.Increment(ref _context.Counters.LeakedReaders);
        }
    }
}
