using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using Voron.Format;
using Voron.Trees;

namespace Voron.Transactions;

/// <summary>A tree as one transaction has it open.</summary>
internal sealed class OpenTree
{
    private readonly List<CursorLease> _cursors = [];
    private readonly TreeState _state = new();
    private byte[] _name = [];
    private PutBuffer? _puts;
    private bool _hasPuts;
    private bool _hasStored;

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
        _hasStored = false;
        _state.Load(header);
    }

    /// <summary>
    /// Lets a put wait for others, to be applied with them. False when it has to be made at once: it is large, or keys are
    /// being appended, which finds their leaf without a search. The first one of a transaction tells.
    /// </summary>
    public bool TryDefer(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        if (!PutBuffer.CanHold(key.Length, value.Length) || (!_hasPuts && (!_state.RightmostLeaf.IsNone || !_hasStored)))
        {
            _hasStored = true;
            return false;
        }

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
        _puts?.Trim();
        CloseHandles();
        foreach (var cursor in _cursors)
            cursor.Return();
    }

    /// <summary>Ends the handles; a call that is under way in one goes on.</summary>
    public void CloseHandles()
    {
        Generation++;
        foreach (var cursor in _cursors)
            cursor.Generation++;
    }

    /// <summary>A cursor that nobody uses.</summary>
    /// <exception cref="ObjectDisposedException">The tree's handles have ended.</exception>
    /// <exception cref="InvalidOperationException">Another thread is inside the transaction.</exception>
    public Cursor OpenCursor(long generation)
    {
        var mark = Owner.EnterAlone();
        try
        {
            ThrowIfClosed(generation);
            return new Cursor(RentCursor());
        }
        finally
        {
            Owner.LeaveAlone(mark);
        }
    }

    private CursorLease RentCursor()
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
