namespace Voron.Trees.IdSets.Pages;

/// <summary>A query over sets of ids: a set, or an operation on other queries. It goes forward only.</summary>
/// <remarks>
/// In an intersection the query with the fewest ids leads, and the others seek what it has: they pass over the blocks in between without unpacking
/// them. In a union of more than a few queries, a heap has the query with the lowest id on top. A node is one of five kinds, told apart by a number
/// instead of a virtual call, since each id costs several calls.
/// </remarks>
internal sealed class IdQueryNode
{
    // In a union, no more queries than that are all asked for each id.
    private const int FewOperands = 8;

    private readonly Operation _operation;
    private readonly IdSetCursor? _set;
    private readonly IdQueryNode[] _operands;
    private readonly long _firstId;
    private readonly long _lastId;

    // The queries of a large union that are not over, by their current ids, once all of them have been asked.
    private readonly PriorityQueue<IdQueryNode, long>? _queue;
    private bool _isQueued;

    private bool _isStarted;
    private bool _isOver;

    // The current id was sought, and has not been filled into a buffer.
    private bool _isPending;

    /// <summary>A query for the ids of a set.</summary>
    /// <param name="set">The set; null for one without ids. Its place is that of the query.</param>
    public IdQueryNode(IdSetCursor? set)
    {
        _operation = Operation.Set;
        _set = set;
        _operands = [];
        MostIds = set?.Count ?? 0;
    }

    /// <summary>A query for the ids of a part of a set, each less the first one of the part.</summary>
    /// <param name="set">The set; null for one without ids. Its place is that of the query.</param>
    /// <param name="firstId">The lowest id.</param>
    /// <param name="lastId">The highest id.</param>
    public IdQueryNode(IdSetCursor? set, long firstId, long lastId)
        : this(set)
    {
        _operation = Operation.Part;
        _firstId = firstId;
        _lastId = lastId;
    }

    private IdQueryNode(Operation operation, IdQueryNode[] operands, long mostIds)
    {
        _operation = operation;
        _operands = operands;
        MostIds = mostIds;
        if (operation == Operation.Or && operands.Length > FewOperands)
            _queue = new PriorityQueue<IdQueryNode, long>(operands.Length);
        foreach (var operand in operands)
            Depth = Math.Max(Depth, operand.Depth + 1);
    }

    private enum Operation
    {
        Set,
        Part,
        And,
        Or,
        AndNot,
    }

    /// <summary>No more than that many ids can be found.</summary>
    public long MostIds { get; }

    /// <summary>The number of operations on the longest way to a set.</summary>
    public int Depth { get; }

    /// <summary>The id that was found last.</summary>
    public long Current { get; private set; }

    /// <summary>Returns a query for the ids that all queries find.</summary>
    /// <param name="queries">At least one query. Each belongs to this query from now on.</param>
    /// <exception cref="ArgumentException">There is no query: all ids there are would be found.</exception>
    public static IdQueryNode And(params ReadOnlySpan<IdQueryNode> queries)
    {
        if (queries.IsEmpty)
            throw new ArgumentException("An intersection must have at least one query.", nameof(queries));
        var operands = queries.ToArray();
        Array.Sort(operands, static (left, right) => left.MostIds.CompareTo(right.MostIds));
        return new IdQueryNode(Operation.And, operands, operands[0].MostIds);
    }

    /// <summary>Returns a query for the ids that at least one of the queries finds.</summary>
    /// <param name="queries">The queries. Each belongs to this query from now on.</param>
    public static IdQueryNode Or(params ReadOnlySpan<IdQueryNode> queries)
    {
        var most = 0L;
        foreach (var query in queries)
            most = most > long.MaxValue - query.MostIds ? long.MaxValue : most + query.MostIds;
        return new IdQueryNode(Operation.Or, queries.ToArray(), most);
    }

    /// <summary>Returns a query for the ids that one query finds, and the other one does not.</summary>
    public static IdQueryNode AndNot(IdQueryNode query, IdQueryNode without) => new(Operation.AndNot, [query, without], query.MostIds);

    /// <summary>Goes to the next id, or to the first one; returns false when there is none.</summary>
    /// <exception cref="CorruptionException">A page is damaged. The query stays where it was.</exception>
    public bool MoveNext()
    {
        _isPending = false;
        return _isStarted && Current == long.MaxValue ? End() : Advance(_isStarted ? Current + 1 : 0);
    }

