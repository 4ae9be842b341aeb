using System.Buffers;
using System.Buffers.Binary;
using System.Diagnostics;
using System.Runtime.InteropServices;
using Voron.Primitives;
using Voron.Transactions;
using Voron.Trees.IdSets.Pages;

namespace Voron;

/// <summary>
/// A query over id sets: the ids of one set, or a combination of other queries. It moves forward only, in ascending order of the ids.
/// </summary>
/// <remarks>
/// <para>
/// In an intersection, the query with the fewest ids leads, and the others skip blocks of ids without unpacking them. Combining queries allocates a
/// few small objects; finding ids allocates none.
/// </para>
/// <para>
/// A query belongs to its transaction, and to one thread at a time. A query can be part of at most one other query; only the outermost query is used
/// and disposed. Dispose of it so that its cursors can be reused. In a write transaction, the tree may change while a query runs: the query finds
/// all ids that exist throughout, and may or may not find ids that are added or removed meanwhile.
/// </para>
/// </remarks>
[DebuggerDisplay("{ToString(),nq}")]
public sealed class IdQuery : IDisposable
{
    private const int MinBytes = 4096;

    /// <summary>A call descends through all levels of a query, and the stack of a thread is limited.</summary>
    private const int MaxDepth = 100;

    private readonly IdQueryNode _node;
    private readonly Operand[] _sets;
    private State _state;
    private bool _isBegun;
    private bool _isOnId;

    internal IdQuery(CursorLease lease, long generation)
    {
        _node = new IdQueryNode(lease.Ids.Set);
        _sets = [new Operand(lease, generation)];
    }

    /// <summary>A query for a part of a set, under another name.</summary>
    internal IdQuery(CursorLease lease, long generation, (long First, long Last) part, byte[] name)
    {
        _node = new IdQueryNode(lease.Ids.Set, part.First, part.Last);
        _sets = [new Operand(lease, generation) { PartName = name }];
    }

    private IdQuery(IdQueryNode node, Operand[] sets)
    {
        _node = node;
        _sets = sets;
    }

    private enum State
    {
        Open,
        Combined,
        Disposed,
    }

    private bool CanChange => _sets[0].Owner.Write != null;

    /// <summary>
    /// The maximum number of ids that can be found: the size of the smallest set in an intersection, the sum in a union, or the size of the first
    /// set in a difference.
    /// </summary>
    public long MostIds => _node.MostIds;

    /// <summary>The id that was found last.</summary>
    /// <exception cref="InvalidOperationException">
    /// No id has been found yet, or there are no more, or the query is a part of another one, or the tree has been deleted in this transaction.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The query has been disposed, or its transaction has ended.</exception>
    public long Current
    {
        get
        {
            CheckOpen();
            if (!_isOnId)
                throw new InvalidOperationException("The query is on no id: no call has found one yet, or there are no more.");
            return _node.Current;
        }
    }

    /// <summary>Returns a query for the ids that all queries find.</summary>
    /// <param name="queries">One query or more, which become parts of this one.</param>
    /// <exception cref="ArgumentException">There is no query, one is passed twice, or one is nested 100 levels deep.</exception>
    /// <exception cref="InvalidOperationException">A query is already part of another one, has begun, or belongs to another transaction.</exception>
    /// <exception cref="ObjectDisposedException">A query has been disposed, or its transaction has ended.</exception>
    public static IdQuery And(params ReadOnlySpan<IdQuery> queries) => Combine(queries, static nodes => IdQueryNode.And(nodes));

    /// <summary>Returns a query for the ids that at least one of the queries finds.</summary>
    /// <inheritdoc cref="And"/>
    public static IdQuery Or(params ReadOnlySpan<IdQuery> queries) => Combine(queries, static nodes => IdQueryNode.Or(nodes));

    /// <summary>Returns a query for the ids that one query finds and the other one does not.</summary>
    /// <param name="query">The query with the ids.</param>
    /// <param name="without">The query with the ids to leave out.</param>
    /// <inheritdoc cref="And"/>
    public static IdQuery AndNot(IdQuery query, IdQuery without) =>
        Combine([query, without], static nodes => IdQueryNode.AndNot(nodes[0], nodes[1]));

