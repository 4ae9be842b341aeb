using System.Diagnostics;
using Voron.Snapshots;

namespace Voron.Transactions;

/// <summary>Keeps read transactions for reuse, so that beginning one allocates nothing in the steady state.</summary>
internal sealed class ReaderPool
{
    private readonly ReadTransactionBody?[] _pool = new ReadTransactionBody?[64];
    private readonly ReadingEngine _engine;
    private readonly Action<long, StackTrace?> _leaked;
    private readonly Action<ReadTransactionBody> _return;
    private readonly Action<ReadTransactionBody> _retire;
    private readonly Action<SnapshotPages, StackTrace?> _release;
    private readonly Func<ReadTransactionBody, long, ReadTransactionBody> _fork;

    /// <param name="leaked">Called with the snapshot's id, and with the place where it was opened, when a transaction was never disposed.</param>
    public ReaderPool(ReadingEngine engine, Action<long, StackTrace?> leaked)
    {
        _engine = engine;
        _leaked = leaked;
        _return = Return;
        _retire = Retire;
        _release = Leaked;
        _fork = (source, generation) => Rent(source, generation, verifiesEveryRead: false);
    }

    /// <summary>Begins a transaction.</summary>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    public ReadTransactionBody Rent() => Rent(source: null, generation: 0, verifiesEveryRead: false);

    /// <summary>Begins a transaction that verifies each page of the data file each time it is read.</summary>
    /// <inheritdoc cref="Rent()"/>
    public ReadTransactionBody RentVerifying() => Rent(source: null, generation: 0, verifiesEveryRead: true);

    /// <param name="source">The transaction whose snapshot to use; null for the newest one.</param>
    /// <param name="generation">The generation of that transaction's handle.</param>
    /// <param name="verifiesEveryRead">True for a transaction that neither comes from the pool nor returns to it.</param>
    private ReadTransactionBody Rent(ReadTransactionBody? source, long generation, bool verifiesEveryRead)
    {
        _engine.Users.AddReader();
        SnapshotPages? snapshot = null;
        try
        {
            var body = verifiesEveryRead ? null : TakePooled();
            snapshot = body?.Snapshot ?? new SnapshotPages(_engine.Snapshots, verifiesEveryRead: verifiesEveryRead);
            body ??= new ReadTransactionBody(
                snapshot, verifiesEveryRead ? _retire : _return, _release, _fork, _engine);
            var openedAt = _engine.Options.CaptureTransactionStacks ? new StackTrace(1, fNeedFileInfo: false) : null;
            if (source == null)
                body.Begin(openedAt);
            else
                body.BeginFork(source, generation, openedAt);
            return body;
        }
        catch
        {
            // A snapshot has a slot from its creation on, and may already have been registered.
            snapshot?.End();
            snapshot?.Retire();
            _engine.Users.RemoveReader();
            throw;
        }
    }

    /// <summary>Drops the pooled transactions. Called when the last user of the environment has ended.</summary>
    public void Forget()
    {
        foreach (var pooled in _pool)
            pooled?.Snapshot.Unpacker.Arena.Free();
        Array.Clear(_pool);
    }

    private ReadTransactionBody? TakePooled()
    {
        ReadTransactionBody? body = null;
        for (var i = 0; i < _pool.Length && body == null; i++)
        {
            if (_pool[i] != null)
                body = Interlocked.Exchange(ref _pool[i], null);
        }

        return body;
    }

    private void Return(ReadTransactionBody body)
    {
        // A pooled transaction must not keep user objects alive.
        if (body.Snapshot.Attached != null)
            body.Snapshot.ForgetAttached();
        for (var i = 0; i < _pool.Length; i++)
        {
            if (_pool[i] == null && Interlocked.CompareExchange(ref _pool[i], body, null) == null)
            {
                _engine.Users.RemoveReader();
                return;
            }
        }

        Retire(body);
    }

    private void Retire(ReadTransactionBody body)
    {
        body.Snapshot.Retire();
        _engine.Users.RemoveReader();
    }

    /// <summary>Called by a finalizer: releases the snapshot on the thread pool, after a while.</summary>
    /// <remarks>
    /// No handle refers to the transaction any more, and no call is inside it, because a call keeps it reachable. A span of a value may still be
    /// in use on some stack, which no reference shows; hence the delay. The finalizer does not release the snapshot itself: an exception from a
    /// finalizer would end the process, and the user's logger may throw.
    /// </remarks>
    private void Leaked(SnapshotPages snapshot, StackTrace? openedAt)
    {
        try
        {
            _ = Task.Delay(_engine.Options.LeakGrace).ContinueWith(
                _ => ReleaseLeaked(snapshot, openedAt), CancellationToken.None, TaskContinuationOptions.None, TaskScheduler.Default);
        }
        catch (OutOfMemoryException)
        {
            // The snapshot stays registered.
        }
    }

    private void ReleaseLeaked(SnapshotPages snapshot, StackTrace? openedAt)
    {
        var id = snapshot.Id;
        snapshot.End();
        snapshot.Retire();
        _engine.Users.RemoveReader();
        _leaked(id, openedAt);
    }
}
