using System.Buffers.Binary;

namespace Voron.Benchmarks.Workloads;

/// <summary>The keys and values of one transaction, filled between measured calls and reused for the next.</summary>
internal sealed class ItemBuffer
{
    /// <summary>Large values contain the item's number at this distance, so that no two of their pages are equal.</summary>
    private const int StampDistance = 4096;

    private readonly ItemGenerator _generator;
    private readonly byte[] _keys;
    private readonly byte[] _values;
    private readonly int _valueBytes;

    public ItemBuffer(KeyOrder order, int capacity, bool withValues, int valueBytes = ItemGenerator.ValueBytes)
    {
        _generator = new ItemGenerator(order);
        _valueBytes = valueBytes;

        // Pinned, so that passing a pointer to a native peer costs nothing.
        _keys = GC.AllocateArray<byte>(capacity * ItemGenerator.KeyBytes, pinned: true);
        _values = GC.AllocateArray<byte>(withValues ? capacity * valueBytes : 0, pinned: true);
        for (var offset = 0; offset < _values.Length; offset += ItemGenerator.ValueBytes)
        {
            // Half noise, half text throughout. The noise at the start of each value is rewritten for each item.
            ItemGenerator.WriteRandomValue(offset % valueBytes, 0, _values.AsSpan(offset));
            ItemGenerator.FixedText.CopyTo(_values.AsSpan(offset + ItemGenerator.RandomValueBytes));
        }
    }

    public ReadOnlySpan<byte> Key(int index) => KeyMemory(index).Span;

    public ReadOnlySpan<byte> Value(int index) => ValueMemory(index).Span;

    public ReadOnlyMemory<byte> KeyMemory(int index) => _keys.AsMemory(index * ItemGenerator.KeyBytes, ItemGenerator.KeyBytes);

    public ReadOnlyMemory<byte> ValueMemory(int index) => _values.AsMemory(index * _valueBytes, _valueBytes);

    public void SetKey(int index, long item) => _generator.WriteKey(item, _keys.AsSpan(index * ItemGenerator.KeyBytes));

    public void SetValue(int index, long item, int version)
    {
        var value = _values.AsSpan(index * _valueBytes, _valueBytes);
        ItemGenerator.WriteRandomValue(item, version, value);
        for (var offset = StampDistance; offset < value.Length; offset += StampDistance)
            BinaryPrimitives.WriteInt64LittleEndian(value[offset..], item + offset);
    }
}