    /// <summary>Moves to the next id, or to the first one if none has been found yet; false when there are no more.</summary>
    /// <exception cref="CorruptionException">A page is damaged. The query is where it was.</exception>
    /// <exception cref="InvalidOperationException">
    /// The query is a part of another one, or the tree has been deleted in this transaction.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The query has been disposed, or its transaction has ended.</exception>
    public bool MoveNext()
    {
        using var call = new Call(this);
        return _isOnId = _node.MoveNext();
    }

    /// <summary>Moves to the first id that is at least <paramref name="id"/>, and not before the current one; false when there is none.</summary>
    /// <inheritdoc cref="MoveNext"/>
    public bool Seek(long id)
    {
        using var call = new Call(this);
        return _isOnId = _node.Seek(Math.Max(id, 0));
    }

    /// <summary>Copies the next ids. Directly after a seek that has found an id, the first id copied is that one.</summary>
    /// <param name="ids">Receives the ids.</param>
    /// <returns>The number of ids; 0 when there are no more, or if the span is empty.</returns>
    /// <exception cref="CorruptionException">A page is damaged. The query is where it was, whatever has been copied.</exception>
    /// <exception cref="InvalidOperationException">
    /// The query is a part of another one, or the tree has been deleted in this transaction.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The query has been disposed, or its transaction has ended.</exception>
    public int Fill(Span<long> ids)
    {
        using var call = new Call(this);
        if (ids.IsEmpty)
            return 0;
        var filled = _node.Fill(ids);
        _isOnId = filled == ids.Length;
        return filled;
    }

    /// <summary>Writes all remaining ids, each as eight bytes in little-endian order.</summary>
    /// <param name="writer">Receives the ids. It must not use the query.</param>
    /// <returns>The number of ids.</returns>
    /// <exception cref="ArgumentException">The writer returns an empty buffer.</exception>
    /// <exception cref="CorruptionException">A page is damaged. The query has moved past the ids that the writer has received.</exception>
    /// <exception cref="InvalidOperationException">
    /// The query is a part of another one, or the tree has been deleted in this transaction.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The query has been disposed, or its transaction has ended.</exception>
    public long CopyTo(IBufferWriter<byte> writer)
    {
        ArgumentNullException.ThrowIfNull(writer);
        var copied = 0L;
        while (true)
        {
            // User code is never called while the transaction is marked as in use.
            var ids = MemoryMarshal.Cast<byte, long>(writer.GetSpan(MinBytes));
            if (ids.IsEmpty)
                throw new ArgumentException($"The writer has no room for an id of {sizeof(long)} bytes.", nameof(writer));
            var count = Fill(ids);
            if (!BitConverter.IsLittleEndian)
                BinaryPrimitives.ReverseEndianness(ids[..count], ids);
            writer.Advance(count * sizeof(long));
            copied += count;
            if (count < ids.Length)
                return copied;
        }
    }

    /// <summary>Moves past all remaining ids, and returns their number.</summary>
    /// <exception cref="CorruptionException">A page is damaged. The query may have moved past some of the ids.</exception>
    /// <inheritdoc cref="MoveNext"/>
    public long CountRest()
    {
        Span<long> ids = stackalloc long[IdBlock.MaxIds];
        var counted = 0L;
        while (Fill(ids) is > 0 and var count)
            counted += count;
        return counted;
    }

    /// <summary>Ends the query with all of its parts. Further calls do nothing, and neither does disposing of a part.</summary>
    public void Dispose()
    {
        if (_state != State.Open)
            return;
        _state = State.Disposed;
        foreach (var set in _sets)
            set.Return();
    }

    /// <summary>Describes the query by its number of sets and its place. Any thread may call this at any time.</summary>
    public override string ToString() => _state switch
    {
        State.Combined => "id query (a part of another one)",
        State.Disposed => "id query (disposed)",
        _ => $"id query over {_sets.Length} sets, {(_isOnId ? $"at {_node.Current}" : "on no id")}",
    };

