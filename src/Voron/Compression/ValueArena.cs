using System.Diagnostics.CodeAnalysis;
using System.Runtime.InteropServices;
using Voron.IO;

namespace Voron.Compression;

/// <summary>The memory of values that were decompressed for a reader, which are valid until all of it is given back.</summary>
/// <param name="memory">Bounds what is kept between two uses; null if the caller does.</param>
internal sealed unsafe class ValueArena(ArenaMemory? memory = null)
{
    /// <summary>The most bytes that it gives out.</summary>
    public const long MaxBytes = 64L << 20;

    private const int FirstBytes = 64 << 10;
    private const int LargestBytes = 4 << 20;

    /// <summary>A reader that reads this much in each of its transactions allocates nothing.</summary>
    private const int MostKeptBytes = 1 << 20;

    private readonly List<byte[]> _blocks = [];
    private int _used;
    private long _given;
    private long _kept;

    /// <summary>Returns memory for a value. Its bytes are undefined.</summary>
    /// <exception cref="InvalidOperationException">There is no more.</exception>
    public Span<byte> Rent(int length)
    {
        if (_given + length > MaxBytes)
            ThrowFull();
        if (_blocks.Count == 0 || _used + length > _blocks[^1].Length)
            Grow(length);
        var memory = new Span<byte>((byte*)Marshal.UnsafeAddrOfPinnedArrayElement(_blocks[^1], _used), length);
        _used += length;
        _given += length;
        return memory;
    }

    /// <summary>Takes back all memory, and keeps a little for the next reader.</summary>
    public void Reset()
    {
        if (_given == 0)
            return;
        var kept = _blocks[^1].Length <= MostKeptBytes ? _blocks[^1] : null;
        foreach (var block in _blocks)
            EngineMemory.Spoil(block);
        _blocks.Clear();
        _used = 0;
        _given = 0;
        if (TryKeep(kept?.Length ?? 0) && kept != null)
            _blocks.Add(kept);
    }

    /// <summary>Takes back all memory, and keeps none.</summary>
    public void Free()
    {
        Reset();
        _blocks.Clear();
        TryKeep(0);
    }

    // Most readers keep a block of the same length as before, and touch nothing that others share.
    private bool TryKeep(long bytes)
    {
        if (memory == null || bytes == _kept)
            return true;
        if (memory.TryChange(bytes - _kept))
        {
            _kept = bytes;
            return true;
        }

        memory.TryChange(-_kept);
        _kept = 0;
        return false;
    }

    private void Grow(int length)
    {
        var size = _blocks.Count == 0 ? FirstBytes : (int)Math.Min(LargestBytes, 2L * _blocks[^1].Length);
        size = Math.Max(size, length);
        EngineMemory.Ask((nuint)size);
        _blocks.Add(GC.AllocateUninitializedArray<byte>(size, pinned: true));
        _used = 0;
    }

    [DoesNotReturn]
    private static void ThrowFull() => throw new InvalidOperationException(
        $"The values that this transaction has read take {MaxBytes >> 20} MiB: they are compressed in the tree, and stay in memory until the transaction ends. " +
        "Read them with a cursor or with TryGet and a buffer writer, rows of a table with TryGet or a query, which keep nothing; or begin another transaction.");
}
