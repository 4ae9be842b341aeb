using System.Numerics;
using System.Runtime.CompilerServices;

namespace Voron.Tables;

/// <content>Fixed-size fields.</content>
public readonly ref partial struct RowWriter
{
    /// <summary>Writes a truth value: one byte.</summary>
    /// <exception cref="InvalidOperationException">The writer is the default value, or the row exceeds the maximum length of an array.</exception>
    public void WriteBoolean(bool value) => Write((byte)(value ? 1 : 0));

    /// <summary>Writes a signed integer: one byte.</summary>
    /// <inheritdoc cref="WriteBoolean"/>
    public void WriteSByte(sbyte value) => Write((byte)value);

    /// <summary>Writes an unsigned integer: one byte.</summary>
    /// <inheritdoc cref="WriteBoolean"/>
    public void WriteByte(byte value) => Write(value);

    /// <summary>Writes a signed integer: two bytes.</summary>
    /// <inheritdoc cref="WriteBoolean"/>
    public void WriteInt16(short value) => Write(value);

    /// <summary>Writes an unsigned integer: two bytes.</summary>
    /// <inheritdoc cref="WriteBoolean"/>
    public void WriteUInt16(ushort value) => Write(value);

    /// <summary>Writes a signed integer: four bytes.</summary>
    /// <inheritdoc cref="WriteBoolean"/>
    public void WriteInt32(int value) => Write(value);

    /// <summary>Writes an unsigned integer: four bytes.</summary>
    /// <inheritdoc cref="WriteBoolean"/>
    public void WriteUInt32(uint value) => Write(value);

    /// <summary>Writes a signed integer: eight bytes.</summary>
    /// <inheritdoc cref="WriteBoolean"/>
    public void WriteInt64(long value) => Write(value);

    /// <summary>Writes an unsigned integer: eight bytes.</summary>
    /// <inheritdoc cref="WriteBoolean"/>
    public void WriteUInt64(ulong value) => Write(value);

    /// <summary>Writes a signed integer: 16 bytes.</summary>
    /// <inheritdoc cref="WriteBoolean"/>
    public void WriteInt128(Int128 value) => Write(value);

    /// <summary>Writes an unsigned integer: 16 bytes.</summary>
    /// <inheritdoc cref="WriteBoolean"/>
    public void WriteUInt128(UInt128 value) => Write(value);

    /// <summary>Writes a floating-point number: two bytes. All of its bits are kept, including those of a NaN.</summary>
    /// <inheritdoc cref="WriteBoolean"/>
    public void WriteHalf(Half value) => Write(BitConverter.HalfToUInt16Bits(value));

    /// <summary>Writes a floating-point number: four bytes. All of its bits are kept, including those of a NaN.</summary>
    /// <inheritdoc cref="WriteBoolean"/>
    public void WriteSingle(float value) => Write(BitConverter.SingleToUInt32Bits(value));

    /// <summary>Writes a floating-point number: eight bytes. All of its bits are kept, including those of a NaN.</summary>
    /// <inheritdoc cref="WriteBoolean"/>
    public void WriteDouble(double value) => Write(BitConverter.DoubleToUInt64Bits(value));

    /// <summary>Writes a decimal: 16 bytes. Trailing zeros are kept: 1.0 and 1.00 have different bytes.</summary>
    /// <inheritdoc cref="WriteBoolean"/>
    public void WriteDecimal(decimal value)
    {
        Span<int> parts = stackalloc int[4];
        decimal.GetBits(value, parts);
        foreach (var part in parts)
            Write(part);
    }

    /// <summary>Writes a GUID: 16 bytes.</summary>
    /// <inheritdoc cref="WriteBoolean"/>
    public void WriteGuid(Guid value) => value.TryWriteBytes(Buffer.TakeFixed(FixedField.GuidSize), bigEndian: true, out _);

    /// <summary>
    /// Writes a point in time: eight bytes. Its ticks and its <see cref="DateTime.Kind"/> are kept, so a local time is another instant in another
    /// time zone.
    /// </summary>
    /// <inheritdoc cref="WriteBoolean"/>
    public void WriteDateTime(DateTime value) => Write((ulong)value.Ticks | (ulong)value.Kind << FixedField.KindShift);

    /// <summary>Writes a point in time with its offset: ten bytes.</summary>
    /// <inheritdoc cref="WriteBoolean"/>
    public void WriteDateTimeOffset(DateTimeOffset value)
    {
        Write(value.UtcTicks);
        Write((short)value.TotalOffsetMinutes);
    }

    /// <summary>Writes a date: four bytes.</summary>
    /// <inheritdoc cref="WriteBoolean"/>
    public void WriteDateOnly(DateOnly value) => Write(value.DayNumber);

    /// <summary>Writes a time of day: eight bytes.</summary>
    /// <inheritdoc cref="WriteBoolean"/>
    public void WriteTimeOnly(TimeOnly value) => Write(value.Ticks);

    /// <summary>Writes an interval: eight bytes.</summary>
    /// <inheritdoc cref="WriteBoolean"/>
    public void WriteTimeSpan(TimeSpan value) => Write(value.Ticks);

    private void Write<T>(T bits)
        where T : unmanaged, IBinaryInteger<T> => bits.TryWriteLittleEndian(Buffer.TakeFixed(Unsafe.SizeOf<T>()), out _);
}
