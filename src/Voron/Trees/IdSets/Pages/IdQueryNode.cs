namespace Voron.Trees.IdSets.Pages;

/// <summary>A query over sets of ids: a set, or an operation on other queries. It only moves forward.</summary>
/// <remarks>
/// In an intersection, the query with the fewest ids leads, and the others seek its ids, skipping the blocks in between without unpacking them. In a
/// union of more than a few queries, a heap keeps the query with the lowest id on top. A node has one of five kinds, distinguished by a number
/// instead of a virtual call, because each id costs several calls.
/// </remarks>
internal sealed class IdQueryNode
{
    // A union of at most this many queries asks all of them for each id.
    private const int FewOperands = 8;

    private readonly Operation _operation;
    private readonly IdSetCursor? _set;
    private readonly IdQueryNode[] _operands;
    private readonly long _firstId;
    private readonly long _lastId;

    // The unfinished queries of a large union, ordered by their current ids. Filled once all of them have been asked.
    private readonly PriorityQueue<IdQueryNode, long>? _queue;
    private bool _isQueued;

    private bool _isStarted;
    private bool _isOver;

    // Set when a seek has found the current id and no fill has copied it yet.
    private bool _isPending;

    /// <summary>A query for the ids of a set.</summary>
    /// <param name="set">The set; null for an empty one. Its position is that of the query.</param>
    public IdQueryNode(IdSetCursor? set)
    {
        _operation = Operation.Set;
        _set = set;
        _operands = [];
        MostIds = set?.Count ?? 0;
    }

    /// <summary>A query for the ids in a part of a set. It returns each id minus <paramref name="firstId"/>.</summary>
    /// <param name="set">The set; null for an empty one. Its position is that of the query.</param>
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

    /// <summary>The maximum number of ids that the query can find.</summary>
    public long MostIds { get; }

    /// <summary>The number of operations on the longest path to a set.</summary>
    public int Depth { get; }

    /// <summary>The id found last.</summary>
    public long Current { get; private set; }

    /// <summary>Returns a query for the ids that all queries find.</summary>
    /// <param name="queries">The queries, at least one. The new query owns them from now on.</param>
    /// <exception cref="ArgumentException">There is no query. The result would be all possible ids.</exception>
    public static IdQueryNode And(params ReadOnlySpan<IdQueryNode> queries)
    {
        if (queries.IsEmpty)
            throw new ArgumentException("An intersection must have at least one query.", nameof(queries));
        var operands = queries.ToArray();
        Array.Sort(operands, static (left, right) => left.MostIds.CompareTo(right.MostIds));
        return new IdQueryNode(Operation.And, operands, operands[0].MostIds);
    }

    /// <summary>Returns a query for the ids that at least one of the queries finds.</summary>
    /// <param name="queries">The queries. The new query owns them from now on.</param>
    public static IdQueryNode Or(params ReadOnlySpan<IdQueryNode> queries)
    {
        var most = 0L;
        foreach (var query in queries)
            most = most > long.MaxValue - query.MostIds ? long.MaxValue : most + query.MostIds;
        return new IdQueryNode(Operation.Or, queries.ToArray(), most);
    }

    /// <summary>Returns a query for the ids that the first query finds and the second does not.</summary>
    public static IdQueryNode AndNot(IdQueryNode query, IdQueryNode without) => new(Operation.AndNot, [query, without], query.MostIds);

    /// <summary>Moves to the next id, or to the first one; returns false when there is none.</summary>
    /// <exception cref="CorruptionException">A page is damaged. The query keeps its position.</exception>
    public bool MoveNext()
    {
        _isPending = false;
        return _isStarted && Current == long.MaxValue ? End() : Advance(_isStarted ? Current + 1 : 0);
    }

    /// <summary>Moves to the first id at or above <paramref name="id"/>, but never back; returns false when there is none.</summary>
    /// <inheritdoc cref="MoveNext"/>
    public bool Seek(long id) => _isPending = Advance(id);

    /// <summary>
    /// Copies ids, and moves to the last one copied. Directly after <see cref="Seek"/>, the first id copied is the one that it found; otherwise it is
    /// the id after the current one.
    /// </summary>
    /// <returns>The number of ids; 0 when there are no more.</returns>
    /// <exception cref="CorruptionException">
    /// A page is damaged. The query keeps its position, since the caller cannot know how many ids were copied.
    /// </exception>
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

    // The operands are ahead of the query and only move forward, so they begin again.
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

        // Set only now, because a damaged page may have made the seek throw.
        _isStarted = true;
        return isFound;
    }

    private bool SeekInSet(long id)
    {
        if (_set == null)
            return End();

        // Most ids directly follow the previous one.
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

            // The leading query continues at the id that this one has found.
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

    // A damaged page may make a seek throw, so the queue changes only after the query has been asked.
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
