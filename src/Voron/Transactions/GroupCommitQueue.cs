using Voron.Primitives;

namespace Voron.Transactions;

/// <summary>The operations that wait for a group commit, in the order of their calls.</summary>
/// <remarks>
/// The lock guards the queue, and the leadership of the <see cref="GroupCommit"/>, which depends on whether the queue is empty. Nothing is called
/// under it.
/// </remarks>
internal sealed class GroupCommitQueue
{
    private readonly Lock _lock = new();
    private GroupCommitOperation? _tail;
    private int _count;
    private int _boundedCount;

    /// <summary>The number of operations that wait to be started.</summary>
    public int Count => Volatile.Read(ref _count);

    /// <summary>The number of those that count towards the bound: there are no more blocking callers than threads, so these do not.</summary>
    public int BoundedCount => Volatile.Read(ref _boundedCount);

    /// <summary>The next operation, or null. Used by the holder of the lock.</summary>
    public GroupCommitOperation? Head { get; private set; }

    /// <summary>Takes the lock, until the result is disposed.</summary>
    public Uninterrupted.LockScope Hold() => Uninterrupted.Hold(_lock);

    /// <summary>Adds an operation at the end. Used by the holder of the lock.</summary>
    public void Append(GroupCommitOperation operation)
    {
        operation.Ahead = _tail;
        operation.Behind = null;
        if (_tail == null)
            Head = operation;
        else
            _tail.Behind = operation;
        _tail = operation;
        Note(operation, 1);
    }

    /// <summary>Removes an operation from the queue, if it is there.</summary>
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
                next = Head;
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
            operation.Ahead = null;
            operation.Behind = Head;
            if (Head == null)
                _tail = operation;
            else
                Head.Ahead = operation;
            Head = operation;
            Note(operation, 1);
        }
    }

    private void Unlink(GroupCommitOperation operation)
    {
        if (operation.Ahead == null)
            Head = operation.Behind;
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
    }
}
