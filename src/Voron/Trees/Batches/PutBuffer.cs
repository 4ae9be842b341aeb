using System.Buffers;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Voron.Format;
using Voron.IO;
using Voron.Paging;
using Voron.Primitives;
using Voron.Sorting;
using Voron.Trees.KeyHeads;
using Voron.Trees.Pages;

namespace Voron.Trees.Batches;

/// <summary>Buffers the puts of a write transaction until they are applied to their tree together.</summary>
/// <remarks>
/// A single put waits for memory at each level of the tree and again while its leaf is copied. Applied as a group, the puts descend the tree side
/// by side, and each leaf is prefetched while the ones before it are changed. Every reader of the tree applies the buffered puts first, so no read
/// ever sees the tree without them. A transaction that fills the buffer is large, and receives a larger buffer. Its puts are applied in key order,
/// and puts of the same key in arrival order, so that each leaf is fetched once and changed for all its puts while it is in the cache.
/// </remarks>
internal sealed unsafe class PutBuffer
{
    /// <summary>The initial capacity of a buffer, in puts. A larger number of puts is sorted.</summary>
    public const int FirstCount = 256;

    private const int FirstBytes = 128 << 10;

    // A leaf gets several puts only if there are far more puts than leaves: at its largest, the buffer holds up to 16 MiB of puts.
    private const int GrowthShift = 5;
    private const int MaxCount = FirstCount << (2 * GrowthShift - 1);
    private const int MaxBytes = 16 << 20;

    /// <summary>The size of the largest buffered put. Larger ones gain nothing from waiting: copying them twice costs more.</summary>
    private const int MaxItemBytes = 1024;

    /// <summary>Up to this number, puts are applied one by one instead of in groups.</summary>
    private const int MinGroup = 4;

    /// <summary>The bytes of overhead for each put: its item, and its key head during the sort.</summary>
    private const int BytesBeside = 16;

    // Leaves are prefetched this many puts before they are copied: early enough for memory to respond, late enough to stay cached.
    private const int LeavesAhead = 2;

    private readonly WaitingPut[] _firstItems = new WaitingPut[FirstCount];
    private readonly byte[] _firstBytes = GC.AllocateUninitializedArray<byte>(FirstBytes);
    private WaitingPut[] _items;
    private byte[] _bytes;
    private int _maxCount = FirstCount;
    private int _used;
    private int _markedCount;
    private int _markedUsed;
    private bool _wasFull;

    public PutBuffer()
    {
        _items = _firstItems;
        _bytes = _firstBytes;
    }

    /// <summary>The number of waiting puts.</summary>
    public int Count { get; private set; }

    /// <summary>The number of bytes by which the buffer exceeds its initial size.</summary>
    public int GrownBytes => _bytes.Length - FirstBytes + (_items.Length - FirstCount) * BytesBeside;

    public static bool CanHold(int keyLength, int valueLength) => keyLength + valueLength <= MaxItemBytes;

    /// <summary>Appends a copy of a put; returns false if there is no room until the buffered puts are applied.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">The value, or the operand.</param>
    /// <param name="operation">The operation on the current value of the key.</param>
    public bool TryAdd(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value, WaitingOperation operation)
    {
        if (Count == _maxCount || _used + key.Length + value.Length > _bytes.Length)
        {
            _wasFull = true;
            return false;
        }

        key.CopyTo(_bytes.AsSpan(_used));
        value.CopyTo(_bytes.AsSpan(_used + key.Length));
        _items[Count++] = new WaitingPut(_used, key.Length, value.Length, operation);
        _used += key.Length + value.Length;
        return true;
    }

    /// <summary>Separates the waiting puts from those that follow.</summary>
    public void Mark()
    {
        _markedCount = Count;
        _markedUsed = _used;
    }

    /// <summary>Discards the puts after the mark.</summary>
    public void DiscardUnmarked()
    {
        EngineMemory.Spoil(_bytes.AsSpan(_markedUsed, _used - _markedUsed));
        Count = _markedCount;
        _used = _markedUsed;
    }

    /// <summary>Discards the waiting puts.</summary>
    public void Clear()
    {
        EngineMemory.Spoil(_bytes.AsSpan(0, _used));
        Count = _markedCount = 0;
        _used = _markedUsed = 0;
    }

    /// <summary>Ends a transaction: discards the waiting puts, and returns the memory of a grown buffer.</summary>
    public void Trim()
    {
        Clear();
        _wasFull = false;
        if (_items == _firstItems)
            return;
        ArrayPool<WaitingPut>.Shared.Return(_items);
        ArrayPool<byte>.Shared.Return(_bytes);
        _items = _firstItems;
        _bytes = _firstBytes;
        _maxCount = FirstCount;
    }

    /// <summary>Applies all puts and discards them, even when one of them fails.</summary>
    /// <param name="writer">The pages of the tree.</param>
    /// <param name="state">The tree.</param>
    /// <param name="room">The number of bytes by which a full buffer may grow.</param>
    public void Apply(PageWriter writer, TreeState state, long room = long.MaxValue)
    {
        try
        {
            fixed (byte* bytes = _bytes)
                ApplyAll(writer, state, bytes);
        }
        finally
        {
            Clear();
        }

        if (_wasFull)
            Grow(room);
    }

    /// <summary>Applies the puts before the mark and discards them, even when one of them fails. The others remain buffered.</summary>
    /// <inheritdoc cref="Apply"/>
    public void ApplyMarked(PageWriter writer, TreeState state)
    {
        var marked = _markedCount;
        var others = Count - marked;
        Count = marked;
        try
        {
            fixed (byte* bytes = _bytes)
                ApplyAll(writer, state, bytes);
        }
        finally
        {
            _items.AsSpan(marked, others).CopyTo(_items);
            Count = others;
            _markedCount = _markedUsed = 0;
            _wasFull = false;
            if (others == 0)
                Clear();
        }
    }

