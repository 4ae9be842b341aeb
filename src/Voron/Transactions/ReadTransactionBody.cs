using System.Diagnostics;
using Voron.Snapshots;
using Voron.Trees;

namespace Voron.Transactions;

/// <summary>A read transaction behind its handles. Its finalizer notices when an open transaction is no longer referenced.</summary>
internal sealed class ReadTransactionBody : TransactionBody
{
    private readonly ReaderPool _pool;
    private readonly SnapshotPages _snapshot;
    private StackTrace? _openedAt;
    private int _thread;
    // The generation that is open, or 0: the thread that changes it to 0 ends the transaction.
    private long _open;

    public ReadTransactionBody(ReaderPool pool, SnapshotPages snapshot)
        : base(snapshot, snapshot.KeyHeads, write: null, log: null)
    {
        _pool = pool;
        _snapshot = snapshot;
    }

    ~ReadTransactionBody()
    {
        // Nothing reachable can use the snapshot any more. While the snapshot is open, the memory that it reads remains.
        if (Interlocked.Exchange(ref _open, 0) != 0)
            _pool.Leaked(_snapshot, _openedAt);
    }

    public SnapshotPages Snapshot => _snapshot;

    public void Begin(StackTrace? openedAt)
    {
        _openedAt = openedAt;
        _thread = Environment.CurrentManagedThreadId;
        SetShared(false);
        _snapshot.Begin(openedAt, _thread);
        BeginGeneration(_snapshot.State.Catalog);
        Volatile.Write(ref _open, Generation);
    }

    /// <summary>Ends the transaction of that generation; later calls do nothing.</summary>
    /// <exception cref="InvalidOperationException">Another thread is reading in it; it stays open.</exception>
    public void End(long generation)
    {
        if (Volatile.Read(ref _open) != generation)
            return;
        if (IsInside)
            ThrowTwoThreads();
        if (Interlocked.CompareExchange(ref _open, 0, generation) != generation)
            return;

        // A call that enters from here on checks the generation after setting its mark, and throws. A call that has entered before is waited for,
        // since its pages go with the snapshot. It comes from another thread, in a transaction that is being disposed: a mistake of the caller
        // that must not end the process. The mark is a plain store, so a process-wide barrier is needed to be sure of seeing it; its cost is
        // paid only where a second thread has been seen. One thread is missed, for as long as a store takes to reach another CPU core: a
        // thread that was given a tree here and has done nothing but look up keys.
        var spin = default(SpinWait);
        while (!TryBeBusy())
            spin.SpinOnce();
        CloseHandles();
        if (IsShared || _thread != Environment.CurrentManagedThreadId)
            Interlocked.MemoryBarrierProcessWide();
        else
            Interlocked.MemoryBarrier();
        while (IsInside)
            spin.SpinOnce();
        EndTrees();
        _snapshot.End();
        NoLongerBusy();
        _pool.Return(this);
    }

    public override bool EnterAlone()
    {
        if (_thread != Environment.CurrentManagedThreadId)
            SetShared(true);
        return base.EnterAlone();
    }

    /// <summary>Opens a tree, or returns null when there is none of that name.</summary>
    /// <exception cref="InvalidOperationException">Another thread is opening a tree in the same transaction.</exception>
    public OpenTree? OpenTree(long generation, ReadOnlySpan<byte> name)
    {
        ThrowIfEnded(generation);
        var mark = EnterAlone();
        try
        {
            ThrowIfEnded(generation);
            var open = FindOpen(name);
            if (open != null)
                return open;
            return Trees.Catalog.TryFind(Catalog, Pages, name, out var header) ? Add(name, header) : null;
        }
        finally
        {
            LeaveAlone(mark);
        }
    }
}

/// <summary>Keeps read transactions for reuse, so that beginning one allocates nothing in the steady state.</summary>
internal sealed class ReaderPool
{
    private readonly ReadTransactionBody?[] _pool = new ReadTransactionBody?[64];
    private readonly Engine _context;
    private readonly Action<long, StackTrace?> _leaked;

    /// <param name="leaked">Called with the snapshot's id, and with the place where it was opened, when a transaction was never disposed.</param>
    public ReaderPool(Engine context, Action<long, StackTrace?> leaked)
    {
        _context = context;
        _leaked = leaked;
    }

    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    public ReadTransactionBody Rent()
    {
        _context.Users.AddReader();
        ReadTransactionBody? body = null;
        try
        {
            for (var i = 0; i < _pool.Length && body == null; i++)
            {
                if (_pool[i] != null)
                    body = Interlocked.Exchange(ref _pool[i], null);
            }

            body ??= new ReadTransactionBody(this, new SnapshotPages(_context.Snapshots));
            body.Begin(_context.Options.CaptureTransactionStacks ? new StackTrace(1, fNeedFileInfo: false) : null);
            return body;
        }
        catch
        {
            // The snapshot may already have been registered; without a body there is no slot, and nothing can have been registered.
            body?.Snapshot.End();
            body?.Snapshot.Retire();
            _context.Users.RemoveReader();
            throw;
        }
    }

    public void Return(ReadTransactionBody body)
    {
        for (var i = 0; i < _pool.Length; i++)
        {
            if (_pool[i] == null && Interlocked.CompareExchange(ref _pool[i], body, null) == null)
            {
                _context.Users.RemoveReader();
                return;
            }
        }

        body.Snapshot.Retire();
        _context.Users.RemoveReader();
    }

    /// <summary>Called by a finalizer: releases the snapshot on the thread pool, after a while.</summary>
    /// <remarks>
    /// No handle leads to the transaction any more, and no call is inside it, because a call keeps it reachable. A span of a value may still be
    /// in use on some stack, which no reference shows; hence the delay. The finalizer does not release the snapshot itself: an exception from a
    /// finalizer would end the process, and the user's logger may throw.
    /// </remarks>
    public void Leaked(SnapshotPages snapshot, StackTrace? openedAt)
    {
        try
        {
            _ = Task.Delay(_context.Options.LeakGrace).ContinueWith(
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
        _context.Users.RemoveReader();
        _leaked(id, openedAt);
    }
}
