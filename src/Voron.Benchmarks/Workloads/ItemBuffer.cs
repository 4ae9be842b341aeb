namespace Voron.Benchmarks.Workloads;

/// <summary>The keys and values of one transaction, filled between measured calls and used again for the next.</summary>
internal sealed class ItemBuffer
{
    private readonly ItemGenerator _generator;
    private readonly byte[] _keys;
    private readonly byte[] _values;

    public ItemBuffer(KeyOrder order, int capacity, bool withValues)
    {
        _generator = new ItemGenerator(order);

        // Pinned, so that handing a pointer to a native peer costs nothing and no collection moves them.
        _keys = GC.AllocateArray<byte>(capacity * ItemGenerator.KeyBytes, pinned: true);
        _values = GC.AllocateArray<byte>(withValues ? capacity * ItemGenerator.ValueBytes : 0, pinned: true);
        for (int offset = 0; offset < _values.Length; offset += ItemGenerator.ValueBytes)
            ItemGenerator.FixedText.CopyTo(_values.AsSpan(offset + ItemGenerator.RandomValueBytes));
    }

    public ReadOnlySpan<byte> Key(int index) => _keys.AsSpan(index * ItemGenerator.KeyBytes, ItemGenerator.KeyBytes);

    public ReadOnlySpan<byte> Value(int index) => _values.AsSpan(index * ItemGenerator.ValueBytes, ItemGenerator.ValueBytes);

    public void SetKey(int index, long item) => _generator.WriteKey(item, _keys.AsSpan(index * ItemGenerator.KeyBytes));

    public void SetValue(int index, long item, int version) =>
        ItemGenerator.WriteRandomValue(item, version, _values.AsSpan(index * ItemGenerator.ValueBytes));
}
