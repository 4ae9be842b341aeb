using System.Diagnostics;
using Voron.Testing;

namespace Voron.Transactions;

/// <summary>
/// The group-commit operation that runs in the write transaction, and the trees that it has opened. Its handles end with it: a later operation
/// opens new ones.
/// </summary>
/// <remarks>Used by the holder of the writer.</remarks>
/// <param name="ended">Called when the handles of an operation have ended.</param>
internal sealed class GroupOperationTrees(Action ended)
{
    /// <summary>The maximum number of list entries whose memory is kept for the next transaction.</summary>
    private const int MaxKeptEntries = 1024;

    private readonly List<OpenTree> _trees = [];
    private long _last;
    private bool _isDisposed;

    /// <summary>The number of the operation; 0 when there is none. No two have the same number.</summary>
    public long Number { get; private set; }

    /// <summary>Begins an operation, with separate handles that end with it.</summary>
    public void Begin()
    {
        End();
        Debug.Assert(Number == 0, "An operation must begin after the last one has ended.");
        Number = ++_last;
        _isDisposed = false;
    }

    /// <summary>Ends the handles of an operation that has disposed of its transaction, so that the operation fails when it returns.</summary>
    /// <param name="number">The number of the operation. Nothing happens if it has ended.</param>
    public void Dispose(long number)
    {
        if (Number != number)
            return;
        _isDisposed = true;
        End();
    }

    /// <exception cref="InvalidOperationException">The operation that ran last has disposed of its transaction.</exception>
    public void ThrowIfDisposed()
    {
        if (_isDisposed)
        {
            throw new InvalidOperationException(
                "The operation disposed of its transaction, so its changes were undone. A group commit ends the transaction for all its operations: " +
                "an operation must not dispose of it. To undo an operation's changes, throw an exception, or roll back to a savepoint.");
        }
    }

    /// <summary>Ends the handles of the operation, including those of trees, cursors and streams. A later operation opens its own.</summary>
    public void End()
    {
        Number = 0;
        foreach (var tree in _trees)
            tree.EndOperation();
        foreach (var tree in PlantedFault.LetHandlesEscape ? [] : _trees)
            tree.EndHandles(isUndone: false);
        if (_trees.Count > 0)
            ended();
        _trees.Clear();
        if (_trees.Capacity > MaxKeptEntries)
            _trees.Capacity = 0;
    }

    /// <summary>Notes that the operation has opened a tree.</summary>
    /// <returns>The tree.</returns>
    public OpenTree Note(OpenTree tree)
    {
        if (Number != 0 && tree.Operation != Number)
        {
            tree.BeginOperation(Number);
            _trees.Add(tree);
        }

        return tree;
    }
}
