using System.Runtime.CompilerServices;
using Voron.Format;
using Voron.Trees.Pages;

namespace Voron.Trees;

/// <content>Compressed values, decompressed into a buffer of the cursor and valid until it moves.</content>
internal sealed unsafe partial class TreeCursor
{
    private const int MaxKeptBytes = 16 << 10;

    private byte[] _unpacked = [];
    private int _unpackedLength;
    private byte* _unpackedFrom;
    private long _unpackedAt;

    /// <summary>The length of the value, determined without reading its extent or decompressing it.</summary>
    public long ValueLength => LeafValue.Length(Record);

    /// <summary>Returns the header of the value if it is compressed.</summary>
    public bool TryGetPacked(out PackedValue packed)
    {
        var header = LeafPage.Packed(Record);
        packed = header == null ? default : *header;
        return header != null;
    }

    /// <summary>Returns the plain and the stored length of the value, in bytes, if it is compressed.</summary>
    public bool TryGetPackedLengths(out int plain, out long stored)
    {
        (plain, stored) = (0, 0);
        if (!TryGetPacked(out var packed))
            return false;
        plain = packed.Length;
        stored = LeafPage.InlineLength(Record);
        var outside = LeafPage.Overflow(Record);
        if (outside != null)
            stored += outside->Length;
        return true;
    }

    /// <summary>True if the value is a large one, written directly to the data file.</summary>
    public bool HasLargeValue => LeafPage.Kind(Record) == ValueKind.LargeExtent;

    // The value remains in the buffer until that of another entry is read, so that reading a value twice decompresses it once.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private ReadOnlySpan<byte> Unpack(byte* record)
    {
        var state = _tree!;
        if (_unpackedFrom == record && _unpackedAt == state.ChangeCount)
            return _unpacked.AsSpan(0, _unpackedLength);
        var length = (int)LeafValue.Length(record);
        _unpackedFrom = null;
        if (_unpacked.Length < length)
            _unpacked = GC.AllocateUninitializedArray<byte>(Math.Max(length, Math.Min(2 * _unpacked.Length, MaxKeptBytes)));
        PackedReader.Unpack(_reader!, record, state.TreeId, _unpacked.AsSpan(0, length));
        _unpackedFrom = record;
        (_unpackedAt, _unpackedLength) = (state.ChangeCount, length);
        return _unpacked.AsSpan(0, length);
    }

    private void ForgetUnpacked()
    {
        _unpackedFrom = null;
        if (_unpacked.Length > MaxKeptBytes)
            _unpacked = [];
    }
}
