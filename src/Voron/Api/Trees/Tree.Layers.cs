using System.Runtime.CompilerServices;
using Voron.Recording;
using Voron.Transactions;
using Voron.Trees;

namespace Voron;

/// <content>What tables and feeds need of an open tree besides its entries.</content>
public readonly partial struct Tree
{
    /// <summary>An object that a layer above has attached to the open tree, which keeps it even as another tree in the next transaction.</summary>
    internal object? LayerObject => Opened.LayerObject;

    /// <summary>The id of the tree.</summary>
    internal uint TreeId => Opened.StateAsIs.TreeId;

    /// <summary>The size of a page in bytes.</summary>
    internal int PageSize => Opened.Owner.Pages.PageSize;

    /// <summary>True if no work must be done before the tree can be read. Does not check the handle.</summary>
    internal bool IsSettled => _tree.IsSettled;

    /// <summary>The number of changes of the tree since it was opened. Does not check the handle.</summary>
    internal long ChangeCount => _tree.StateAsIs.ChangeCount;

    /// <summary>True if a feed records the changes of the tree. Does not check the handle.</summary>
    internal bool IsRecorded => _tree.StateAsIs.IsRecorded;

    /// <summary>The number of rollbacks to savepoints; 0 in a read transaction. Does not check the handle.</summary>
    internal long RollbackCount => _tree.Owner.Write?.RollbackCount ?? 0;

    /// <summary>Returns whether both are handles of the same opening of the same tree.</summary>
    internal bool IsSame(in Tree other) => _tree == other._tree && _generation == other._generation;

    /// <exception cref="ObjectDisposedException">
    /// The transaction has ended, or was rolled back to a savepoint that is older than the handle.
    /// </exception>
    /// <exception cref="InvalidOperationException">The tree has been deleted in this transaction.</exception>
    internal void RequireOpen() => _ = Opened;

    /// <summary>Attaches a <see cref="LayerObject"/>.</summary>
    internal void Attach(object layerObject) => Opened.LayerObject = layerObject;

    /// <inheritdoc cref="OpenTree.Listen"/>
    internal void Listen(IEntryListener listener) => Opened.Listen(listener);

    /// <summary>Stops notifying a listener. Does not check the handle.</summary>
    internal void StopListening(IEntryListener listener) => _tree.StopListening(listener);

    /// <inheritdoc cref="OpenTree.NoteEntry"/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal void NoteEntry(ReadOnlySpan<byte> key, long id, bool wasThere) => Opened.NoteEntry(key, id, wasThere);

    /// <exception cref="InvalidOperationException">An operation of the transaction has failed midway.</exception>
    internal void ThrowIfBroken() => _tree.Owner.Write!.ThrowIfBroken();

    /// <inheritdoc cref="WriteContext.Break"/>
    internal bool Break(Exception cause) => _tree.Owner.Write!.Break(cause);

    /// <summary>Records that a row was inserted. If that fails, the caller breaks the transaction.</summary>
    /// <param name="key">The primary key.</param>
    /// <param name="row">The row.</param>
    /// <inheritdoc cref="ChangeRecorder.RecordRow"/>
    internal void RecordInsert(ReadOnlySpan<byte> key, ReadOnlySpan<byte> row) => Record(RecordedOperation.Insert, key, default, row);

    /// <summary>Records that a row was replaced. If that fails, the caller breaks the transaction.</summary>
    /// <inheritdoc cref="ChangeRecorder.RecordRow"/>
    internal void RecordUpdate(ReadOnlySpan<byte> key, ReadOnlySpan<byte> old, ReadOnlySpan<byte> row) =>
        Record(RecordedOperation.Update, key, old, row);

    /// <summary>Records that a row was deleted. If that fails, the caller breaks the transaction.</summary>
    /// <param name="key">The primary key.</param>
    /// <param name="old">The row.</param>
    /// <inheritdoc cref="ChangeRecorder.RecordRow"/>
    internal void RecordDelete(ReadOnlySpan<byte> key, ReadOnlySpan<byte> old) => Record(RecordedOperation.Delete, key, old, default);

    private void Record(RecordedOperation operation, ReadOnlySpan<byte> key, ReadOnlySpan<byte> old, ReadOnlySpan<byte> row) =>
        _tree.Owner.Write!.Recorder.RecordRow(_tree, operation, key, old, row);
}
