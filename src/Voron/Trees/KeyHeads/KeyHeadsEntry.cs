using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using Voron.Format;
using Voron.Trees.Pages;

namespace Voron.Trees.KeyHeads;

/// <summary>
/// The first four distinguishing bytes of the keys of one page, stored contiguously as numbers in key order: a search reads a few cache lines
/// sequentially instead of jumping around in the page. The heads follow this header, and are followed by the children or the offsets of the records.
/// </summary>
/// <remarks>
/// The prefix shared by all keys of the page is omitted, so that keys with a long common prefix can be distinguished as well as others. Equal heads
/// are inconclusive: then the page itself decides. Most entries are built soon after the process has opened a store, before the runtime has
/// identified this code as hot, so attributes request its optimization.
/// </remarks>
[StructLayout(LayoutKind.Explicit, Size = HeaderSize)]
internal unsafe struct KeyHeadsEntry
{
    public const int HeaderSize = 64;

    private const int MaxPrefixBytes = 40;

    /// <summary>The number of heads that the final step of a search compares at once.</summary>
    public const int KeyHeadsAtOnce = 32;

    /// <summary>The page number; 0, which is never that of a tree page, in an unused entry.</summary>
    [FieldOffset(0)]
    public long Page;

    /// <summary>The number of heads.</summary>
    [FieldOffset(8)]
    public int Count;

    /// <summary>The length of the prefix shared by all keys of the page. The bytes of a head follow it in the key.</summary>
    [FieldOffset(12)]
    public int PrefixLength;

    [FieldOffset(16)]
    private fixed byte _prefix[MaxPrefixBytes];

    /// <summary>Odd while the entry is being written. Used only for entries read by threads other than the one holding the writer.</summary>
    [FieldOffset(56)]
    public uint Sequence;

    /// <summary>The distance in records between two heads; the first head belongs to the page's first record.</summary>
    [FieldOffset(60)]
    public int Step;

