using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Voron.IO;
using Voron.Primitives;

namespace Voron.Trees;

/// <summary>
/// Puts of a write transaction that wait to be applied to their tree together, in the order in which they came.
/// </summary>
/// <remarks>
/// A single put waits for memory at each level of the tree and again while its leaf is copied. Applied as a group, the
/// puts go down the tree side by side, and each leaf is asked for while the ones before it are changed. Whoever looks at the
/// tree applies what is buffered first: no read ever sees the tree without it.
/// </remarks>
internal sealed unsafe class PutBuffer
{
    /// <summary>Puts that are applied at once at the latest.</summary>
    public const int MaxCount = 256;

    private const int BufferBytes = 128 << 10;

    /// <summary>Larger ones gain nothing by waiting: copying them twice costs more.</summary>
    private const int MaxItemBytes = 1024;

    /// <summary>Fewer are applied one by one.</summary>
    private const int LeastGroup = 4;

    // Leaves are asked for this many puts before they are copied: far enough for memory to answer, near enough to stay cached.
    private const int LeavesAhead = 2;

    private readonly Item[] _items = new Item[MaxCount];
    private readonly byte[] _bytes = GC.AllocateUninitializedArray<byte>(BufferBytes, pinned: true);
    private int _used;

    /// <summary>Puts that wait.</summary>
    public int Count { get; private set; }

    public static bool CanHold(int keyLength, int valueLength) => keyLength + valueLength <= MaxItemBytes;

    /// <summary>Copies a put to the end; false when there is no room before the others are applied.</summary>
    public bool TryAdd(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        if (Count == MaxCount || _used + key.Length + value.Length > BufferBytes)
            return false;

        key.CopyTo(_bytes.AsSpan(_used));
        value.CopyTo(_bytes.AsSpan(_used + key.Length));
        _items[Count++] = new Item(_used, key.Length, value.Length);
        _used += key.Length + value.Length;
        return true;
    }

    /// <summary>Forgets what waits.</summary>
    public void Clear()
    {
        Count = 0;
        _used = 0;
    }

    /// <summary>Applies all puts and forgets them, also when one of them fails.</summary>
    public void Apply(PageWriter writer, TreeState state)
    {
        try
        {
            var from = 0;
            if (Count > LeastGroup && !state.Root.IsNone)
            {
                // The last one goes its own way, which tells whether keys are being appended.
                for (int count; from < Count - 1; from += count)
                {
                    count = Math.Min(GroupSearch.Width, Count - 1 - from);
                    ApplyGroup(writer, state, from, count);
                }
            }

            for (; from < Count; from++)
                TreeWriter.Put(writer, state, Key(from), Value(from));
        }
        finally
        {
            Clear();
        }
    }

    [SkipLocalsInit]
    private void ApplyGroup(PageWriter writer, TreeState state, int from, int count)
    {
        var keys = stackalloc SearchKey[GroupSearch.Width];
        var leaves = stackalloc PageNumber[GroupSearch.Width];
        var bytes = (byte*)Unsafe.AsPointer(ref MemoryMarshal.GetArrayDataReference(_bytes));
        for (var i = 0; i < count; i++)
            keys[i] = new SearchKey(bytes + _items[from + i].Offset, _items[from + i].KeyLength);

        GroupSearch.FindLeaves(state, writer, writer.Heads, keys, count, leaves);
        writer.PrefetchVersions(leaves, count);
        for (var i = 0; i < LeavesAhead && i < count; i++)
            PrefetchPage(writer, leaves[i]);

        for (var i = 0; i < count; i++)
        {
            if (i + LeavesAhead < count)
                PrefetchPage(writer, leaves[i + LeavesAhead]);
            var leaf = leaves[i];
            if (leaf.IsNone)
            {
                TreeWriter.Put(writer, state, Key(from + i), Value(from + i));
                continue;
            }

            var leafPages = state.LeafPages;
            TreeWriter.PutAt(writer, state, leaf, keys[i], Value(from + i));
            if (state.LeafPages != leafPages)
                ForgetLeaf(leaves + i + 1, count - i - 1, leaf);
        }
    }

    /// <summary>A leaf was divided: what is still to go there has to look for its half.</summary>
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

    private ReadOnlySpan<byte> Key(int index) => _bytes.AsSpan(_items[index].Offset, _items[index].KeyLength);

    private ReadOnlySpan<byte> Value(int index) =>
        _bytes.AsSpan(_items[index].Offset + _items[index].KeyLength, _items[index].ValueLength);

    private readonly record struct Item(int Offset, int KeyLength, int ValueLength);
}
