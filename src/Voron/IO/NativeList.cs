using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Voron.IO;

/// <summary>
/// A list in native memory, from whose beginning items can be taken too. For lists that grow with what is unflushed: in managed
/// memory each growth would leave a large array behind for the collector.
/// </summary>
/// <remarks>For one thread at a time.</remarks>
/// <param name="heap">What the memory is taken from, and goes with.</param>
internal sealed unsafe class NativeList<T>(NativeHeap heap)
    where T : unmanaged
{
    private const int MinCapacity = 256;

    private T* _items;
    private int _capacity;
    private int _first;

    /// <summary>Items in the list.</summary>
    public int Count { get; private set; }

    /// <summary>The item at an index. Valid until the list changes.</summary>
    public ref T this[int index]
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get
        {
            Debug.Assert((uint)index < (uint)Count);
            return ref _items[_first + index];
        }
    }

    /// <summary>Adds an item behind the last.</summary>
    /// <exception cref="OutOfMemoryException">There is no memory; the list is as it was.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Add(in T item)
    {
        EnsureRoom(1);
        _items[_first + Count++] = item;
    }

    /// <summary>Makes sure that so many items can be added without asking for memory.</summary>
    /// <exception cref="OutOfMemoryException">There is no memory; the list is as it was.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void EnsureRoom(int items)
    {
        if (_first + Count + items > _capacity)
            MakeRoom(items);
    }

    /// <summary>Takes the first item out.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public T RemoveFirst()
    {
        Debug.Assert(Count > 0);
        var item = _items[_first++];
        if (--Count == 0)
            _first = 0;
        return item;
    }

    /// <summary>Takes out all items from an index on.</summary>
    public void Truncate(int count)
    {
        Debug.Assert((uint)count <= (uint)Count);
        Count = count;
    }

    public void Clear() => Count = _first = 0;

    /// <summary>Takes out all items, and gives memory back that is beyond what so many items need.</summary>
    public void ClearAndTrim(int capacity)
    {
        Clear();
        if (_capacity <= capacity)
            return;
        heap.Free(_items);
        _items = null;
        _capacity = 0;
    }

    /// <summary>The items. Valid until the list changes.</summary>
    public Span<T> AsSpan() => new(_items + _first, Count);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void MakeRoom(int items)
    {
        // Half of it has been taken out: then moving what is left costs no more than what was added since the last move.
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