    /// <summary>Goes to the first id that is not below one, and not before the current one; returns false when there is none.</summary>
    /// <inheritdoc cref="MoveNext"/>
    public bool Seek(long id) => _isPending = Advance(id);

    /// <summary>
    /// Copies ids, and goes to the last of them. The first one is the id that <see cref="Seek"/> has found, directly after it; otherwise the one
    /// behind the current id.
    /// </summary>
    /// <returns>The number of ids; 0 when there are no more.</returns>
    /// <exception cref="CorruptionException">A page is damaged. The query is where it was, since nothing says what has been copied.</exception>
    public int Fill(Span<long> ids)
    {
        var (isStarted, current, isPending) = (_isStarted, Current, _isPending);
        try
        {
            return FillOn(ids);
        }
        catch
        {
            Restart();
            (_isStarted, Current, _isPending) = (isStarted, current, isPending);
            throw;
        }
    }

    private int FillOn(Span<long> ids)
    {
        var filled = 0;
        if (_isPending && !ids.IsEmpty)
        {
            _isPending = false;
            ids[filled++] = Current;
        }

        while (filled < ids.Length && MoveNext())
            ids[filled++] = Current;
        return filled;
    }

    // The parts are ahead of the query, and go forward only.
    private void Restart()
    {
        _isStarted = _isOver = _isPending = _isQueued = false;
        _queue?.Clear();
        _set?.MoveToStart();
        foreach (var operand in _operands)
            operand.Restart();
    }

    private bool Advance(long id)
    {
        if (_isOver)
            return false;
        if (_isStarted && id <= Current)
            return true;
        var isFound = _operation switch
        {
            Operation.Set => SeekInSet(id),
            Operation.Part => SeekInPart(id),
            Operation.And => SeekInAll(id),
            Operation.Or => _queue == null ? SeekInAny(id) : SeekInQueue(_queue, id),
            _ => SeekInDifference(id),
        };

        // Not before: a page on the way may be damaged.
        _isStarted = true;
        return isFound;
    }

    private bool SeekInSet(long id)
    {
        if (_set == null)
            return End();

        // Most ids are next to the one before.
        if (_set.IsOnId && _set.Current < id && !_set.MoveNext())
            return End();
        if ((!_set.IsOnId || _set.Current < id) && !_set.Seek(id))
            return End();
        Current = _set.Current;
        return true;
    }

    private bool SeekInPart(long id)
    {
        if (id > _lastId - _firstId || !SeekInSet(_firstId + id))
            return End();
        if (Current > _lastId)
            return End();
        Current -= _firstId;
        return true;
    }

    private bool SeekInAll(long id)
    {
        var lead = _operands[0];
        for (var at = 0; at < _operands.Length; at++)
        {
            var operand = _operands[at];
            if (!operand.Seek(id))
                return End();
            if (operand.Current == id)
                continue;

            // The leading query continues from an id that this one has.
            id = operand.Current;
            at = operand == lead ? 0 : -1;
        }

        Current = id;
        return true;
    }

    private bool SeekInAny(long id)
    {
        var least = long.MaxValue;
        var isFound = false;
        foreach (var operand in _operands)
        {
            if (!operand.Seek(id))
                continue;
            least = Math.Min(least, operand.Current);
            isFound = true;
        }

        if (!isFound)
            return End();
        Current = least;
        return true;
    }

    // A page on the way may be damaged: the queue only changes behind a query that has been asked.
    private bool SeekInQueue(PriorityQueue<IdQueryNode, long> queue, long id)
    {
        if (!_isQueued)
        {
            foreach (var operand in _operands)
                _ = operand.Seek(id);
            foreach (var operand in _operands.Where(static operand => !operand._isOver))
                queue.Enqueue(operand, operand.Current);
            _isQueued = true;
        }

        while (queue.TryPeek(out var first, out var found))
        {
            if (found >= id)
            {
                Current = found;
                return true;
            }

            if (first.Seek(id))
                queue.DequeueEnqueue(first, first.Current);
            else
                queue.Dequeue();
        }

        return End();
    }

    private bool SeekInDifference(long id)
    {
        while (_operands[0].Seek(id))
        {
            var found = _operands[0].Current;
            if (!_operands[1].Seek(found) || _operands[1].Current != found)
            {
                Current = found;
                return true;
            }

            if (found == long.MaxValue)
                break;
            id = found + 1;
        }

        return End();
    }

    private bool End()
    {
        _isOver = true;
        return false;
    }
}
