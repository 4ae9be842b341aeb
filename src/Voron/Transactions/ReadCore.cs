using Voron.Trees;

namespace Voron.Transactions;

/// <summary>A read transaction behind its handles. One that nobody refers to any more is noticed by its finalizer.</summary>
internal sealed class ReadCore : TransactionCore
{
    private readonly ReaderPool _pool;
    private readonly ReadSnapshot _snapshot;
    private int _busy;

    // The generation that is open, or 0: whoever changes it to 0 ends the transaction.
    private long _open;

    public ReadCore(ReaderPool pool, ReadSnapshot snapshot)
    {
        _pool = pool;
        _snapshot = snapshot;
    }

    ~ReadCore()
    {
        // Nothing reachable can use the snapshot any more. While it is open, the memory that it reads is there.
        if (Interlocked.Exchange(ref _open, 0) != 0)
            _pool.Leaked(_snapshot, OpenedAt);
    }

    public override PageReader Pages => _snapshot;

    public ReadSnapshot Snapshot => _snapshot;

    /// <summary>Where the transaction was opened, when readers are tracked.</summary>
    public string? OpenedAt { get; private set; }

    public void Begin(string? openedAt)
    {
        OpenedAt = openedAt;
        _snapshot.Begin();
        BeginGeneration(_snapshot.State.Catalog);
        Volatile.Write(ref _open, Generation);
    }

    /// <summary>Ends the transaction of that generation; later calls do nothing.</summary>
    public void End(long generation)
    {
        if (Interlocked.CompareExchange(ref _open, 0, generation) != generation)
            return;
        EndGeneration();
        _snapshot.End();
        _pool.Return(this);
    }

    /// <summary>Opens a tree, or returns null when there is none of that name.</summary>
    /// <exception cref="InvalidOperationException">Another thread is opening a tree in the same transaction.</exception>
    public OpenTree? OpenTree(long generation, ReadOnlySpan<byte> name)
    {
        ThrowIfEnded(generation);
        if (Interlocked.Exchange(ref _busy, 1) != 0)
            throw new InvalidOperationException("Two threads use the same read transaction at once: each needs one of its own.");
        try
        {
            var open = FindOpen(name);
            if (open != null)
                return open;
            return Trees.Catalog.TryFind(Catalog, Pages, name, out var header) ? Add(name, header) : null;
        }
        finally
        {
            Volatile.Write(ref _busy, 0);
        }
    }
}

/// <summary>Keeps read transactions for reuse, so that beginning one allocates nothing in the steady state.</summary>
internal sealed class ReaderPool
{
    private readonly ReadCore?[] _pool = new ReadCore?[64];
    private readonly EngineContext _context;
    private readonly Action<long, string?> _leaked;
    private readonly Action _released;

    // The environment itself counts as one, until it is closed.
    private int _users = 1;
    private volatile bool _closed;
    private int _isReleased;

    /// <param name="leaked">Told of the snapshot, and of where it was opened, when a transaction was never disposed.</param>
    /// <param name="released">Called once: the environment is closed and its last reader has ended.</param>
    public ReaderPool(EngineContext context, Action<long, string?> leaked, Action released)
    {
        _context = context;
        _leaked = leaked;
        _released = released;
    }

    /// <summary>Read transactions that are open.</summary>
    public int OpenCount => Volatile.Read(ref _users) - (_closed ? 0 : 1);

    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    public ReadCore Rent()
    {
        Interlocked.Increment(ref _users);
        if (_closed)
        {
            RemoveUser();
            throw new ObjectDisposedException(nameof(StorageEnvironment), $"The environment in '{_context.Disk.Path}' is closed.");
        }

        ReadCore? core = null;
        for (var i = 0; i < _pool.Length && core == null; i++)
        {
            if (_pool[i] != null)
                core = Interlocked.Exchange(ref _pool[i], null);
        }

        try
        {
            core ??= new ReadCore(this, new ReadSnapshot(_context));
        }
        catch
        {
            RemoveUser();
            throw;
        }

        core.Begin(_context.Options.TrackReaders ? Environment.StackTrace : null);
        return core;
    }

    public void Return(ReadCore core)
    {
        for (var i = 0; i < _pool.Length; i++)
        {
            if (_pool[i] == null && Interlocked.CompareExchange(ref _pool[i], core, null) == null)
            {
                RemoveUser();
                return;
            }
        }

        core.Snapshot.Retire();
        RemoveUser();
    }

    public void Leaked(ReadSnapshot snapshot, string? openedAt)
    {
        snapshot.End();
        snapshot.Retire();
        _leaked(snapshot.Id, openedAt);
        RemoveUser();
    }

    /// <summary>No more read transactions; what they use goes with the last of them.</summary>
    public void Close()
    {
        _closed = true;
        RemoveUser();
    }

    private void RemoveUser()
    {
        // Whoever comes after the last one, and is turned away, counts down to nothing once more.
        if (Interlocked.Decrement(ref _users) == 0 && _closed && Interlocked.Exchange(ref _isReleased, 1) == 0)
            _released();
    }
}
