using System.Diagnostics.CodeAnalysis;
using Voron.Transactions;
using Voron.Trees;
using Voron.Trees.Pages;

namespace Voron;

/// <summary>The only transaction that may write. If it is disposed without a commit, it is rolled back.</summary>
/// <remarks>
/// A handle that can be copied freely. It is not bound to a thread, but only one thread at a time may use it. A span that was read from a
/// tree of the transaction, or reserved, is valid until the transaction's next write.
/// </remarks>
public readonly struct WriteTransaction : IDisposable
{
    private readonly WriteTransactionBody _body;
    private readonly long _generation;
    private readonly long _operation;

    internal WriteTransaction(WriteTransactionBody body)
    {
        _body = body;
        _generation = body.Generation;
        _operation = body.Operation;
    }

    /// <summary>The id that the transaction will have when it is committed.</summary>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public long TransactionId => Body.WritePages.Id;

    internal WriteTransactionBody Body
    {
        get
        {
            var body = _body ?? throw new ObjectDisposedException(nameof(WriteTransaction), "The transaction was never begun. Use BeginWrite to begin one.");
            body.ThrowIfEnded(_generation);
            if (_operation != body.Operation)
                ThrowReturned();
            return body;
        }
    }

    /// <summary>Opens a tree, or creates it when there is none of that name.</summary>
    /// <exception cref="ArgumentException">The name is empty or has more than 255 bytes in UTF-8.</exception>
    public WriteTree CreateTree(string name)
    {
        Span<byte> buffer = stackalloc byte[TreeLimits.MaxNameBytes];
        return new WriteTree(Body.CreateTree(Catalog.Encode(name, buffer)));
    }

    /// <summary>Opens a tree.</summary>
    /// <exception cref="KeyNotFoundException">There is no tree of that name.</exception>
    /// <exception cref="ArgumentException">The name is empty or has more than 255 bytes in UTF-8.</exception>
    public WriteTree OpenTree(string name) => TryOpenTree(name, out var tree) ? tree : throw TreeNames.Missing(Body, name);

    /// <summary>Opens a tree; false when there is none of that name.</summary>
    public bool TryOpenTree(string name, out WriteTree tree)
    {
        Span<byte> buffer = stackalloc byte[TreeLimits.MaxNameBytes];
        var open = Body.OpenTree(Catalog.Encode(name, buffer));
        tree = open == null ? default : new WriteTree(open);
        return open != null;
    }

    /// <summary>Deletes a tree and frees its pages; false when there is none of that name.</summary>
    /// <exception cref="InvalidOperationException">A <c>PutAsync</c> into the tree has not completed.</exception>
    public bool DeleteTree(string name)
    {
        Span<byte> buffer = stackalloc byte[TreeLimits.MaxNameBytes];
        return Body.DeleteTree(Catalog.Encode(name, buffer));
    }

    /// <summary>Renames a tree; false when there is none of the old name. Open handles stay valid.</summary>
    /// <exception cref="ArgumentException">The new name is taken, empty or too long.</exception>
    public bool RenameTree(string name, string newName)
    {
        Span<byte> buffer = stackalloc byte[TreeLimits.MaxNameBytes];
        Span<byte> newBuffer = stackalloc byte[TreeLimits.MaxNameBytes];
        return Body.RenameTree(Catalog.Encode(name, buffer), Catalog.Encode(newName, newBuffer));
    }

    /// <summary>Returns the names of all trees, in the order of their UTF-8 bytes.</summary>
    public IReadOnlyList<string> GetTreeNames() => TreeNames.List(Body);

    /// <summary>Creates a savepoint, to which the transaction can be rolled back.</summary>
    /// <exception cref="InvalidOperationException">A <c>PutAsync</c> of the transaction has not completed.</exception>
    public Savepoint CreateSavepoint()
    {
        var body = Body;
        return new Savepoint(body, _generation, body.CreateSavepoint());
    }

    /// <summary>Begins a transaction inside this one. If it commits, its changes become part of this one; otherwise they are undone.</summary>
    /// <inheritdoc cref="CreateSavepoint"/>
    public NestedTransaction BeginNested()
    {
        var body = Body;
        return new NestedTransaction(new Savepoint(body, _generation, body.CreateSavepoint(isNested: true)));
    }

    /// <summary>
    /// Commits. On return, the changes are durable and visible to readers that begin from then on. If there are no changes, everything that
    /// the transaction has read is durable and visible.
    /// </summary>
    /// <exception cref="StorageFullException">There is no room; the transaction is rolled back, and the environment stays usable.</exception>
    /// <exception cref="InvalidOperationException">A <c>PutAsync</c> of the transaction has not completed; the transaction stays open.</exception>
    /// <exception cref="EnvironmentPoisonedException">A write failed; the outcome says whether the write had begun.</exception>
    /// <exception cref="InvalidOperationException">
    /// A <see cref="NestedTransaction"/> is open: commit or dispose it first. This transaction stays open.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended, or its environment was closed, which rolls it back.</exception>
    public void Commit()
    {
        var body = Body;
        ThrowInGroupCommit();
        try
        {
            var isSubmitted = false;
            body.Commit(notifiesObservers: true, ref isSubmitted);
        }
        finally
        {
            body.CallUser();
        }
    }

    /// <summary>
    /// Commits; the task completes when the changes are durable and visible to readers. The next write transaction may begin at once, on the
    /// changes of this one, whether or not they are durable. To have many commits under way, begin it without awaiting the task.
    /// </summary>
    /// <param name="cancellationToken">Checked before the commit begins. Later the commit cannot be undone; only the wait ends.</param>
    /// <inheritdoc cref="Commit"/>
    public ValueTask CommitAsync(CancellationToken cancellationToken = default)
    {
        var body = Body;
        ThrowInGroupCommit();
        cancellationToken.ThrowIfCancellationRequested();
        var task = body.CommitAsync();
        return cancellationToken.CanBeCanceled ? new ValueTask(task.AsTask().WaitAsync(cancellationToken)) : task;
    }

    /// <summary>Rolls back uncommitted changes, and ends a <c>PutAsync</c> that has not completed. Later calls do nothing.</summary>
    public void Dispose()
    {
        if (_body != null && _operation == 0 && _body.Generation == _generation)
            _body.Rollback();
    }

    private void ThrowInGroupCommit()
    {
        if (_operation != 0)
            throw new InvalidOperationException("A group-commit operation must not commit. The group commit commits all its operations together after they have returned.");
    }

    [DoesNotReturn]
    private static void ThrowReturned() => throw new ObjectDisposedException(
        nameof(WriteTransaction), "The operation that received this transaction has returned. An operation must use only the transaction that it receives.");
}
