using System.Diagnostics;
using Voron.Loading;
using Voron.Primitives;
using Voron.Sorting;
using Voron.Transactions;
using Voron.Trees.Pages;

namespace Voron;

/// <summary>
/// A load of many entries into a tree, in any order, which writes each byte about once: begun by
/// <see cref="StorageEnvironment.BeginBulkLoadAsync"/>.
/// </summary>
/// <remarks>
/// One thread at a time puts entries. Other callers read and write meanwhile, the tree too: the writer is not held while the source runs. Until
/// <see cref="CompleteAsync"/>, nothing of an atomic load is visible; if it is never called, or fails, nothing is loaded.
/// Memory, the temporary file and pages are freed by <see cref="Dispose"/>, or by the garbage collector. After a call has thrown an exception, only
/// <see cref="Dispose"/> can follow.
/// </remarks>
public sealed class BulkLoad : IDisposable
{
    private const int EntriesBetweenReports = 64 << 10;

    private const string NoMemory = "There was not enough memory for the bulk load: ";

    private const string ClosedDuringLoad = " It was closed during a bulk load, which was not completed.";

    private const int Busy = 1;
    private const int Disposed = 2;
    private const int Ended = 4;

    private readonly EngineCore _engine;
    private readonly LongCalls _calls;
    private readonly string _target;
    private readonly BulkLoadOptions _options;
    private readonly long _began = Stopwatch.GetTimestamp();
    private readonly LoadParts _parts;

    private byte[] _lastKey = [];
    private int _lastKeyLength = -1;
    private long _taken;
    private long _takenBytes;
    private long _stored;

    // A set of Busy, Disposed and Ended.
    private int _state;

    internal BulkLoad(EngineCore engine, LongCalls calls, string target, BulkLoadOptions options, LoadParts parts)
    {
        _engine = engine;
        _calls = calls;
        _target = target;
        _options = options;
        _parts = parts;
    }

    /// <summary>
    /// Adds an entry. Waits while earlier entries are sorted and written, so that a fast source takes no more memory than the options allow.
    /// </summary>
    /// <param name="key">The key.</param>
    /// <param name="value">The value.</param>
    /// <exception cref="ArgumentException">The key is empty, or longer than the page size allows.</exception>
    /// <exception cref="InvalidOperationException">
    /// The key is below the last one although <see cref="BulkLoadOptions.Sorted"/> was promised; it is repeated, and
    /// <see cref="BulkLoadOptions.Duplicates"/> refuses that; this thread has a write transaction open, for which the load would wait; another call
    /// is running; or the load has ended.
    /// </exception>
    /// <exception cref="StorageFullException">There is not enough space for the entries.</exception>
    /// <exception cref="StorageAccessException">They could not be written.</exception>
    /// <exception cref="CorruptionException">The temporary file, or a page that was written, has decayed since.</exception>
    /// <exception cref="StorageMemoryException">There is not enough memory.</exception>
    /// <exception cref="OperationCanceledException">The load was cancelled.</exception>
    /// <exception cref="EnvironmentPoisonedException">An earlier write failed.</exception>
    /// <exception cref="ObjectDisposedException">The load was disposed, or the environment is closed.</exception>
    public void Put(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value) => PutEntry(new Entry(key, value));

    /// <summary>Adds an entry that is made during the call.</summary>
    /// <param name="entry">Makes the entry.</param>
    /// <inheritdoc cref="Put"/>
    internal void PutEntry<TEntry>(TEntry entry)
        where TEntry : IEntryToLoad, allows ref struct
    {
        Enter(nameof(Put));
        var ends = true;
        try
        {
            _calls.ThrowIfWriterHeldHere(nameof(Put));
            _parts.Stop.Token.ThrowIfCancellationRequested();
            var isMade = entry.TryMake(out var key, out var value);
            _taken++;
            _takenBytes += key.Length + value.Length;
            if (isMade)
                Add(key, value);
            ReportSometimes(_taken);
            ends = false;
        }
        catch (DuplicateEntryException e)
        {
            throw LoadErrors.Duplicate(e.Key.Span, _target);
        }
        catch (OutOfMemoryException e)
        {
            throw new StorageMemoryException(NoMemory + e.Message, e);
        }
        catch (OperationCanceledException) when (_engine.Closing.IsCancellationRequested)
        {
            throw Closed();
        }
        finally
        {
            Exit(ends);
        }
    }

    /// <summary>Stores the entries in the tree, and returns when they are durable and visible.</summary>
    /// <param name="cancellationToken">Cancels the load, until its last commit begins.</param>
    /// <exception cref="InvalidOperationException">
    /// A key is repeated, and <see cref="BulkLoadOptions.Duplicates"/> refuses that; the tree, which was new or empty, has been changed meanwhile;
    /// another call is running; or the load has ended.
    /// </exception>
    /// <inheritdoc cref="Put"/>
    public async ValueTask<BulkLoadReport> CompleteAsync(CancellationToken cancellationToken = default)
    {
        Enter(nameof(CompleteAsync));
        try
        {
            var call = new LongCall(
                LongWork.Other, nameof(CompleteAsync), "The bulk load was cancelled.", ClosedDuringLoad, NoMemory);
            return await _calls.RunAsync(call, StoreAsync, cancellationToken).ConfigureAwait(false);
        }
        finally
        {
            Exit(ends: true);
        }
    }

