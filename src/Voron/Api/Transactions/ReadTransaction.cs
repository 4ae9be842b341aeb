using System.Diagnostics.CodeAnalysis;
using Voron.Format;
using Voron.Primitives;
using Voron.Transactions;
using Voron.Trees;
using Voron.Trees.Pages;

namespace Voron;

/// <summary>
/// A snapshot of the environment: it sees everything committed before it began, and nothing after. It takes no lock and never waits, and no other
/// transaction waits for it.
/// </summary>
/// <remarks>
/// A handle that can be copied freely; dispose of one of the copies. It may be passed from thread to thread. For concurrent use, each thread should
/// begin its own transaction, or use a <see cref="Fork"/>. Spans read through it are valid until it is disposed. A transaction that stays open for
/// long makes the environment keep old versions of pages. Any call that reads a damaged page throws a <see cref="CorruptionException"/>.
/// </remarks>
public readonly partial struct ReadTransaction : IDisposable
{
    private readonly ReadTransactionBody _body;
    private readonly long _generation;

    internal ReadTransaction(ReadTransactionBody body)
    {
        _body = body;
        _generation = body.Generation;
    }

    /// <summary>The id of the newest transaction that this snapshot sees.</summary>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public long TransactionId
    {
        get
        {
            Body.ThrowIfEnded(_generation);
            return _body.Snapshot.Id;
        }
    }

    /// <inheritdoc cref="ReadTransactionBody.MakeDurable"/>
    internal void MakeDurable() => Body.MakeDurable(_generation);

    internal ReadTransactionBody Body
    {
        get
        {
            if (_body == null)
                EndedErrors.ThrowDefault("read transaction", nameof(StorageEnvironment.BeginRead));
            return _body;
        }
    }

    /// <summary>Opens a tree.</summary>
    /// <exception cref="KeyNotFoundException">There is no tree of that name in this snapshot.</exception>
    /// <exception cref="ArgumentException">The name is empty, has more than 255 bytes in UTF-8, or is not valid text.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    /// <exception cref="InvalidOperationException">
    /// The tree is of another kind, or another thread is opening a tree in the same transaction.
    /// </exception>
    public Tree OpenTree(string name) => TryOpenTree(name, out var tree) ? tree : throw TreeNames.Missing(_body, name);

    /// <summary>Opens a tree; false when there is none of that name in this snapshot.</summary>
    /// <exception cref="ArgumentException">The name is empty, has more than 255 bytes in UTF-8, or is not valid text.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    /// <exception cref="InvalidOperationException">
    /// The tree is of another kind, or another thread is opening a tree in the same transaction.
    /// </exception>
    public bool TryOpenTree(string name, out Tree tree)
    {
        Span<byte> buffer = stackalloc byte[TreeLimits.MaxNameBytes];
        return TryFindTree(Catalog.Encode(name, buffer), out tree);
    }

    /// <summary>Returns the size of a tree of any kind, and its header.</summary>
    /// <inheritdoc cref="OpenTree"/>
    internal TreeStatistics GetTreeStatistics(string name, out TreeHeader header)
    {
        Span<byte> buffer = stackalloc byte[TreeLimits.MaxNameBytes];
        var open = Body.OpenTree(_generation, Catalog.Encode(name, buffer), kind: null, out _) ?? throw TreeNames.Missing(_body, name);
        header = open.StateAsIs.ToHeader();
        return open.GetStatistics();
    }

    /// <summary>Returns the kind of a tree; null if there is no tree of that name.</summary>
    internal TreeKind? FindKind(string name)
    {
        Span<byte> buffer = stackalloc byte[TreeLimits.MaxNameBytes];
        return Body.OpenTree(_generation, Catalog.Encode(name, buffer), kind: null, out _)?.StateAsIs.Kind;
    }

    /// <summary>Returns the names of all trees, in the order of their UTF-8 bytes.</summary>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public IReadOnlyList<string> GetTreeNames()
    {
        Body.ThrowIfEnded(_generation);
        var mark = _body.Enter();
        try
        {
            _body.ThrowIfEnded(_generation);
            return TreeNames.List(_body);
        }
        finally
        {
            _body.Leave(mark);
        }
    }

    /// <summary>Returns the dropped trees that still have pages in this snapshot, ordered by id; none when all their pages are free.</summary>
    /// <remarks>Such a tree has lost its name, and <see cref="StorageEnvironment.DropTreeAsync"/> is freeing its pages in the background.</remarks>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    /// <exception cref="CorruptionException">The catalog is damaged.</exception>
    public IReadOnlyList<DroppedTreeStatistics> GetDroppedTrees()
    {
        Body.ThrowIfEnded(_generation);
        var mark = _body.Enter();
        try
        {
            _body.ThrowIfEnded(_generation);
            return TreeNames.ListDropped(_body);
        }
        finally
        {
            _body.Leave(mark);
        }
    }

    /// <summary>
    /// Gets the object that a write transaction has attached to the snapshot's state with <see cref="WriteTransaction.SetState"/>; false when there
    /// is none, for example after the environment has been opened. Allocates nothing.
    /// </summary>
    /// <remarks>
    /// Returns the object from the newest commit, up to the snapshot, that has set one. It stays the same while the transaction is open. Do not
    /// change the object, because other threads may use it too. It may be used after the transaction has ended, as a description of that snapshot.
    /// </remarks>
    /// <param name="key">The key with which it was attached.</param>
    /// <param name="state">The object; null if there is none.</param>
    /// <exception cref="ArgumentNullException">The key is null.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public bool TryGetState<T>(CommitStateKey<T> key, [NotNullWhen(true)] out T? state)
        where T : class
    {
        ArgumentNullException.ThrowIfNull(key);
        Body.ThrowIfEnded(_generation);
        var attached = _body.Snapshot.Attached;

        // Another thread may have ended the transaction meanwhile, and have begun the next one with the same body.
        _body.ThrowIfEnded(_generation);
        state = (T?)AttachedObjects.Find(attached, key);
        return state != null;
    }

    /// <summary>
    /// Begins another read transaction on the same snapshot, even if newer transactions have been committed since: for another thread, so that
    /// several threads read the same state.
    /// </summary>
    /// <remarks>
    /// The new transaction is independent of this one: it opens trees of its own, either may end first, and each must be disposed. Any thread may
    /// call this method, even while another one reads in this transaction or disposes of it; the call then either succeeds or throws an
    /// <see cref="ObjectDisposedException"/>. Each fork counts as an open reader. Its age, in reports about slow readers, is that of the snapshot.
    /// </remarks>
    /// <exception cref="ObjectDisposedException">The transaction has ended, or the environment is closed.</exception>
    /// <exception cref="InvalidOperationException">65,535 read transactions are open, the maximum for an environment.</exception>
    public ReadTransaction Fork() => new(Body.Fork(_generation));

    /// <summary>Ends the transaction. Does not wait for the device. Later calls do nothing.</summary>
    /// <exception cref="InvalidOperationException">Another thread is reading in it; it stays open.</exception>
    public void Dispose() => _body?.End(_generation);
}
