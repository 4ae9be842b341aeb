namespace Voron.Tables;

/// <content>Fixed-size fields that can be null: a marker byte, and the value or as many zeros.</content>
public readonly ref partial struct RowWriter
{
    /// <summary>Writes a truth value or null: two bytes.</summary>
    /// <inheritdoc cref="WriteBoolean"/>
    public void WriteNullableBoolean(bool? value) => WriteBoolean(WriteMarker(value));

    /// <summary>Writes a signed integer or null: two bytes.</summary>
    /// <inheritdoc cref="WriteSByte"/>
    public void WriteNullableSByte(sbyte? value) => WriteSByte(WriteMarker(value));

    /// <summary>Writes an unsigned integer or null: two bytes.</summary>
    /// <inheritdoc cref="WriteByte"/>
    public void WriteNullableByte(byte? value) => WriteByte(WriteMarker(value));

    /// <summary>Writes a signed integer or null: three bytes.</summary>
    /// <inheritdoc cref="WriteInt16"/>
    public void WriteNullableInt16(short? value) => WriteInt16(WriteMarker(value));

    /// <summary>Writes an unsigned integer or null: three bytes.</summary>
    /// <inheritdoc cref="WriteUInt16"/>
    public void WriteNullableUInt16(ushort? value) => WriteUInt16(WriteMarker(value));

    /// <summary>Writes a signed integer or null: five bytes.</summary>
    /// <inheritdoc cref="WriteInt32"/>
    public void WriteNullableInt32(int? value) => WriteInt32(WriteMarker(value));

    /// <summary>Writes an unsigned integer or null: five bytes.</summary>
    /// <inheritdoc cref="WriteUInt32"/>
    public void WriteNullableUInt32(uint? value) => WriteUInt32(WriteMarker(value));

    /// <summary>Writes a signed integer or null: nine bytes.</summary>
    /// <inheritdoc cref="WriteInt64"/>
    public void WriteNullableInt64(long? value) => WriteInt64(WriteMarker(value));

    /// <summary>Writes an unsigned integer or null: nine bytes.</summary>
    /// <inheritdoc cref="WriteUInt64"/>
    public void WriteNullableUInt64(ulong? value) => WriteUInt64(WriteMarker(value));

    /// <summary>Writes a signed integer or null: 17 bytes.</summary>
    /// <inheritdoc cref="WriteInt128"/>
    public void WriteNullableInt128(Int128? value) => WriteInt128(WriteMarker(value));

    /// <summary>Writes an unsigned integer or null: 17 bytes.</summary>
    /// <inheritdoc cref="WriteUInt128"/>
    public void WriteNullableUInt128(UInt128? value) => WriteUInt128(WriteMarker(value));

    /// <summary>Writes a floating-point number or null: three bytes.</summary>
    /// <inheritdoc cref="WriteHalf"/>
    public void WriteNullableHalf(Half? value) => WriteHalf(WriteMarker(value));

    /// <summary>Writes a floating-point number or null: five bytes.</summary>
    /// <inheritdoc cref="WriteSingle"/>
    public void WriteNullableSingle(float? value) => WriteSingle(WriteMarker(value));

    /// <summary>Writes a floating-point number or null: nine bytes.</summary>
    /// <inheritdoc cref="WriteDouble"/>
    public void WriteNullableDouble(double? value) => WriteDouble(WriteMarker(value));

    /// <summary>Writes a decimal or null: 17 bytes.</summary>
    /// <inheritdoc cref="WriteDecimal"/>
    public void WriteNullableDecimal(decimal? value) => WriteDecimal(WriteMarker(value));

    /// <summary>Writes a GUID or null: 17 bytes.</summary>
    /// <inheritdoc cref="WriteGuid"/>
    public void WriteNullableGuid(Guid? value) => WriteGuid(WriteMarker(value));

    /// <summary>Writes a point in time or null: nine bytes.</summary>
    /// <inheritdoc cref="WriteDateTime"/>
    public void WriteNullableDateTime(DateTime? value) => WriteDateTime(WriteMarker(value));

    /// <summary>Writes a point in time with its offset or null: 11 bytes.</summary>
    /// <inheritdoc cref="WriteDateTimeOffset"/>
    public void WriteNullableDateTimeOffset(DateTimeOffset? value) => WriteDateTimeOffset(WriteMarker(value));

    /// <summary>Writes a date or null: five bytes.</summary>
    /// <inheritdoc cref="WriteDateOnly"/>
    public void WriteNullableDateOnly(DateOnly? value) => WriteDateOnly(WriteMarker(value));

    /// <summary>Writes a time of day or null: nine bytes.</summary>
    /// <inheritdoc cref="WriteTimeOnly"/>
    public void WriteNullableTimeOnly(TimeOnly? value) => WriteTimeOnly(WriteMarker(value));

    /// <summary>Writes an interval or null: nine bytes.</summary>
    /// <inheritdoc cref="WriteTimeSpan"/>
    public void WriteNullableTimeSpan(TimeSpan? value) => WriteTimeSpan(WriteMarker(value));

    private T WriteMarker<T>(T? value)
        where T : struct
    {
        WriteBoolean(value.HasValue);
        return value.GetValueOrDefault();
    }
}
