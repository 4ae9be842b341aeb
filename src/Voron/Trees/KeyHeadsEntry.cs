using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using Voron.Format;

namespace Voron.Trees;

/// <summary>
/// The first four distinguishing bytes of the keys of one page, one behind the other, as numbers that rise with the keys: a
/// search reads a few lines from end to end instead of jumping about in the page. The heads follow this header, and behind
/// them what they stand for: children, or where records are.
/// </summary>
/// <remarks>
/// The bytes with which all keys of the page begin are left out, so that keys with a long common prefix are told apart as well
/// as others. Heads that are equal decide nothing: then the page itself has the last word. Entries are made when a store is new
/// to the process, mostly: too early for the runtime to have noticed that this code is worth optimising, so it is told.
/// </remarks>
[StructLayout(LayoutKind.Explicit, Size = HeaderSize)]
internal unsafe struct KeyHeadsEntry
{
    public const int HeaderSize = 64;

    private const int MaxPrefixBytes = 40;

    /// <summary>What a search compares at once, in the end.</summary>
    public const int KeyHeadsAtOnce = 32;

    /// <summary>The page; 0, which is no page of a tree, for none.</summary>
    [FieldOffset(0)]
    public long Page;

    /// <summary>How many heads there are.</summary>
    [FieldOffset(8)]
    public int Count;

    /// <summary>Bytes that all keys of the page begin with; those of a head come behind them.</summary>
    [FieldOffset(12)]
    public int PrefixLength;

    [FieldOffset(16)]
    private fixed byte _prefix[MaxPrefixBytes];

    /// <summary>Odd while the entry is being written. Used where others than the holder of the writer read it.</summary>
    [FieldOffset(56)]
    public uint Sequence;

    /// <summary>Heads stand for every so many records of the page, from its first on.</summary>
    [FieldOffset(60)]
    public int Step;

    public uint* Heads
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => (uint*)((byte*)Unsafe.AsPointer(ref this) + HeaderSize);
    }

    /// <summary>The most entries that a branch can have.</summary>
    public static int MaxBranchEntries(int pageSize) =>
        SlottedPage.Capacity(pageSize) / (BranchRecordHeader.Size + SlottedPage.SlotSize) + 1;

    /// <summary>Bytes of a header with room for so many heads, and for those that a search reads behind the last.</summary>
    public static int KeyHeadsBytes(int count) => HeaderSize + ((count + KeyHeadsAtOnce + 7) & ~7) * sizeof(uint);

    /// <summary>Bytes of the largest entry of a branch, whole lines.</summary>
    public static int BranchBytes(int pageSize) =>
        (KeyHeadsBytes(MaxBranchEntries(pageSize)) + MaxBranchEntries(pageSize) * sizeof(long) + 63) & ~63;

    /// <summary>Fills in the heads of a branch's separators, and its children: separator i belongs to child i + 1.</summary>
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
    /// Fills in the heads of a leaf's keys, of each or of every so many, and where their records are. There are at most as many
    /// heads as a search compares at once, so that it reads no others.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
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
    /// Where a key belongs: behind the first <paramref name="less"/> heads and before all from <paramref name="notGreater"/> on. Those
    /// between are equal to its own, which decides nothing.
    /// </summary>
    /// <returns>False when the key does not begin as all keys of the page do.</returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool Search(in SearchKey key, out int less, out int notGreater)
    {
        // Read once: where others write the entry meanwhile, the length compared and the length skipped have to be the same.
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

    /// <summary>Below zero when a key sorts before all keys with the prefix, 0 when it has it.</summary>
    public int ComparePrefix(byte* key, int length) => ComparePrefix(PrefixLength, key, length);

    private int ComparePrefix(int prefixLength, byte* key, int length)
    {
        var prefix = MemoryMarshal.CreateReadOnlySpan(ref _prefix[0], prefixLength);
        return new ReadOnlySpan<byte>(key, Math.Min(length, prefixLength)).SequenceCompareTo(prefix);
    }

    /// <summary>Up to four bytes as a number, padded with zeros.</summary>
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

    /// <summary>Puts the largest head of all behind the last, as often as a search may read on.</summary>
    public void Pad() => PadTo(Count + KeyHeadsAtOnce);

    private void PadTo(int count)
    {
        for (var i = Count; i < count; i++)
            Heads[i] = uint.MaxValue;
    }

    /// <summary>
    /// How many heads are below one. They rise, so halving finds the place; where it is known but for a few, all of these are
    /// compared at once. Neither has a branch that could be foretold wrongly.
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

        // What is read behind the window is no smaller than what is in it, so is not counted.
        var wanted = Vector256.Create(head);
        var window = heads + from;
        var below = Vector256.LessThan(Vector256.Load(window), wanted) + Vector256.LessThan(Vector256.Load(window + 8), wanted);
        below += Vector256.LessThan(Vector256.Load(window + 16), wanted) + Vector256.LessThan(Vector256.Load(window + 24), wanted);
        return from - (int)Vector256.Sum(below);
    }

    // With one key, or a first that begins the last, at least its last byte is left to be a head.
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
