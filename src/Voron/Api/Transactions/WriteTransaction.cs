using System.Diagnostics.CodeAnalysis;
using Voron.Format;
using Voron.Primitives;
using Voron.Transactions;
using Voron.Trees;
using Voron.Trees.Pages;

namespace Voron;

/// <summary>The write transaction. Only one can be open at a time. If it is disposed without a commit, it is rolled back.</summary>
/// <remarks>
/// A handle that can be copied freely. It is not bound to a thread, but only one thread at a time may use it. A span read from a tree of the
/// transaction, or reserved in it, is valid until the transaction's next write. After an operation has failed partway, for example with a
/// <see cref="StorageFullException"/>, the transaction can only be rolled back, as a whole or to a savepoint. Until then, changes, new savepoints and
/// the commit throw an <see cref="InvalidOperationException"/>. After the transaction has ended, calls other than <see cref="Dispose"/> and
/// <see cref="ToString"/> throw an <see cref="ObjectDisposedException"/>.
/// </remarks>
public readonly partial struct WriteTransaction : IDisposable
{
    private readonly WriteTransactionHandle _handle;

    internal WriteTransaction(WriteTransactionBody body) => _handle = new WriteTransactionHandle(body);

    /// <summary>The id that the transaction will have when it is committed.</summary>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public long TransactionId => Body.WritePages.Id;

    /// <summary>
    /// When the commit is acknowledged: by default, as set by the environment's <see cref="StorageOptions.Durability"/>. It can be changed before the
    /// commit. A group commit is lazy if all its operations are.
    /// </summary>
    /// <remarks>
    /// A lazy commit waits for the device only if an earlier transaction is being written, if many lazy commits are waiting to be written, or if its
    /// record is larger than 256 KiB. To make all previous commits durable, commit a durable transaction; it need not change anything.
    /// </remarks>
    /// <exception cref="ArgumentOutOfRangeException">The value is not defined.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public Durability Durability
    {
        get => Body.Durability;
        set
        {
            if (value is not (Durability.Durable or Durability.Lazy))
                throw new ArgumentOutOfRangeException(nameof(value), value, "A transaction is durable or lazy.");
            Body.Durability = value;
        }
    }

    internal bool IsDefault => _handle.IsDefault;

    internal WriteTransactionBody Body
    {
        get
        {
            if (_handle.IsDefault)
                EndedErrors.ThrowDefault("write transaction", nameof(StorageEnvironment.BeginWrite));
            return _handle.Body;
        }
    }

    /// <summary>Opens a tree, or creates it when there is none of that name.</summary>
    /// <exception cref="ArgumentException">The name is empty, has more than 255 bytes in UTF-8, or is not valid text.</exception>
    /// <exception cref="InvalidOperationException">There is a tree of that name, but of another kind.</exception>
    /// <exception cref="StorageFullException">There is no space left; the transaction can only be rolled back.</exception>
    public WriteTree CreateTree(string name)
    {
        Span<byte> buffer = stackalloc byte[TreeLimits.MaxNameBytes];
        return new WriteTree(Body.CreateTree(Catalog.Encode(name, buffer)));
    }

    /// <summary>Opens a tree.</summary>
    /// <exception cref="KeyNotFoundException">There is no tree of that name.</exception>
    /// <exception cref="ArgumentException">The name is empty, has more than 255 bytes in UTF-8, or is not valid text.</exception>
    /// <exception cref="InvalidOperationException">The tree is of another kind.</exception>
    public WriteTree OpenTree(string name) => TryOpenTree(name, out var tree) ? tree : throw TreeNames.Missing(Body, name);

    /// <summary>Opens a tree; false when there is none of that name.</summary>
    /// <exception cref="ArgumentException">The name is empty, has more than 255 bytes in UTF-8, or is not valid text.</exception>
    /// <exception cref="InvalidOperationException">The tree is of another kind.</exception>
    public bool TryOpenTree(string name, out WriteTree tree)
    {
        Span<byte> buffer = stackalloc byte[TreeLimits.MaxNameBytes];
        var open = Body.OpenTree(Catalog.Encode(name, buffer), TreeKind.Plain);
        tree = open == null ? default : new WriteTree(open);
        return open != null;
    }

    /// <summary>Deletes a tree and frees its pages; false when there is none of that name.</summary>
    /// <remarks>
    /// Takes 80 bytes of memory for each page until the changes are flushed, and about a millisecond for a few thousand pages. For large trees,
    /// <see cref="StorageEnvironment.DropTreeAsync"/> works in steps.
    /// </remarks>
    /// <exception cref="ArgumentException">The name is empty, has more than 255 bytes in UTF-8, or is not valid text.</exception>
    /// <exception cref="InvalidOperationException">
    /// A <c>PutAsync</c> into the tree has not completed, or a <see cref="ValueWriter"/> for the tree is open.
    /// </exception>
    /// <exception cref="StorageFullException">There is no space left; the transaction can only be rolled back.</exception>
    /// <exception cref="CorruptionException">A page is damaged; the transaction can only be rolled back.</exception>
    public bool DeleteTree(string name)
    {
        Span<byte> buffer = stackalloc byte[TreeLimits.MaxNameBytes];
        return Body.DeleteTree(Catalog.Encode(name, buffer));
    }

    /// <summary>Renames a tree; false when there is none of the old name. Open handles stay valid.</summary>
    /// <exception cref="ArgumentException">
    /// A name is empty, has more than 255 bytes in UTF-8, or is not valid text; or the new name is taken.
    /// </exception>
    public bool RenameTree(string name, string newName)
    {
        Span<byte> buffer = stackalloc byte[TreeLimits.MaxNameBytes];
        Span<byte> newBuffer = stackalloc byte[TreeLimits.MaxNameBytes];
        return Body.RenameTree(Catalog.Encode(name, buffer), Catalog.Encode(newName, newBuffer));
    }

    /// <summary>Returns the names of all trees, in the order of their UTF-8 bytes.</summary>
    public IReadOnlyList<string> GetTreeNames() => TreeNames.List(Body);

    /// <summary>
    /// Attaches an object to the state that the transaction produces, and replaces the previous object of the key. Intended for objects
    /// derived from the data, such as parsed schemas: a transaction that changes the data attaches the matching object, and a reader finds the
    /// object for its snapshot.
    /// </summary>
    /// <remarks>
    /// The object becomes visible to readers on commit, and stays attached to all later states until a transaction replaces or removes it. Each
    /// snapshot keeps its own object. A rollback of the transaction, of a savepoint, of a nested transaction or of a failed group-commit operation
    /// undoes the call.
    /// <para>
    /// The object must be a function of the committed data alone: it is never stored, and a newly opened environment has none. It must be immutable,
    /// because many threads read it concurrently. The environment does not dispose of it. The newest state and the snapshots that refer to it keep it
    /// alive. The slots of up to 63 earlier states also keep it alive until the environment trims its memory: about every 15 seconds in the
    /// background, or when it is closed if <see cref="StorageOptions.BackgroundFlush"/> is off.
    /// </para>
    /// <para>
    /// A transaction that changes nothing else is committed like any other, and its record takes one journal block. Setting the current object of the
    /// key again changes nothing.
    /// </para>
    /// </remarks>
    /// <param name="key">The key.</param>
    /// <param name="state">The object; null to remove the key's current object.</param>
    /// <exception cref="ArgumentNullException">The key is null.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    /// <exception cref="InvalidOperationException">
    /// An earlier operation has failed partway; the transaction can only be rolled back, as a whole or to a savepoint.
    /// </exception>
    public void SetState<T>(CommitStateKey<T> key, T? state)
        where T : class
    {
        ArgumentNullException.ThrowIfNull(key);
        Body.Context.SetState(key, state);
    }

    /// <summary>
    /// Gets the object that the transaction has attached with <see cref="SetState"/> or, if it has attached none, the object of the previous
    /// transaction, which, like that transaction's data, may not be durable yet. False when there is none.
    /// </summary>
    /// <param name="key">The key with which it was attached.</param>
    /// <param name="state">The object; null if there is none.</param>
    /// <exception cref="ArgumentNullException">The key is null.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public bool TryGetState<T>(CommitStateKey<T> key, [NotNullWhen(true)] out T? state)
        where T : class
    {
        ArgumentNullException.ThrowIfNull(key);
        state = (T?)AttachedObjects.Find(Body.Context.Attached, key);
        return state != null;
    }

    /// <summary>Creates a savepoint, to which the transaction can be rolled back.</summary>
    /// <exception cref="InvalidOperationException">
    /// A <c>PutAsync</c> of the transaction has not completed, a <see cref="ValueWriter"/> is open, or the transaction can only be rolled back.
    /// </exception>
    /// <exception cref="StorageFullException">There is not enough space for the waiting puts; the transaction can only be rolled back.</exception>
    public Savepoint CreateSavepoint()
    {
        var body = Body;
        return new Savepoint(_handle, body.CreateSavepoint());
    }

    /// <summary>Begins a transaction inside this one. If it commits, its changes become part of this one; otherwise they are undone.</summary>
    /// <inheritdoc cref="CreateSavepoint"/>
    public NestedTransaction BeginNested()
    {
        var body = Body;
        return new NestedTransaction(_handle, body.CreateSavepoint(isNested: true));
    }

    /// <summary>
    /// Commits. On return, the changes are durable and visible to readers that begin from then on. If there are no changes, everything that the
    /// transaction has read is durable and visible. If the <see cref="Durability"/> is lazy, all this is visible on return, and durable later.
    /// </summary>
    /// <exception cref="StorageFullException">There is no space left; the transaction is rolled back, and the environment stays usable.</exception>
    /// <exception cref="InvalidOperationException">
    /// A <c>PutAsync</c> of the transaction has not completed, or a <see cref="ValueWriter"/> is open. The transaction stays open.
    /// </exception>
    /// <exception cref="EnvironmentPoisonedException">
    /// A write failed; <see cref="EnvironmentPoisonedException.Outcome"/> shows whether the write had begun.
    /// </exception>
    /// <exception cref="InvalidOperationException">
    /// A <see cref="NestedTransaction"/> is open: commit or dispose of it first. Or the call was made in a group-commit operation. The
    /// transaction stays open.
    /// </exception>
    /// <exception cref="InvalidOperationException">
    /// An earlier operation failed partway, or the value of a waiting <see cref="WriteTree.Increment"/> does not have eight bytes. The
    /// transaction is rolled back.
    /// </exception>
    /// <exception cref="OverflowException">
    /// The result of a waiting increment is outside the range of a 64-bit integer; the transaction is rolled back.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended, or its environment was closed, which rolls it back.</exception>
    public void Commit()
    {
        var body = Body;
        ThrowInGroupCommit();
        if (EngineActivities.IsListening)
        {
            TracedCommit.Run(body);
            return;
        }

        try
        {
            var progress = default(CommitProgress);
            body.Commit(notifiesObservers: true, ref progress);
        }
        finally
        {
            body.CallUser();
        }
    }

    /// <summary>
    /// Commits. The task completes when the changes are durable and visible to readers, or visible if the transaction is lazy. The next write
    /// transaction may begin immediately, on the changes of this one, whether or not they are durable. To have many commits under way, begin it
    /// without awaiting the task.
    /// </summary>
    /// <param name="cancellationToken">Checked before the commit begins. Afterwards, the commit cannot be undone, and only the wait ends.</param>
    /// <inheritdoc cref="Commit"/>
    public ValueTask CommitAsync(CancellationToken cancellationToken = default)
    {
        var body = Body;
        ThrowInGroupCommit();
        cancellationToken.ThrowIfCancellationRequested();
        var progress = default(CommitProgress);
        var task = EngineActivities.IsListening ? TracedCommit.RunAsync(body) : body.CommitAsync(ref progress);
        return cancellationToken.CanBeCanceled ? new ValueTask(task.AsTask().WaitAsync(cancellationToken)) : task;
    }

    /// <summary>
    /// Rolls back uncommitted changes, and ends each <c>PutAsync</c> that has not completed and each open <see cref="ValueWriter"/>. Does not wait
    /// for the device. Later calls do nothing.
    /// </summary>
    /// <remarks>
    /// In an operation of <c>Write</c> or <c>WriteAsync</c>, which shares the transaction with others, this call ends the transaction for the
    /// operation alone. After the operation has returned, its changes are undone, and its caller gets an <see cref="InvalidOperationException"/>,
    /// unless the operation has thrown an exception of its own.
    /// </remarks>
    public void Dispose()
    {
        if (_handle.TransactionBody is not { } body)
            return;
        if (_handle.Operation == 0)
            body.Rollback();
        else
            body.Operations.Dispose(_handle.Operation);
    }

    private void ThrowInGroupCommit()
    {
        if (_handle.Operation != 0)
            throw new InvalidOperationException("A group-commit operation must not commit. The group commit commits all its operations together after they have returned.");
    }
}
