using System.Buffers;
using System.Buffers.Binary;

namespace Voron.Tables;

/// <summary>
/// Makes the entries of a bulk load from rows: the primary key, and the bytes of the row, preceded by its keys in the indexes if these are built.
/// </summary>
/// <remarks>
/// <code>
///   | length (2) | index (1) | key | for each key | 0 (2) | row |
/// </code>
/// Its buffers are left to the garbage collector, because a load may be disposed of while a row is written.
/// </remarks>
/// <param name="functions">The functions of the definition.</param>
/// <param name="bound">The table, open in the transaction that begins the load.</param>
internal sealed class RowEncoder<TRow>(RowFunctions<TRow> functions, BoundTable bound)
{
    private const int LengthBytes = sizeof(ushort);

    private readonly OpenIndex[] _indexes = [.. bound.Binding.Slots.Select(static index => new OpenIndex(index, default, default))];
    private readonly RowIndexKeys _keys = NewKeys(bound);
    private readonly ArrayBufferWriter<byte> _value = new();
    private readonly byte[] _rowId = new byte[RowIdBytes.Bytes];
    private readonly bool _writesExpiry = bound.WritesExpiry;
    private readonly long _now = bound.Now;

    /// <summary>The version that all rows get; null if transactions give them versions, and keys.</summary>
    public RowVersion? Version { get; init; }

    /// <summary>True if an expired row replaces the one with its key; false if it has no effect.</summary>
    public bool ExpiredReplace { get; init; }

    private RowBuffer Row { get; } = new();

    /// <summary>Makes an entry. Its value is empty if the row is expired, and no transaction stores it.</summary>
    /// <returns>False if the row has no effect.</returns>
    /// <exception cref="RowFormatException">The codec cannot write the row.</exception>
    /// <exception cref="IndexKeyException">The function of an index failed.</exception>
    /// <exception cref="KeyTooLongException">A key is too long.</exception>
    public bool TryEncode(in TRow row, out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
    {
        functions.Write(row, Row);
        Row.Expiry = _writesExpiry ? functions.ComputeExpiry(row, null) : null;
        var rowId = functions.ComputeKeys(row, null, _keys, Row.Expiry);
        key = functions.KeyCodecName == null ? RowIdBytes.Write(rowId, _rowId) : _keys[0][0];
        value = default;
        var isExpired = Row.Expiry <= _now;
        if (isExpired && !ExpiredReplace)
            return false;
        if (Version is not { } version)
        {
            value = Row.Finish(1);
            return true;
        }

        if (isExpired)
            return true;
        _value.ResetWrittenCount();
        for (var slot = functions.KeyCodecName == null ? 0 : 1; slot < _indexes.Length; slot++)
        {
            var keys = _keys[slot];
            for (var i = 0; i < keys.Count; i++)
            {
                if (_indexes[slot].Contains(keys, i))
                    WriteKey(slot, keys[i]);
            }
        }

        WriteLength(0);
        _value.Write(Row.Finish(version.Value));
        value = _value.WrittenSpan;
        return true;
    }

    private static RowIndexKeys NewKeys(BoundTable bound)
    {
        var keys = new RowIndexKeys(bound.Binding.Slots.Length, bound.Trees.MaxKeyLength);
        for (var slot = 0; slot < bound.Binding.Slots.Length; slot++)
            keys.Want(slot, bound.IndexOf(slot).State is IndexState.Ready or IndexState.Building);
        return keys;
    }

    private void WriteKey(int slot, ReadOnlySpan<byte> key)
    {
        WriteLength(key.Length);
        _value.Write([(byte)slot]);
        _value.Write(key);
    }

    private void WriteLength(int length)
    {
        BinaryPrimitives.WriteUInt16LittleEndian(_value.GetSpan(LengthBytes), (ushort)length);
        _value.Advance(LengthBytes);
    }
}

/// <summary>Reads the entries that a <see cref="RowEncoder{TRow}"/> has made.</summary>
internal static class RowEntry
{
    /// <summary>Takes the next key from an entry; false if none is left: then the rest is the row.</summary>
    public static bool TryTakeKey(ref ReadOnlySpan<byte> rest, out int slot, out ReadOnlySpan<byte> key)
    {
        int length = BinaryPrimitives.ReadUInt16LittleEndian(rest);
        rest = rest[sizeof(ushort)..];
        slot = 0;
        key = default;
        if (length == 0)
            return false;
        slot = rest[0];
        key = rest.Slice(1, length);
        rest = rest[(1 + length)..];
        return true;
    }
}