    public uint* Heads
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => (uint*)((byte*)Unsafe.AsPointer(ref this) + HeaderSize);
    }

    /// <summary>Returns the largest number of entries that a branch can have.</summary>
    public static int MaxBranchEntries(int pageSize) =>
        SlottedPage.Capacity(pageSize) / (BranchRecordHeader.Size + SlottedPage.SlotSize) + 1;

    /// <summary>
    /// Returns the size in bytes of a header, <paramref name="count"/> heads, and the padding that a search reads past the last head.
    /// </summary>
    public static int KeyHeadsBytes(int count) => HeaderSize + ((count + KeyHeadsAtOnce + 7) & ~7) * sizeof(uint);

    /// <summary>Returns the size in bytes of the largest entry of a branch, rounded up to whole cache lines.</summary>
    public static int BranchBytes(int pageSize) =>
        (KeyHeadsBytes(MaxBranchEntries(pageSize)) + MaxBranchEntries(pageSize) * sizeof(long) + 63) & ~63;

    /// <summary>Fills in the heads of a branch's separators and its children: separator i belongs to child i + 1.</summary>
    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    public void FillBranch(byte* branch, int separators, long* children)
    {
        Count = separators;
        Step = 1;
        SetPrefix(separators == 0
            ? default
            : CommonPrefix(BranchPage.Key(SlottedPage.Record(branch, 1)), BranchPage.Key(SlottedPage.Record(branch, separators))));
        var heads = Heads;
        children[0] = BranchPage.Child(branch, 0).Value;
        for (var i = 0; i < separators; i++)
        {
            var record = SlottedPage.Record(branch, i + 1);
            heads[i] = Head(BranchPage.KeyBytes(record) + PrefixLength, BranchPage.KeyLength(record) - PrefixLength);
            children[i + 1] = BranchPage.Child(branch, i + 1).Value;
        }

        Pad();
    }

    /// <summary>
    /// Fills in the heads of a leaf's keys, one for each key or for every <see cref="Step"/>-th, and the offsets of their records. An entry has at
    /// most as many heads as a search compares at once, so a search reads no others.
    /// </summary>
    public void FillLeaf(byte* leaf, ushort* offsets)
    {
        var records = SlottedPage.Count(leaf);
        Step = Math.Max(1, (records + KeyHeadsAtOnce - 1) / KeyHeadsAtOnce);
        Count = (records + Step - 1) / Step;
        SetPrefix(records == 0
            ? default
            : CommonPrefix(LeafPage.Key(SlottedPage.Record(leaf, 0)), LeafPage.Key(SlottedPage.Record(leaf, records - 1))));
        var heads = Heads;
        for (var i = 0; i < Count; i++)
        {
            var record = SlottedPage.Record(leaf, i * Step);
            heads[i] = Head(LeafPage.KeyBytes(record) + PrefixLength, LeafPage.KeyLength(record) - PrefixLength);
            offsets[i] = (ushort)(record - leaf);
        }

        PadTo(KeyHeadsAtOnce);
    }

    /// <summary>
    /// Finds the position of a key: after the first <paramref name="less"/> heads and before those from <paramref name="notGreater"/> on. The heads
    /// in between equal the key's own head, so they do not decide its position.
    /// </summary>
    /// <returns>False if the key does not begin with the prefix shared by all keys of the page.</returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool Search(in SearchKey key, out int less, out int notGreater)
    {
        // Read once: another thread may be writing the entry, and the length compared and the length skipped must be the same.
        var prefix = Volatile.Read(ref PrefixLength);
        var order = prefix == 0 ? 0 : ComparePrefix(prefix, key.Bytes, key.Length);
        if (order != 0)
        {
            less = notGreater = order > 0 ? Count : 0;
            return false;
        }

        var head = Head(key.Bytes + prefix, key.Length - prefix);
        less = notGreater = CountBelow(Heads, Count, head);
        while (notGreater < Count && Heads[notGreater] == head)
            notGreater++;
        return true;
    }

    /// <summary>Returns a negative number if a key sorts before all keys with the prefix, and 0 if it begins with the prefix.</summary>
    public int ComparePrefix(byte* key, int length) => ComparePrefix(PrefixLength, key, length);

    private int ComparePrefix(int prefixLength, byte* key, int length)
    {
        var prefix = MemoryMarshal.CreateReadOnlySpan(ref _prefix[0], prefixLength);
        return new ReadOnlySpan<byte>(key, Math.Min(length, prefixLength)).SequenceCompareTo(prefix);
    }

    /// <summary>Returns up to four bytes as a number, padded with zeros.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static uint Head(byte* bytes, int length)
    {
        if (length >= sizeof(uint))
            return System.Buffers.Binary.BinaryPrimitives.ReverseEndianness(Unsafe.ReadUnaligned<uint>(bytes));
        uint head = 0;
        for (var i = 0; i < length; i++)
            head |= (uint)bytes[i] << (24 - 8 * i);
        return head;
    }

    /// <summary>Appends padding, the largest possible head, for as many heads as a search may read past the last one.</summary>
    public void Pad() => PadTo(Count + KeyHeadsAtOnce);

    private void PadTo(int count)
    {
        for (var i = Count; i < count; i++)
            Heads[i] = uint.MaxValue;
    }

    /// <summary>
    /// Counts the heads below a given one. The heads are sorted, so bisection narrows down the position. The last few candidates are all compared at
    /// once. Neither step has a branch that could be mispredicted.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static int CountBelow(uint* heads, int count, uint head)
    {
        var from = 0;
        while (count > KeyHeadsAtOnce)
        {
            var half = count >> 1;
            var isBelow = heads[from + half - 1] < head;
            from += half & -(int)Unsafe.As<bool, byte>(ref isBelow);
            count -= half;
        }

        // Heads read past the remaining candidates are no smaller than those, so they are not counted.
        var wanted = Vector256.Create(head);
        var window = heads + from;
        var below = Vector256.LessThan(Vector256.Load(window), wanted) + Vector256.LessThan(Vector256.Load(window + 8), wanted);
        below += Vector256.LessThan(Vector256.Load(window + 16), wanted) + Vector256.LessThan(Vector256.Load(window + 24), wanted);
        return from - (int)Vector256.Sum(below);
    }

    // With only one key, or if the first key is a prefix of the last, at least the first key's last byte remains as its head.
    private static ReadOnlySpan<byte> CommonPrefix(ReadOnlySpan<byte> first, ReadOnlySpan<byte> last)
    {
        var length = Math.Min(first.CommonPrefixLength(last), Math.Max(0, first.Length - 1));
        return first[..Math.Min(length, MaxPrefixBytes)];
    }

    private void SetPrefix(ReadOnlySpan<byte> prefix)
    {
        Debug.Assert(prefix.Length <= MaxPrefixBytes);
        PrefixLength = prefix.Length;
        prefix.CopyTo(MemoryMarshal.CreateSpan(ref _prefix[0], MaxPrefixBytes));
    }
}

/// <summary>The location of a child's page number in an entry.</summary>
internal readonly unsafe struct ChildPlace(KeyHeadsEntry* entry, uint sequence, long* child)
{
    public readonly KeyHeadsEntry* Entry = entry;
    public readonly uint Sequence = sequence;
    public readonly long* Child = child;
}