    /// <summary>Returns true if all sets belong to trees of the transaction whose names begin with these bytes.</summary>
    /// <param name="tree">A tree of the transaction.</param>
    /// <param name="namePrefix">The bytes.</param>
    internal bool IsOver(Tree tree, ReadOnlySpan<byte> namePrefix)
    {
        var owner = tree.Opened.Owner;
        foreach (var set in _sets)
        {
            if (set.Owner != owner || !set.TreeName.StartsWith(namePrefix))
                return false;
        }

        return true;
    }

    private static IdQuery Combine(ReadOnlySpan<IdQuery> queries, Func<IdQueryNode[], IdQueryNode> combine)
    {
        if (queries.IsEmpty)
            throw new ArgumentException("There is no query to combine. Pass at least one.", nameof(queries));
        for (var i = 0; i < queries.Length; i++)
        {
            ArgumentNullException.ThrowIfNull(queries[i], nameof(queries));
            queries[i].CheckOpen();
            if (queries[i]._isBegun)
                throw new InvalidOperationException("A query that has begun to find ids cannot become a part of another one.");
            if (queries[i]._sets[0].Owner != queries[0]._sets[0].Owner)
                throw new InvalidOperationException("The queries belong to different transactions. Combine queries of one transaction.");
            if (queries[i]._node.Depth >= MaxDepth)
                throw new ArgumentException($"Query {i} of {queries.Length} is nested {MaxDepth} levels deep. Combine more queries in one call.", nameof(queries));
            if (queries[..i].Contains(queries[i]))
                throw new ArgumentException($"The same query occurs twice, as number {i} of {queries.Length} too. Open another one.", nameof(queries));
        }

        var nodes = new IdQueryNode[queries.Length];
        var sets = new List<Operand>(queries.Length);
        for (var i = 0; i < queries.Length; i++)
        {
            nodes[i] = queries[i]._node;
            sets.AddRange(queries[i]._sets);
        }

        var combined = new IdQuery(combine(nodes), [.. sets]);
        foreach (var query in queries)
            query._state = State.Combined;
        return combined;
    }

    private void CheckOpen()
    {
        if (_state == State.Combined)
            throw new InvalidOperationException("The query is a part of another one: use that one.");
        if (_state == State.Disposed)
            EndedErrors.ThrowQuery();

        // All sets belong to one transaction. While nothing can change, no set ends before the others.
        foreach (var set in CanChange ? _sets : _sets.AsSpan(0, 1))
            set.Check();
    }

    /// <summary>The cursor of one set.</summary>
    private readonly struct Operand(CursorLease lease, long generation)
    {
        public OwningTransaction Owner => lease.Tree.Owner;

        /// <summary>The name of a part of the tree; null for all of it.</summary>
        public byte[]? PartName { get; init; }

        public ReadOnlySpan<byte> TreeName => PartName ?? ((OpenTree)lease.Tree).Name;

        public OwningTransaction Enter(out bool mark) => lease.Enter(generation, out mark);

        /// <summary>Checks that the transaction is open, and applies the waiting changes of the tree.</summary>
        public void Check() => lease.ThrowIfClosed(generation);

        public void Refresh() => lease.Ids.Refresh();

        public void Return()
        {
            if (lease.Generation == generation)
                lease.Return();
        }
    }

    /// <summary>
    /// Marks the transaction as in use during a call that reads in it. The waiting changes of all trees are applied before any set is read.
    /// </summary>
    private readonly ref struct Call
    {
        private readonly OwningTransaction _owner;
        private readonly bool _mark;

        public Call(IdQuery query)
        {
            query.CheckOpen();
            _owner = query._sets[0].Enter(out _mark);
            try
            {
                query._isBegun = true;
                foreach (var set in query.CanChange ? query._sets : [])
                    set.Refresh();
            }
            catch
            {
                _owner.Leave(_mark);
                throw;
            }
        }

        public void Dispose() => _owner.Leave(_mark);
    }
}
