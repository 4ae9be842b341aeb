using Voron.Keys;

namespace Voron;

/// <content>Fields of fixed length, and decimals.</content>
public ref partial struct KeyReader
{
    /// <summary>Reads a truth value.</summary>
    /// <exception cref="FormatException">
    /// The key ends before the field does, or the bytes there are not valid for the type of the field. The reader has not moved.
    /// </exception>
    public bool ReadBoolean() => DecodeBoolean(Ascending);

    /// <summary>Reads a signed integer of one byte.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public sbyte ReadSByte() => OrderedBits.ToSByte(Read<byte>("SByte", Ascending));

    /// <summary>Reads an unsigned integer of one byte.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public byte ReadByte() => Read<byte>("Byte", Ascending);

    /// <summary>Reads a signed integer of two bytes.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public short ReadInt16() => OrderedBits.ToInt16(Read<ushort>("Int16", Ascending));

    /// <summary>Reads an unsigned integer of two bytes.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public ushort ReadUInt16() => Read<ushort>("UInt16", Ascending);

    /// <summary>Reads a signed integer of four bytes.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public int ReadInt32() => OrderedBits.ToInt32(Read<uint>("Int32", Ascending));

    /// <summary>Reads an unsigned integer of four bytes.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public uint ReadUInt32() => Read<uint>("UInt32", Ascending);

    /// <summary>Reads a signed integer of eight bytes.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public long ReadInt64() => OrderedBits.ToInt64(Read<ulong>("Int64", Ascending));

    /// <summary>Reads an unsigned integer of eight bytes.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public ulong ReadUInt64() => Read<ulong>("UInt64", Ascending);

    /// <summary>Reads a signed integer of 16 bytes.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public Int128 ReadInt128() => OrderedBits.ToInt128(Read<UInt128>("Int128", Ascending));

    /// <summary>Reads an unsigned integer of 16 bytes.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public UInt128 ReadUInt128() => Read<UInt128>("UInt128", Ascending);

    /// <summary>Reads a floating-point number of two bytes.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public Half ReadHalf() => DecodeHalf(Ascending);

    /// <summary>Reads a floating-point number of four bytes.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public float ReadSingle() => DecodeSingle(Ascending);

    /// <summary>Reads a floating-point number of eight bytes.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public double ReadDouble() => DecodeDouble(Ascending);

    /// <summary>Reads a decimal, without its original trailing zeros.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public decimal ReadDecimal() => DecodeDecimal(Ascending);

    /// <summary>Reads a GUID.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public Guid ReadGuid() => DecodeGuid(Ascending);

    /// <summary>Reads a date.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public DateOnly ReadDateOnly() => DecodeDateOnly(Ascending);

    /// <summary>Reads a time of day.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public TimeOnly ReadTimeOnly() => DecodeTimeOnly(Ascending);

    /// <summary>Reads an interval.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public TimeSpan ReadTimeSpan() => new(OrderedBits.ToInt64(Read<ulong>("TimeSpan", Ascending)));

    /// <summary>Reads a point in time with its offset.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public DateTimeOffset ReadDateTimeOffset() => DecodeDateTimeOffset(Ascending);

    /// <summary>Reads a truth value in descending order.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public bool ReadBooleanDescending() => DecodeBoolean(Descending);

    /// <summary>Reads a signed integer of one byte in descending order.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public sbyte ReadSByteDescending() => OrderedBits.ToSByte(Read<byte>("SByte", Descending));

    /// <summary>Reads an unsigned integer of one byte in descending order.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public byte ReadByteDescending() => Read<byte>("Byte", Descending);

    /// <summary>Reads a signed integer of two bytes in descending order.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public short ReadInt16Descending() => OrderedBits.ToInt16(Read<ushort>("Int16", Descending));

    /// <summary>Reads an unsigned integer of two bytes in descending order.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public ushort ReadUInt16Descending() => Read<ushort>("UInt16", Descending);

    /// <summary>Reads a signed integer of four bytes in descending order.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public int ReadInt32Descending() => OrderedBits.ToInt32(Read<uint>("Int32", Descending));

    /// <summary>Reads an unsigned integer of four bytes in descending order.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public uint ReadUInt32Descending() => Read<uint>("UInt32", Descending);

    /// <summary>Reads a signed integer of eight bytes in descending order.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public long ReadInt64Descending() => OrderedBits.ToInt64(Read<ulong>("Int64", Descending));

    /// <summary>Reads an unsigned integer of eight bytes in descending order.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public ulong ReadUInt64Descending() => Read<ulong>("UInt64", Descending);

    /// <summary>Reads a signed integer of 16 bytes in descending order.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public Int128 ReadInt128Descending() => OrderedBits.ToInt128(Read<UInt128>("Int128", Descending));

    /// <summary>Reads an unsigned integer of 16 bytes in descending order.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public UInt128 ReadUInt128Descending() => Read<UInt128>("UInt128", Descending);

    /// <summary>Reads a floating-point number of two bytes in descending order.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public Half ReadHalfDescending() => DecodeHalf(Descending);

    /// <summary>Reads a floating-point number of four bytes in descending order.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public float ReadSingleDescending() => DecodeSingle(Descending);

    /// <summary>Reads a floating-point number of eight bytes in descending order.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public double ReadDoubleDescending() => DecodeDouble(Descending);

    /// <summary>Reads a decimal in descending order, without its original trailing zeros.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public decimal ReadDecimalDescending() => DecodeDecimal(Descending);

    /// <summary>Reads a GUID in descending order.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public Guid ReadGuidDescending() => DecodeGuid(Descending);

    /// <summary>Reads a date in descending order.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public DateOnly ReadDateOnlyDescending() => DecodeDateOnly(Descending);

    /// <summary>Reads a time of day in descending order.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public TimeOnly ReadTimeOnlyDescending() => DecodeTimeOnly(Descending);

    /// <summary>Reads an interval in descending order.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public TimeSpan ReadTimeSpanDescending() => new(OrderedBits.ToInt64(Read<ulong>("TimeSpan", Descending)));

    /// <summary>Reads a point in time with its offset in descending order.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public DateTimeOffset ReadDateTimeOffsetDescending() => DecodeDateTimeOffset(Descending);
}