    private void ApplyAll(PageWriter writer, TreeState state, byte* bytes)
    {
        if (state.Kind == TreeKind.IdSets)
        {
            WaitingIdApplier.Apply(writer, state, _items.AsSpan(0, Count), bytes);
            return;
        }

        if (Count > FirstCount)
            KeySorter.Sort(_items.AsSpan(0, Count), bytes);

        var from = 0;
        if (Count > MinGroup && !state.Root.IsNone && state.KeyHeads?.Branches is { } heads)
        {
            // The last put is applied separately, which shows whether keys are being appended.
            for (int count; from < Count - 1; from += count)
            {
                count = Math.Min(ManyKeySearch.Width, Count - 1 - from);
                ApplyGroup(writer, state, heads, bytes, from, count);
            }
        }

        for (; from < Count; from++)
            ApplyOne(writer, state, from);
    }

    private void Grow(long room)
    {
        _wasFull = false;
        if (_maxCount >= MaxCount)
            return;
        var count = Math.Min(MaxCount, _maxCount << GrowthShift);
        var size = (int)Math.Min(MaxBytes, (long)_bytes.Length << GrowthShift);

        // With less room, the buffer grows less, but by at least a factor of two: less growth would not be worth the copying.
        while (size - _bytes.Length + (count - _items.Length) * BytesBeside > room)
        {
            (count, size) = (count / 2, size / 2);
            if (count < 2 * _maxCount || size < 2 * _bytes.Length)
                return;
        }

        EngineMemory.Ask((nuint)size);
        var items = ArrayPool<WaitingPut>.Shared.Rent(count);
        var bytes = ArrayPool<byte>.Shared.Rent(size);
        Trim();
        _items = items;
        _bytes = bytes;
        _maxCount = count;
    }

    [SkipLocalsInit]
    private void ApplyGroup(PageWriter writer, TreeState state, BranchKeyHeads heads, byte* bytes, int from, int count)
    {
        var keys = stackalloc SearchKey[ManyKeySearch.Width];
        var leaves = stackalloc PageNumber[ManyKeySearch.Width];
        for (var i = 0; i < count; i++)
            keys[i] = new SearchKey(bytes + _items[from + i].Offset, _items[from + i].KeyLength);

        ManyKeySearch.FindLeaves(state, writer, heads, keys, count, leaves);
        writer.PrefetchVersions(leaves, count);
        for (var i = 0; i < LeavesAhead && i < count; i++)
            PrefetchPage(writer, leaves[i]);

        var isSorted = Count > FirstCount;
        var next = 0;
        for (var i = 0; i < count; i++)
        {
            // Sorted puts can be anywhere in the buffer: this group prefetches those of the next one.
            if (isSorted && from + count + i < Count)
                CacheLines.PrefetchRange(bytes + _items[from + count + i].Offset, _items[from + count + i].Length);
            if (i + LeavesAhead < count)
                PrefetchPage(writer, leaves[i + LeavesAhead]);
            if (i < next)
                continue;
            var leaf = leaves[i];
            next = i + 1;
            if (leaf.IsNone)
            {
                ApplyOne(writer, state, from + i);
                continue;
            }

            var leafPages = state.LeafPages;
            if (_items[from + i].Operation == WaitingOperation.Increment)
                next += AddAt(writer, state, leaf, keys[i], _items.AsSpan(from + i, count - i)) - 1;
            else
                TreeWriter.PutAt(writer, state, leaf, keys[i], Value(from + i));
            if (state.LeafPages != leafPages)
                ForgetLeaf(leaves + next, count - next, leaf);
        }
    }

    private void ApplyOne(PageWriter writer, TreeState state, int index)
    {
        if (_items[index].Operation == WaitingOperation.Increment)
            TreeWriter.Add(writer, state, Key(index), [MemoryMarshal.Read<long>(Value(index))]);
        else
            TreeWriter.Put(writer, state, Key(index), Value(index));
    }

    // Consecutive increments of one key are applied as one change. Returns their number.
    private int AddAt(PageWriter writer, TreeState state, PageNumber leaf, in SearchKey key, ReadOnlySpan<WaitingPut> puts)
    {
        Span<long> deltas = stackalloc long[ManyKeySearch.Width];
        var count = 0;
        do
        {
            deltas[count] = MemoryMarshal.Read<long>(_bytes.AsSpan(puts[count].Offset + puts[count].KeyLength));
            count++;
        }
        while (count < puts.Length && puts[count].Operation == WaitingOperation.Increment && KeyOf(puts[count]).SequenceEqual(key.Span));

        TreeWriter.AddAt(writer, state, leaf, key, deltas[..count]);
        return count;
    }

    /// <summary>Clears a split leaf from the remaining puts, which must search for their half of it.</summary>
    private static void ForgetLeaf(PageNumber* leaves, int count, PageNumber divided)
    {
        for (var i = 0; i < count; i++)
        {
            if (leaves[i] == divided)
                leaves[i] = PageNumber.None;
        }
    }

    private static void PrefetchPage(PageWriter writer, PageNumber page)
    {
        var bytes = page.IsNone ? null : writer.PeekUnlessWritable(page);
        if (bytes != null)
            CacheLines.PrefetchRange(bytes, writer.PageSize);
    }

    private ReadOnlySpan<byte> KeyOf(in WaitingPut put) => _bytes.AsSpan(put.Offset, put.KeyLength);

    private ReadOnlySpan<byte> Key(int index) => KeyOf(_items[index]);

    private ReadOnlySpan<byte> Value(int index) =>
        _bytes.AsSpan(_items[index].Offset + _items[index].KeyLength, _items[index].ValueLength);
}
