using Voron.Primitives;
using Voron.Trees;

namespace Voron.Transactions;

/// <summary>An open writer of a value, behind its handles. Pooled.</summary>
/// <remarks>
/// <code>
///   pool ──Open──▶ open ──Complete, Dispose──▶ pool
///                   │                            ▲
///                   └──Undo──▶ undone ──Dispose──┘
/// </code>
/// A writer is a pending put from its opening to its end, which closes all of its handles, since the generation increases. If its transaction ends
/// first, or is rolled back to a savepoint, the writer is undone: it then holds nothing of the transaction, and every call except Dispose throws.
/// The bytes are gathered without a lock, as only one thread uses a transaction; everything else happens with that of the pending puts held.
/// </remarks>
internal sealed class ValueWriterLease : IUnfinishedPut
{
    /// <summary>A value of fewer bytes is stored in one piece, in pages of exactly its size.</summary>
    private const int GatheredBytes = 256 << 10;

    private const int PoolSize = 16;

    private static readonly Lock PoolLock = new();
    private static readonly Stack<ValueWriterLease> Pool = new(PoolSize);

    private readonly ValueBuilder _value = new();
    private WriteContext _write = null!;
    private OpenTree? _tree;
    private byte[] _key = [];
    private int _keyLength;
    private Exception? _undone;
    private long _generation;

    private ValueWriterLease()
    {
    }

    /// <summary>The maximum length of the value in bytes; smaller in tests.</summary>
    public int MaxBytes { get; set; }

    /// <summary>The generation of the handles that are open.</summary>
    public long Generation => Volatile.Read(ref _generation);

    /// <inheritdoc/>
    public uint TreeId => _tree!.StateAsIs.TreeId;

    /// <inheritdoc/>
    public string Activity => $"ValueWriter {Description} was open";

    /// <inheritdoc/>
    public string Obstacle => $"the ValueWriter {Description} is open. Complete or dispose it first, or roll back.";

    private string Description => $"of key {KeyText.Of(_key.AsSpan(0, _keyLength))} in tree '{Catalog.Decode(_tree!.Name)}'";

    /// <summary>Opens a writer for the value of a key.</summary>
    /// <param name="tree">The tree.</param>
    /// <param name="generation">The generation of its handle.</param>
    /// <param name="key">The key.</param>
    /// <exception cref="ArgumentException">The key is empty or too long.</exception>
    public static ValueWriterLease Open(OpenTree tree, long generation, ReadOnlySpan<byte> key)
    {
        TreeAccess.Begin(tree, key);
        ValueWriterLease? writer;
        using (Uninterrupted.Hold(PoolLock))
            Pool.TryPop(out writer);
        writer ??= new ValueWriterLease();
        writer.Begin(tree, generation, key);
        return writer;
    }

    /// <summary>The number of bytes so far.</summary>
    public long Length(long generation)
    {
        ThrowIfEnded(generation);
        return _value.Length;
    }

    /// <summary>Returns space for at least that many bytes, and for at least one.</summary>
    public Memory<byte> GetRoom(long generation, int sizeHint)
    {
        ThrowIfEnded(generation);
        ArgumentOutOfRangeException.ThrowIfNegative(sizeHint);
        if (sizeHint > MaxBytes - _value.Length)
            ThrowTooLong(_value.Length + sizeHint);
        return _value.GetRoom(Math.Max(1, sizeHint));
    }

    /// <summary>Adds bytes that have been written into the space that <see cref="GetRoom"/> returned.</summary>
    public void Advance(long generation, int count)
    {
        ThrowIfEnded(generation);
        ArgumentOutOfRangeException.ThrowIfNegative(count);
        if (count > MaxBytes - _value.Length)
            ThrowTooLong(_value.Length + count);
        if (!_value.TryAdvance(count))
            throw new InvalidOperationException(
                $"The buffer has no space for {count} bytes: advance by at most the length of the span that GetSpan returned.");
        if (!_value.IsFull)
            return;
        using (_write.UnfinishedPuts.Exclusion.Enter())
        {
            ThrowIfUndone();
            _value.WriteChunks();
        }
    }

    /// <summary>Adds bytes; either all of them, or none if the value would be too long.</summary>
    public void Write(long generation, ReadOnlySpan<byte> bytes)
    {
        ThrowIfEnded(generation);
        var length = _value.Length + bytes.Length;
        if (length > MaxBytes)
            ThrowTooLong(length);
        using (_write.UnfinishedPuts.Exclusion.Enter())
        {
            ThrowIfUndone();
            _value.Append(bytes, length);
        }
    }

    /// <summary>Makes the bytes the value of the key, and ends the writer.</summary>
    public void Complete(long generation)
    {
        ThrowIfEnded(generation);
        if (!TryEnd(generation))
            EndedErrors.ThrowValueWriter();
        try
        {
            using (_write.UnfinishedPuts.Exclusion.Enter())
            {
                // If this fails, the transaction can only be rolled back, which frees the pages.
                ThrowIfUndone();
                _value.Store(_key.AsSpan(0, _keyLength));
            }
        }
        finally
        {
            Return();
        }
    }

    /// <summary>Discards the bytes and ends the writer, unless it has ended.</summary>
    public void Dispose(long generation)
    {
        if (!TryEnd(generation))
            return;
        try
        {
            using (_write.UnfinishedPuts.Exclusion.Enter())
                _value.Discard();
        }
        finally
        {
            Return();
        }
    }

    /// <inheritdoc/>
    public void Undo(Exception reason)
    {
        _write.UnfinishedPuts.Exclusion.AssertHeld();
        _value.Forget();
        Volatile.Write(ref _undone, reason);
    }

    /// <inheritdoc/>
    public void ThrowIfUndone()
    {
        if (Volatile.Read(ref _undone) is { } reason)
            throw reason;
    }

    private void Begin(OpenTree tree, long generation, ReadOnlySpan<byte> key)
    {
        if (_key.Length < key.Length)
            _key = new byte[Math.Max(64, key.Length)];
        key.CopyTo(_key);
        _keyLength = key.Length;
        MaxBytes = int.MaxValue;
        _write = tree.Owner.Write!;
        _tree = tree;
        _undone = null;
        _value.Begin(tree, generation, Math.Max(GatheredBytes, _write.Route.ThresholdBytes));
        _write.OperationSavepoint.Ensure();
        _write.UnfinishedPuts.Add(this);
    }

    private void ThrowIfEnded(long generation)
    {
        if (generation != Generation)
            EndedErrors.ThrowValueWriter();
        ThrowIfUndone();
    }

    /// <summary>Ends the handles; true for one caller only.</summary>
    private bool TryEnd(long generation) => Interlocked.CompareExchange(ref _generation, generation + 1, generation) == generation;

    private void Return()
    {
        _write.UnfinishedPuts.Remove(this);
        _value.End();
        _tree = null;
        _write = null!;
        using (Uninterrupted.Hold(PoolLock))
        {
            if (Pool.Count < PoolSize)
                Pool.Push(this);
        }
    }

    private void ThrowTooLong(long bytes) =>
        throw new InvalidOperationException($"A value can have at most {MaxBytes} bytes, but this one would have {bytes}. The writer has kept the others.");
}
