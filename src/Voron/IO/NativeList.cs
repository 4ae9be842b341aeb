using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Voron.IO;

/// <summary>
/// A list in native memory that also supports removing items from its front. For lists that grow with the unflushed data: in managed
/// memory, each growth would leave a large array behind for the garbage collector.
/// </summary>
/// <remarks>Only one thread may use it at a time.</remarks>
/// <param name="heap">The heap that provides the memory and frees it at the latest.</param>
internal sealed unsafe class NativeList<T>(NativeHeap heap)
    where T : unmanaged
{
    private const int MinCapacity = 256;

    private T* _items;
    private int _capacity;
    private int _first;

    /// <summary>The number of items in the list.</summary>
    public int Count { get; private set; }

    /// <summary>The item at an index. The reference is valid until the list changes.</summary>
    public ref T this[int index]
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get
        {
            Debug.Assert((uint)index < (uint)Count);
            return ref _items[_first + index];
        }
    }

    /// <summary>Adds an item at the end.</summary>
    /// <exception cref="OutOfMemoryException">There is no memory; the list is unchanged.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Add(in T item)
    {
        EnsureRoom(1);
        _items[_first + Count++] = item;
    }

    /// <summary>Ensures that this number of items can be added without allocating memory.</summary>
    /// <exception cref="OutOfMemoryException">There is no memory; the list is unchanged.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void EnsureRoom(int items)
    {
        if (_first + Count + items > _capacity)
            MakeRoom(items);
    }

    /// <summary>Removes the first item and returns it.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public T RemoveFirst()
    {
        Debug.Assert(Count > 0);
        var item = _items[_first++];
        if (--Count == 0)
            _first = 0;
        return item;
    }

    /// <summary>Removes all items from an index on.</summary>
    public void Truncate(int count)
    {
        Debug.Assert((uint)count <= (uint)Count);
        Count = count;
    }

    public void Clear() => Count = _first = 0;

    /// <summary>Removes all items, and frees the memory if it has space for more than <paramref name="capacity"/> items.</summary>
    public void ClearAndTrim(int capacity)
    {
        Clear();
        if (_capacity <= capacity)
            return;
        heap.Free(_items);
        _items = null;
        _capacity = 0;
    }

    /// <summary>Returns the items. The span is valid until the list changes.</summary>
    public Span<T> AsSpan() => new(_items + _first, Count);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void MakeRoom(int items)
    {
        // More than half of the capacity has been removed: moving the rest then costs no more than adding the items since the last move did.
        if (_first > _capacity / 2)
        {
            AsSpan().CopyTo(new Span<T>(_items, Count));
            _first = 0;
            if (Count + items <= _capacity)
                return;
        }

        var capacity = Math.Max(MinCapacity, checked((int)System.Numerics.BitOperations.RoundUpToPowerOf2((uint)(_first + Count + items))));
        _items = (T*)heap.Resize(_items, (nuint)capacity * (nuint)sizeof(T));
        _capacity = capacity;
    }
}
