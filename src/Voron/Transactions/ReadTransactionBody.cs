using System.Diagnostics;
using Voron.Format;
using Voron.Snapshots;
using Voron.Testing;
using Voron.Trees;
using Voron.Trees.Kinds;

namespace Voron.Transactions;

/// <summary>A read transaction behind its handles. Its finalizer notices when an open transaction is no longer referenced.</summary>
internal sealed class ReadTransactionBody : TransactionBody
{
    private readonly Action<ReadTransactionBody> _ended;
    private readonly Action<SnapshotPages, StackTrace?> _leaked;
    private readonly Func<ReadTransactionBody, long, ReadTransactionBody> _fork;
    private readonly SnapshotPages _snapshot;
    private readonly ReadingEngine _engine;
    private StackTrace? _openedAt;
    private int _thread;

    // The generation that is open, or 0: the thread that changes it to 0 ends the transaction.
    private long _open;

    /// <param name="snapshot">The snapshot, which the body keeps for life.</param>
    /// <param name="ended">Called when a transaction has ended; the body may be in use again when it returns.</param>
    /// <param name="leaked">Called by the finalizer when a transaction was never ended.</param>
    /// <param name="fork">Begins a transaction on the snapshot of one that is open in a given generation.</param>
    /// <param name="engine">The environment.</param>
    public ReadTransactionBody(
        SnapshotPages snapshot, Action<ReadTransactionBody> ended, Action<SnapshotPages, StackTrace?> leaked,
        Func<ReadTransactionBody, long, ReadTransactionBody> fork, ReadingEngine engine)
        : base(snapshot, snapshot.KeyHeads, write: null, savedTrees: null, engine.Options.TimeProvider)
    {
        _engine = engine;
        _ended = ended;
        _leaked = leaked;
        _fork = fork;
        _snapshot = snapshot;
    }

    ~ReadTransactionBody()
    {
        // Nothing reachable can use the snapshot any more. While the snapshot is open, the memory that it reads remains.
        if (Interlocked.Exchange(ref _open, 0) != 0)
            _leaked(_snapshot, _openedAt);
    }

    public SnapshotPages Snapshot => _snapshot;

    public void Begin(StackTrace? openedAt)
    {
        Debug.Assert(Volatile.Read(ref _open) == 0, "The last transaction must have ended before another one begins.");
        _openedAt = openedAt;
        _thread = Environment.CurrentManagedThreadId;
        SetShared(false);
        _snapshot.Begin(openedAt, _thread);
        Open();
    }

    /// <summary>Begins on the snapshot of another transaction.</summary>
    /// <param name="source">The body of the other transaction, which may end at any moment.</param>
    /// <param name="generation">The generation of the other transaction's handle.</param>
    /// <param name="openedAt">Where this transaction is begun, if that is recorded.</param>
    /// <exception cref="ObjectDisposedException">The other transaction has ended.</exception>
    public void BeginFork(ReadTransactionBody source, long generation, StackTrace? openedAt)
    {
        Debug.Assert(Volatile.Read(ref _open) == 0, "The last transaction must have ended before another one begins.");
        _openedAt = openedAt;
        _thread = Environment.CurrentManagedThreadId;
        SetShared(false);
        _snapshot.BeginFork(source._snapshot, openedAt, _thread);

        // The other transaction releases its slot only after it has given up its generation here.
        source.ThrowIfNotOpen(PlantedFault.ForkUnchecked ? source._open : generation);
        _snapshot.ConfirmFork();
        Open();
    }

    /// <summary>Begins another transaction on this one's snapshot. Any thread may call this, whatever other threads do in this one.</summary>
    /// <exception cref="ObjectDisposedException">The transaction of that generation has ended, or the environment is closed.</exception>
    public ReadTransactionBody Fork(long generation)
    {
        ThrowIfNotOpen(generation);
        return _fork(this, generation);
    }

    private void ThrowIfNotOpen(long generation)
    {
        if (Volatile.Read(ref _open) != generation)
            ThrowEnded();
    }

    private void Open()
    {
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

        // A call that enters from here on checks the generation after setting its mark, and throws. An earlier call is waited for, because its
        // pages are released with the snapshot. It runs on another thread, in a transaction that is being disposed: a caller's mistake that must
        // not end the process. The mark is a plain store, so only a process-wide barrier guarantees that it is seen; its cost is paid only if a
        // second thread has been seen. One thread can be missed, for as long as a store takes to reach another CPU core: a thread that received a
        // tree from here and has only looked up keys.
        var spin = default(SpinWait);
        while (!TryBeBusy())
            spin.SpinOnce();
        CloseHandles();
        if (IsShared || _thread != Environment.CurrentManagedThreadId)
            Interlocked.MemoryBarrierProcessWide();
        else
            Interlocked.MemoryBarrier();
        while (IsInside || IsDescribed)
            spin.SpinOnce();
        EndTrees();
        _snapshot.End();
        NoLongerBusy();
        _ended(this);
    }

    public override bool EnterAlone()
    {
        if (_thread != Environment.CurrentManagedThreadId)
            SetShared(true);
        return base.EnterAlone();
    }

    /// <summary>Makes the snapshot durable, if it contains lazy commits that are not.</summary>
    /// <exception cref="EnvironmentPoisonedException">A write failed, now or earlier.</exception>
    public void MakeDurable(long generation)
    {
        ThrowIfEnded(generation);
        long sequence;
        var mark = EnterAlone();
        try
        {
            ThrowIfEnded(generation);
            sequence = _snapshot.Sequence;
        }
        finally
        {
            LeaveAlone(mark);
        }

        _engine.MakeDurable(sequence);
    }

    /// <summary>Opens a tree, or returns null if none has that name.</summary>
    /// <param name="generation">The generation of the transaction's handle.</param>
    /// <param name="name">The name in UTF-8.</param>
    /// <param name="kind">The kind of the tree; null for any kind.</param>
    /// <param name="treeGeneration">The generation for the tree's handle, read while the transaction cannot end.</param>
    /// <exception cref="InvalidOperationException">
    /// The tree is of another kind, or another thread is opening a tree in the same transaction.
    /// </exception>
    public OpenTree? OpenTree(long generation, ReadOnlySpan<byte> name, TreeKind? kind, out long treeGeneration)
    {
        ThrowIfEnded(generation);
        var mark = EnterAlone();
        try
        {
            ThrowIfEnded(generation);
            var open = FindOpen(name);
            if (open == null && Trees.Catalog.TryFind(Catalog, Pages, name, out var header))
                open = Add(name, header);
            if (kind is { } wanted)
                open?.ThrowUnless(wanted);
            if (open is { LargeSets: null } && TreeKinds.Of(open.StateAsIs.Kind).HasCompanion)
                OpenLargeSets(open);
            treeGeneration = open?.Generation ?? 0;
            return open;
        }
        finally
        {
            LeaveAlone(mark);
        }
    }

    // A companion is opened and closed with its tree.
    private void OpenLargeSets(OpenTree tree)
    {
        var name = SystemTree.LargeSetsName(tree.StateAsIs.TreeId, stackalloc byte[SystemTree.LargeSetsNameBytes]);
        var large = FindOpen(name);
        if (large == null && Trees.Catalog.TryFind(Catalog, Pages, name, out var header))
            large = Add(name, header);
        tree.LargeSets = large is { StateAsIs.Kind: TreeKind.Plain } ? large : null;
    }
}
