using System.Buffers;
using System.Runtime.CompilerServices;

namespace Voron.Tables;

/// <summary>The keys of one row in one index, in a buffer that is reused for each row.</summary>
/// <remarks>
/// <code>
///   Begin ──▶ the caller writes into the room ──▶ End; again for each key ──▶ SortDistinct ──▶ indexer ──▶ Clear
/// </code>
/// Nothing is allocated once the buffers are large enough. The space for each key is the maximum key length, so no key is too long for an index.
/// </remarks>
/// <param name="maxKeyLength">The maximum length of a key in the environment.</param>
internal sealed class IndexKeyList(int maxKeyLength) : IDisposable
{
    private const int MinKeys = 8;

    private byte[] _bytes = [];
    private Key[] _keys = new Key[MinKeys];
    private Comparison<Key>? _order;
    private int _used;

    private Span<Key> Keys => _keys.AsSpan(0, Count);

    /// <summary>The maximum length of a key in bytes.</summary>
    public int MaxKeyLength => maxKeyLength;

    /// <summary>The number of keys.</summary>
    public int Count { get; private set; }

    /// <summary>True if a key was begun, but nothing was written. The list does not contain it.</summary>
    public bool HasEmptyKey { get; private set; }

    /// <summary>A key: a part of the buffer, valid until the list changes.</summary>
    public ReadOnlySpan<byte> this[int index] => Bytes(Keys[index]);

    /// <summary>Returns true if a field of the key is null.</summary>
    public bool HasNull(int index) => Keys[index].HasNull;

    /// <summary>Returns whether the list, which is sorted, contains a key without a null.</summary>
    public bool HasConstrained(ReadOnlySpan<byte> key)
    {
        var (low, high) = (0, Count - 1);
        while (low <= high)
        {
            var middle = (low + high) / 2;
            var order = Bytes(_keys[middle]).SequenceCompareTo(key);
            if (order == 0)
                return !_keys[middle].HasNull;
            (low, high) = order < 0 ? (middle + 1, high) : (low, middle - 1);
        }

        return false;
    }

    /// <summary>Removes all keys.</summary>
    public void Clear()
    {
        Count = 0;
        _used = 0;
        HasEmptyKey = false;
    }

    /// <summary>Returns space for a key of the maximum length, which <see cref="End"/> adds to the list.</summary>
    public Span<byte> Begin()
    {
        if (maxKeyLength > _bytes.Length - _used)
            Grow();
        return _bytes.AsSpan(_used, maxKeyLength);
    }

    /// <summary>Adds the key that was written into that space.</summary>
    /// <param name="length">Its length.</param>
    /// <param name="hasNull">True if a field of it is null.</param>
    public void End(int length, bool hasNull)
    {
        if (length == 0)
        {
            HasEmptyKey = true;
            return;
        }

        if (Count == _keys.Length)
            Array.Resize(ref _keys, 2 * Count);
        _keys[Count++] = new Key(_used, length, hasNull);
        _used += length;
    }

    /// <summary>Sorts the keys by their bytes, and removes duplicates.</summary>
    public void SortDistinct()
    {
        if (IsSorted())
            return;
        Keys.Sort(_order ??= Compare);
        var last = 0;
        for (var i = 1; i < Count; i++)
        {
            // Of two equal keys, one with a null and one without, the one without counts for uniqueness.
            if (Compare(_keys[last], _keys[i]) == 0)
                _keys[last] = _keys[last] with { HasNull = _keys[last].HasNull && _keys[i].HasNull };
            else
                _keys[++last] = _keys[i];
        }

        Count = last + 1;
    }

    /// <summary>Returns the buffer to the pool if it is longer than the maximum, which removes all keys.</summary>
    public void Trim(int maxBytes)
    {
        if (_bytes.Length > maxBytes)
            Dispose();
        if (_keys.Length * Unsafe.SizeOf<Key>() > maxBytes)
            (_keys, Count) = (new Key[MinKeys], 0);
    }

    /// <summary>Removes all keys, and returns the buffer to the pool. The next key rents another one.</summary>
    public void Dispose()
    {
        Clear();
        ArrayPool<byte>.Shared.Return(_bytes);
        _bytes = [];
    }

    private bool IsSorted()
    {
        for (var i = 1; i < Count; i++)
        {
            if (Compare(_keys[i - 1], _keys[i]) >= 0)
                return false;
        }

        return true;
    }

    private int Compare(Key left, Key right) => Bytes(left).SequenceCompareTo(Bytes(right));

    private ReadOnlySpan<byte> Bytes(Key key) => _bytes.AsSpan(key.Offset, key.Length);

    private void Grow()
    {
        var larger = ArrayPool<byte>.Shared.Rent(checked(Math.Max(2 * _bytes.Length, _used + maxKeyLength)));
        _bytes.AsSpan(0, _used).CopyTo(larger);
        ArrayPool<byte>.Shared.Return(_bytes);
        _bytes = larger;
    }

    private readonly record struct Key(int Offset, int Length, bool HasNull);
}
