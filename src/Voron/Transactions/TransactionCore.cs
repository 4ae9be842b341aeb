using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using Voron.Format;
using Voron.Trees;

namespace Voron.Transactions;

/// <summary>What read and write transactions have in common: the trees they have open, and a generation for their handles.</summary>
/// <remarks>
/// Cores are pooled. A handle remembers the generation that it was made for; when the transaction ends the generation moves
/// on, and every handle of it throws from then on.
/// </remarks>
internal abstract class TransactionCore
{
    private readonly List<OpenTree> _trees = [];
    private int _treeCount;

    /// <summary>Odd while the transaction is open.</summary>
    public long Generation { get; private set; }

    public abstract PageReader Pages { get; }

    /// <summary>The tree of trees as this transaction sees it.</summary>
    public TreeState Catalog { get; } = new();

    protected int TreeCount => _treeCount;

    protected OpenTree TreeAt(int index) => _trees[index];

    protected void BeginGeneration(in TreeHeader catalog)
    {
        Generation++;
        Catalog.Load(catalog);
    }

    protected void EndGeneration()
    {
        Generation++;
        CloseTrees(0);
    }

    /// <summary>Ends the handles of the trees from an index on.</summary>
    protected void CloseTrees(int from)
    {
        for (var i = from; i < _treeCount; i++)
            _trees[i].Close();
        _treeCount = from;
    }

    /// <summary>A tree that is open already, or null.</summary>
    protected OpenTree? FindOpen(ReadOnlySpan<byte> name)
    {
        for (var i = 0; i < _treeCount; i++)
        {
            if (!_trees[i].IsDropped && _trees[i].Name.SequenceEqual(name))
                return _trees[i];
        }

        return null;
    }

    protected OpenTree Add(ReadOnlySpan<byte> name, in TreeHeader header)
    {
        if (_treeCount == _trees.Count)
            _trees.Add(new OpenTree(this));
        var tree = _trees[_treeCount++];
        tree.Open(name, header);
        return tree;
    }

    public void ThrowIfEnded(long generation)
    {
        if (generation != Generation)
            ThrowEnded();
    }

    [DoesNotReturn]
    private static void ThrowEnded() =>
        throw new ObjectDisposedException("transaction", "The transaction has ended: it was committed, rolled back or disposed.");
}

/// <summary>A tree as one transaction has it open.</summary>
internal sealed class OpenTree
{
    private readonly List<CursorLease> _cursors = [];
    private readonly TreeState _state = new();
    private byte[] _name = [];
    private PutBuffer? _puts;
    private bool _hasPuts;

    public OpenTree(TransactionCore owner) => Owner = owner;

    public TransactionCore Owner { get; }

    /// <summary>The tree with all puts applied. Applying them may fail, as the puts themselves would have.</summary>
    public TreeState State
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get
        {
            if (_hasPuts)
                ApplyPuts();
            return _state;
        }
    }

    /// <summary>Moves on when the tree's handles end.</summary>
    public long Generation { get; private set; }

    /// <summary>True after the tree was deleted in this transaction.</summary>
    public bool IsDropped { get; set; }

    public ReadOnlySpan<byte> Name => _name;

    /// <summary>The name as an array that never changes, to be restored by <see cref="SetName(byte[])"/>.</summary>
    public byte[] NameBytes => _name;

    public void Open(ReadOnlySpan<byte> name, in TreeHeader header)
    {
        SetName(name);
        IsDropped = false;
        _state.Load(header);
    }

    /// <summary>
    /// Lets a put wait for others, to be applied with them. False when it has to be made at once: it is large, or keys are
    /// being appended, which finds their leaf without a search.
    /// </summary>
    public bool TryDefer(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        if (!PutBuffer.CanHold(key.Length, value.Length) || (!_hasPuts && !_state.RightmostLeaf.IsNone))
            return false;

        _puts ??= new PutBuffer();
        if (!_puts.TryAdd(key, value))
        {
            ApplyPuts();
            _puts.TryAdd(key, value);
        }

        _hasPuts = true;
        return true;
    }

    /// <summary>Forgets puts that have not been applied: they are being rolled back.</summary>
    public void DiscardPuts()
    {
        if (!_hasPuts)
            return;
        _hasPuts = false;
        _puts!.Clear();
    }

    public void SetName(ReadOnlySpan<byte> name)
    {
        if (!name.SequenceEqual(_name))
            _name = name.ToArray();
    }

    public void SetName(byte[] name) => _name = name;

    /// <summary>Ends all handles of the tree and of its cursors.</summary>
    public void Close()
    {
        DiscardPuts();
        Generation++;
        foreach (var cursor in _cursors)
            cursor.Return();
    }

    public CursorLease RentCursor()
    {
        foreach (var pooled in _cursors)
        {
            if (pooled.TryOpen())
                return pooled;
        }

        var lease = new CursorLease(this);
        _cursors.Add(lease);
        lease.TryOpen();
        return lease;
    }

    public void ThrowIfClosed(long generation)
    {
        if (generation != Generation || IsDropped)
            ThrowClosed();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void ApplyPuts()
    {
        _hasPuts = false;
        var core = (WriteCore)Owner;
        try
        {
            _puts!.Apply(core.Session, _state);
        }
        catch (Exception e) when (core.Break(e))
        {
            throw;
        }
    }

    [DoesNotReturn]
    private void ThrowClosed()
    {
        if (IsDropped)
            throw new InvalidOperationException($"The tree '{Catalog.Decode(Name)}' has been deleted in this transaction.");
        throw new ObjectDisposedException("tree", "The transaction that this tree was opened in has ended, or was rolled back to before that.");
    }
}

/// <summary>A pooled cursor of an open tree.</summary>
internal sealed class CursorLease(OpenTree tree)
{
    public TreeCursor Cursor { get; } = new();

    public OpenTree Tree => tree;

    /// <summary>Moves on when the cursor is disposed or its tree ends.</summary>
    public long Generation { get; private set; }

    private bool IsOpen { get; set; }

    public bool TryOpen()
    {
        if (IsOpen)
            return false;
        IsOpen = true;
        Cursor.Open(tree.State, tree.Owner.Pages);
        return true;
    }

    public void Return()
    {
        if (!IsOpen)
            return;
        IsOpen = false;
        Generation++;
        Cursor.Close();
    }

    /// <summary>Throws when the handle has ended; else the tree is as the cursor should see it.</summary>
    public void ThrowIfClosed(long generation)
    {
        if (generation != Generation)
            ThrowClosed();
        _ = tree.State;
    }

    [DoesNotReturn]
    private static void ThrowClosed() => throw new ObjectDisposedException("cursor", "The cursor was disposed, or its transaction has ended.");
}
