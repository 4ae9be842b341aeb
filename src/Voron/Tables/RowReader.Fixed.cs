using System.Buffers.Binary;
using System.Numerics;
using System.Runtime.CompilerServices;

namespace Voron.Tables;

/// <content>Fixed-size fields.</content>
public ref partial struct RowReader
{
    private const int ScaleShift = 16;
    private const int ScaleMask = 0xFF << ScaleShift;
    private const int MaxScale = 28;
    private const int MaxOffsetMinutes = 14 * 60;

    /// <summary>Reads a truth value of one byte.</summary>
    /// <exception cref="RowFormatException">
    /// The row has no further fixed-size field, too few bytes are left, or the bytes are not a valid value.
    /// </exception>
    public bool ReadBoolean() => ReadFlag("Boolean");

    /// <summary>Reads a signed integer of one byte.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public sbyte ReadSByte() => (sbyte)Read<byte>("SByte");

    /// <summary>Reads an unsigned integer of one byte.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public byte ReadByte() => Read<byte>("Byte");

    /// <summary>Reads a signed integer of two bytes.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public short ReadInt16() => (short)Read<ushort>("Int16");

    /// <summary>Reads an unsigned integer of two bytes.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public ushort ReadUInt16() => Read<ushort>("UInt16");

    /// <summary>Reads a signed integer of four bytes.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public int ReadInt32() => (int)Read<uint>("Int32");

    /// <summary>Reads an unsigned integer of four bytes.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public uint ReadUInt32() => Read<uint>("UInt32");

    /// <summary>Reads a signed integer of eight bytes.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public long ReadInt64() => (long)Read<ulong>("Int64");

    /// <summary>Reads an unsigned integer of eight bytes.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public ulong ReadUInt64() => Read<ulong>("UInt64");

    /// <summary>Reads a signed integer of 16 bytes.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public Int128 ReadInt128() => (Int128)Read<UInt128>("Int128");

    /// <summary>Reads an unsigned integer of 16 bytes.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public UInt128 ReadUInt128() => Read<UInt128>("UInt128");

    /// <summary>Reads a floating-point number of two bytes.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public Half ReadHalf() => BitConverter.UInt16BitsToHalf(Read<ushort>("Half"));

    /// <summary>Reads a floating-point number of four bytes.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public float ReadSingle() => BitConverter.UInt32BitsToSingle(Read<uint>("Single"));

    /// <summary>Reads a floating-point number of eight bytes.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public double ReadDouble() => BitConverter.UInt64BitsToDouble(Read<ulong>("Double"));

    /// <summary>Reads a decimal of 16 bytes.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public decimal ReadDecimal()
    {
        var field = Take(sizeof(decimal), "Decimal");
        var scale = BinaryPrimitives.ReadInt32LittleEndian(field[12..]);
        if ((scale & ~(int.MinValue | ScaleMask)) != 0 || (scale & ScaleMask) >> ScaleShift > MaxScale)
            RefuseValue("Decimal", sizeof(decimal));
        return new decimal(
            BinaryPrimitives.ReadInt32LittleEndian(field), BinaryPrimitives.ReadInt32LittleEndian(field[4..]),
            BinaryPrimitives.ReadInt32LittleEndian(field[8..]), scale < 0, (byte)(scale >> ScaleShift));
    }

    /// <summary>Reads a GUID of 16 bytes.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public Guid ReadGuid() => new(Take(FixedField.GuidSize, "Guid"), bigEndian: true);

    /// <summary>Reads a point in time of eight bytes. It has the <see cref="DateTime.Kind"/> with which it was written.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public DateTime ReadDateTime()
    {
        var bits = Read<ulong>("DateTime");
        var kind = (DateTimeKind)(bits >> FixedField.KindShift);
        var ticks = bits & ((1UL << FixedField.KindShift) - 1);
        if (kind > DateTimeKind.Local || ticks > (ulong)DateTime.MaxValue.Ticks)
            RefuseValue("DateTime", sizeof(ulong));
        return new DateTime((long)ticks, kind);
    }

    /// <summary>Reads a point in time with its offset: ten bytes.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public DateTimeOffset ReadDateTimeOffset()
    {
        var field = Take(FixedField.DateTimeOffsetSize, "DateTimeOffset");
        var utc = BinaryPrimitives.ReadUInt64LittleEndian(field);
        var minutes = BinaryPrimitives.ReadInt16LittleEndian(field[sizeof(ulong)..]);
        var local = utc + (ulong)(minutes * TimeSpan.TicksPerMinute);
        if (minutes is < -MaxOffsetMinutes or > MaxOffsetMinutes || utc > (ulong)DateTime.MaxValue.Ticks || local > (ulong)DateTime.MaxValue.Ticks)
            RefuseValue("DateTimeOffset", FixedField.DateTimeOffsetSize);
        return new DateTimeOffset((long)local, TimeSpan.FromMinutes(minutes));
    }

    /// <summary>Reads a date of four bytes.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public DateOnly ReadDateOnly()
    {
        var day = Read<uint>("DateOnly");
        if (day > (uint)DateOnly.MaxValue.DayNumber)
            RefuseValue("DateOnly", sizeof(uint));
        return DateOnly.FromDayNumber((int)day);
    }

    /// <summary>Reads a time of day of eight bytes.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public TimeOnly ReadTimeOnly()
    {
        var ticks = Read<ulong>("TimeOnly");
        if (ticks > (ulong)TimeOnly.MaxValue.Ticks)
            RefuseValue("TimeOnly", sizeof(ulong));
        return new TimeOnly((long)ticks);
    }

    /// <summary>Reads an interval of eight bytes.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public TimeSpan ReadTimeSpan() => new((long)Read<ulong>("TimeSpan"));

    /// <summary>Reads an unsigned integer.</summary>
    private T Read<T>(string type)
        where T : unmanaged, IBinaryInteger<T> => T.ReadLittleEndian(Take(Unsafe.SizeOf<T>(), type), isUnsigned: true);

    private bool ReadFlag(string type)
    {
        var bits = Read<byte>(type);
        if (bits > 1)
            RefuseValue(type, sizeof(byte));
        return bits != 0;
    }
}
