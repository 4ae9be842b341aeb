using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Voron.Compression;
using Voron.Paging;
using Voron.Transactions;
using Voron.Trees;
using Voron.Trees.Batches;
using Voron.Trees.Pages;

namespace Voron;

/// <summary>
/// Keys that <see cref="Tree.GetMany"/> looks up together, and the results. Looking up many keys together is several times faster than one after the
/// other, because their waits for memory overlap.
/// </summary>
/// <remarks>Meant to be reused: a batch that has reached its full size allocates nothing more. Only one thread at a time may use it.</remarks>
public sealed unsafe partial class LookupBatch
{
    private byte[] _keyBytes = GC.AllocateUninitializedArray<byte>(1024, pinned: true);
    private Slot[] _slots = new Slot[64];
    private int _used;
    private OpenTree? _tree;
    private long _generation;
    private ValueArena? _unpacked;

    /// <summary>The number of keys in the batch.</summary>
    public int Count { get; private set; }

    /// <summary>Removes all keys.</summary>
    public void Clear()
    {
        Count = 0;
        _used = 0;
        _tree = null;
    }

    /// <summary>Copies a key to the end of the batch.</summary>
    /// <returns>Its index.</returns>
    public int Add(ReadOnlySpan<byte> key)
    {
        _tree = null;
        if (Count == _slots.Length)
            Array.Resize(ref _slots, Count * 2);
        if (_used + key.Length > _keyBytes.Length)
        {
            var larger = GC.AllocateUninitializedArray<byte>(Math.Max(_keyBytes.Length * 2, _used + key.Length), pinned: true);
            _keyBytes.AsSpan(0, _used).CopyTo(larger);
            _keyBytes = larger;
        }

        key.CopyTo(_keyBytes.AsSpan(_used));
        _slots[Count] = new Slot { KeyOffset = _used, KeyLength = key.Length };
        _used += key.Length;
        return Count++;
    }

    /// <summary>Returns a key of the batch; valid until <see cref="Clear"/>.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The batch has no key with this index.</exception>
    public ReadOnlySpan<byte> Key(int index)
    {
        if ((uint)index >= (uint)Count)
            ThrowIndex(index);
        return _keyBytes.AsSpan(_slots[index].KeyOffset, _slots[index].KeyLength);
    }

    /// <summary>Gets the value that the last lookup found for a key; false when the tree does not contain the key.</summary>
    /// <param name="index">The index of the key, from 0.</param>
    /// <param name="value">
    /// As from <see cref="Tree.TryGet(ReadOnlySpan{byte}, out ReadOnlySpan{byte})"/>: valid until the transaction ends, or in a write transaction
    /// until its next write. A compressed value is valid until the next lookup of the batch.
    /// </param>
    /// <exception cref="InvalidOperationException">
    /// Nothing has been looked up since the batch changed, or the tree has been deleted in this transaction.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The batch has no key with this index.</exception>
    public bool TryGetValue(int index, out ReadOnlySpan<byte> value)
    {
        if ((uint)index >= (uint)Count)
            ThrowIndex(index);
        if (_tree == null)
            throw new InvalidOperationException("The batch has not been looked up since its keys changed. Call GetMany first.");
        _tree.ThrowIfClosed(_generation);
        ref var slot = ref _slots[index];
        value = new ReadOnlySpan<byte>(slot.Value, slot.ValueLength);
        return slot.IsFound;
    }

    internal int LookUp(OpenTree tree, long generation)
    {
        _tree = null;
        var state = tree.SettledState();
        var reader = tree.Owner.Pages;
        var found = 0;
        _unpacked?.Reset();
        for (int from = 0, count; from < Count; from += count)
        {
            count = Math.Min(ManyKeySearch.Width, Count - from);
            found += LookUpGroup(state, reader, from, count);
        }

        _tree = tree;
        _generation = generation;
        return found;
    }

    [SkipLocalsInit]
    private int LookUpGroup(TreeState state, PageReader reader, int from, int count)
    {
        var keys = stackalloc SearchKey[ManyKeySearch.Width];
        var records = stackalloc byte*[ManyKeySearch.Width];
        var bytes = (byte*)Unsafe.AsPointer(ref MemoryMarshal.GetArrayDataReference(_keyBytes));
        for (var i = 0; i < count; i++)
        {
            ref var slot = ref _slots[from + i];
            keys[i] = new SearchKey(bytes + slot.KeyOffset, slot.KeyLength);
            records[i] = null;
        }

        if (!state.Root.IsNone)
            ManyKeySearch.FindRecords(state, reader, keys, count, records);
        var found = 0;
        for (var i = 0; i < count; i++)
        {
            ref var slot = ref _slots[from + i];
            slot.IsFound = records[i] != null;
            var value = slot.IsFound ? Read(reader, records[i], state.TreeId) : default;
            slot.Value = (byte*)Unsafe.AsPointer(ref MemoryMarshal.GetReference(value));
            slot.ValueLength = value.Length;
            found += slot.IsFound ? 1 : 0;
        }

        return found;
    }

    // Decompressed values are kept in the batch until its next lookup.
    private ReadOnlySpan<byte> Read(PageReader reader, byte* record, uint treeId)
    {
        var packed = LeafPage.Packed(record);
        if (packed == null)
            return LeafValue.Read(reader, record, treeId);
        var value = (_unpacked ??= new ValueArena()).Rent(packed->Length);
        PackedReader.Unpack(reader, record, treeId, value);
        return value;
    }

    [DoesNotReturn]
    private void ThrowIndex(int index) => throw new ArgumentOutOfRangeException(
        nameof(index), index, $"The batch has {Count} keys, whose indexes begin at 0.");

    private struct Slot
    {
        public int KeyOffset;
        public int KeyLength;
        public byte* Value;
        public int ValueLength;
        public bool IsFound;
    }
}