    /// <summary>
    /// Ends the load, and frees what it has taken; a load that is not complete is given up. If another thread is in a call, the end of that call
    /// frees it.
    /// </summary>
    public void Dispose()
    {
        if ((Interlocked.Or(ref _state, Disposed) & (Busy | Disposed)) == 0)
            _parts.Dispose();
    }

    /// <summary>True if all entries become visible in one commit.</summary>
    internal bool IsAtomic => _parts.Load.IsAtomic;

    private long SpilledBytes => (_parts.Sorter?.SpilledBytes ?? 0) + _parts.Load.SpilledBytes;

    private async Task<BulkLoadReport> StoreAsync(CancellationToken stop)
    {
        using var cancels = stop.UnsafeRegister(static source => ((CancellationTokenSource)source!).Cancel(), _parts.Stop);
        if (_parts.Sorter != null)
            StoreSorted(_parts.Sorter);

        // The token of the beginning cancels this one too.
        await _parts.Load.CompleteAsync(_parts.Stop.Token).ConfigureAwait(false);
        return new BulkLoadReport
        {
            EntriesTaken = _taken,
            EntriesStored = _stored - _parts.Load.Passed,
            BytesTaken = _takenBytes,
            BytesSpilled = SpilledBytes,
            IsAtomic = IsAtomic,
            Duration = Stopwatch.GetElapsedTime(_began),
        };
    }

    private void StoreSorted(LoadSorter sorter)
    {
        try
        {
            sorter.Complete();
            while (sorter.StoreNext())
                ReportSometimes(++_stored);
        }
        catch (DuplicateEntryException e)
        {
            throw LoadErrors.Duplicate(e.Key.Span, _target);
        }
    }

    private void Add(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        TreeLimits.CheckKey(_engine.PageSize, key);
        if (_parts.Sorter != null)
        {
            _parts.Sorter.Add(key, value);
        }
        else if (_parts.Load.TakesAnyOrder)
        {
            _parts.Load.Add(key, value);
            _stored++;
        }
        else
        {
            AddInOrder(key, value);
        }
    }

    private void AddInOrder(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        var order = _lastKeyLength < 0 ? 1 : key.SequenceCompareTo(_lastKey.AsSpan(0, _lastKeyLength));
        if (order < 0)
            throw LoadErrors.Order(key, _lastKey.AsSpan(0, _lastKeyLength), _target);
        if (order > 0)
            _stored++;
        else if (_options.Duplicates == DuplicateKeys.Refuse)
            throw LoadErrors.Duplicate(key, _target);
        else if (_options.Duplicates == DuplicateKeys.FirstWins)
            return;
        _parts.Load.Add(key, value);
        if (_lastKey.Length < key.Length)
            _lastKey = new byte[Math.Max(key.Length, 64)];
        key.CopyTo(_lastKey);
        _lastKeyLength = key.Length;
    }

    private void ReportSometimes(long count)
    {
        if (count % EntriesBetweenReports == 0)
            _options.Progress?.Report(new BulkLoadProgress(_taken, _stored, _takenBytes, SpilledBytes));
    }

    private void Enter(string call)
    {
        var before = Interlocked.CompareExchange(ref _state, Busy, 0);
        var isClosed = _engine.Closing.IsCancellationRequested;
        if (before == 0 && !isClosed)
            return;
        if (before == 0)
            Exit(ends: true);
        if ((before & Disposed) != 0)
            throw EndedErrors.BulkLoad();
        if (isClosed)
            throw Closed();
        throw new InvalidOperationException(
            (before & Ended) != 0
                ? $"{call} was called after the bulk load of the {_target} had ended. Begin another one."
                : $"{call} was called during another call of the bulk load of the {_target}. One thread at a time may use it, and no function of the " +
                "definition of a table.");
    }

    private ObjectDisposedException Closed() => EndedErrors.Environment(_engine.Disk.Path, ClosedDuringLoad);

    private void Exit(bool ends)
    {
        var after = Interlocked.Add(ref _state, ends ? Ended - Busy : -Busy);
        if ((after & Disposed) != 0)
            _parts.Dispose();
        GC.KeepAlive(this);
    }

    private readonly ref struct Entry(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value) : IEntryToLoad
    {
        private readonly ReadOnlySpan<byte> _key = key;
        private readonly ReadOnlySpan<byte> _value = value;

        public bool TryMake(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
        {
            key = _key;
            value = _value;
            return true;
        }
    }
}
