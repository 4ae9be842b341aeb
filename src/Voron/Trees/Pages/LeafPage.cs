using System.Runtime.CompilerServices;
using Voron.Format;

namespace Voron.Trees.Pages;

/// <summary>Reads the records of a leaf.</summary>
internal unsafe struct LeafPage : IRecordLayout
{
    // With more entries in a leaf, most of the prefetched ones would not be read.
    private const int PrefetchUpTo = 48;

    public static int KeyOffset => LeafRecordHeader.Size;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int RecordSize(byte* record) => LeafRecordHeader.Size + KeyLength(record) + InlineLength(record);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int KeyLength(byte* record) => ((LeafRecordHeader*)record)->KeyLengthAndKind & LeafRecordHeader.KeyLengthMask;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ValueKind Kind(byte* record) =>
        (ValueKind)(((LeafRecordHeader*)record)->KeyLengthAndKind >> LeafRecordHeader.KindShift);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int InlineLength(byte* record) => ((LeafRecordHeader*)record)->InlineLength;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static byte* KeyBytes(byte* record) => record + LeafRecordHeader.Size;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static byte* InlineBytes(byte* record) => record + LeafRecordHeader.Size + KeyLength(record);

    public static ReadOnlySpan<byte> Key(byte* record) => new(KeyBytes(record), KeyLength(record));

    /// <summary>Returns the reference to the overflow extent of a record's value, compressed or not; null if it has none.</summary>
    public static OverflowReference* Overflow(byte* record)
    {
        var behind = InlineBytes(record);
        return Kind(record) switch
        {
            ValueKind.Overflow => (OverflowReference*)behind,
            ValueKind.Extended when *(ExtendedForm*)behind == ExtendedForm.PackedOutside => (OverflowReference*)(behind + PackedValue.Size),
            _ => null,
        };
    }

    /// <summary>Returns the header of a compressed value; null if the value of the record is not compressed.</summary>
    public static PackedValue* Packed(byte* record) =>
        Kind(record) == ValueKind.Extended && ExtendedRecord.IsPacked(InlineBytes(record)) ? (PackedValue*)InlineBytes(record) : null;

    public static ushort LengthAndKind(int keyLength, ValueKind kind) => (ushort)(keyLength | (int)kind << LeafRecordHeader.KindShift);

    /// <summary>Returns the index of the entry with this key; if there is none, the complement of its insertion index.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int Search(byte* page, in SearchKey key)
    {
        PageSearch.PrefetchKeys(page, PrefetchUpTo);
        return Find(page, key);
    }

    /// <summary>Like <see cref="Search"/>, for a leaf already in the cache.</summary>
    public static int Find(byte* page, in SearchKey key) => PageSearch.Find<LeafPage>(page, 0, key);
}
