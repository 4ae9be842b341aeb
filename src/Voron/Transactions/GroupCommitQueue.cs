using System.Diagnostics;
using Voron.Primitives;

namespace Voron.Transactions;

/// <summary>The operations that wait for a group commit, in the order of their calls.</summary>
/// <remarks>
/// The lock guards the queue, and the leadership of the <see cref="GroupCommit"/>, which depends on whether the queue is empty. Under it, no
/// foreign code is called, and no lock is taken except that of a completion.
/// </remarks>
internal sealed class GroupCommitQueue
{
    private readonly Lock _lock = new();
    private GroupCommitOperation? _head;
    private GroupCommitOperation? _tail;
    private int _count;
    private int _boundedCount;

    /// <summary>The number of operations that wait to be started.</summary>
    public int Count => Volatile.Read(ref _count);

    /// <summary>The number of those that count towards the bound: there are no more blocking callers than threads, so these do not.</summary>
    public int BoundedCount => Volatile.Read(ref _boundedCount);

    /// <summary>The next operation, or null. Used by the holder of the lock.</summary>
    public GroupCommitOperation? Head
    {
        get
        {
            AssertHeld();
            return _head;
        }
    }

    /// <summary>Takes the lock, until the result is disposed.</summary>
    public Uninterrupted.LockScope Hold() => Uninterrupted.Hold(_lock);

    /// <summary>In debug builds, asserts that this thread holds the lock.</summary>
    [Conditional("DEBUG")]
    public void AssertHeld() => Debug.Assert(_lock.IsHeldByCurrentThread, "The lock of the group commit's queue must be held by this thread.");

    /// <summary>Adds an operation at the end. Used by the holder of the lock.</summary>
    public void Append(GroupCommitOperation operation)
    {
        AssertHeld();
        Debug.Assert(!operation.IsInQueue, "An operation must be queued only once.");
        operation.Ahead = _tail;
        operation.Behind = null;
        if (_tail == null)
            _head = operation;
        else
            _tail.Behind = operation;
        _tail = operation;
        Note(operation, 1);
    }

    /// <summary>Removes an operation from the queue, if it is in it.</summary>
    public void Remove(GroupCommitOperation operation)
    {
        using (Hold())
        {
            if (operation.IsInQueue)
                Unlink(operation);
        }
    }

    /// <summary>Removes and returns the next operation that its caller has not cancelled, or null. Called by the leader.</summary>
    public GroupCommitOperation? Dequeue()
    {
        while (true)
        {
            GroupCommitOperation? next;
            using (Hold())
            {
                next = _head;
                if (next == null)
                    return null;
                Unlink(next);
            }

            if (next.TryStart())
                return next;
        }
    }

    /// <summary>Puts an operation that was undone back at the head of the queue. Called by the leader.</summary>
    public void PutBack(GroupCommitOperation operation)
    {
        if (!operation.TryUndoStart())
            return;
        using (Hold())
        {
            Debug.Assert(!operation.IsInQueue, "An operation that was started must have left the queue.");
            operation.Ahead = null;
            operation.Behind = _head;
            if (_head == null)
                _tail = operation;
            else
                _head.Ahead = operation;
            _head = operation;
            Note(operation, 1);
        }
    }

    private void Unlink(GroupCommitOperation operation)
    {
        AssertHeld();
        Debug.Assert(operation.IsInQueue, "Only an operation in the queue can leave it.");
        if (operation.Ahead == null)
            _head = operation.Behind;
        else
            operation.Ahead.Behind = operation.Behind;
        if (operation.Behind == null)
            _tail = operation.Ahead;
        else
            operation.Behind.Ahead = operation.Ahead;
        operation.Ahead = operation.Behind = null;
        Note(operation, -1);
    }

    private void Note(GroupCommitOperation operation, int difference)
    {
        operation.IsInQueue = difference > 0;
        _count += difference;
        if (!operation.IsBlocking)
            _boundedCount += difference;
        Debug.Assert(_count >= _boundedCount && _boundedCount >= 0, "Operations must be counted as often as they leave the queue.");
        Debug.Assert((_count == 0) == (_head == null), "The queue must be empty when it counts no operations.");
    }
}
