namespace Voron.Tables;

/// <content>Fixed-size fields that can be null.</content>
public ref partial struct RowReader
{
    /// <summary>Reads a truth value or null.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public bool? ReadNullableBoolean() => HasValue(sizeof(bool), "Boolean") ? ReadBoolean() : null;

    /// <summary>Reads a signed integer or null.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public sbyte? ReadNullableSByte() => HasValue(sizeof(sbyte), "SByte") ? ReadSByte() : null;

    /// <summary>Reads an unsigned integer or null.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public byte? ReadNullableByte() => HasValue(sizeof(byte), "Byte") ? ReadByte() : null;

    /// <summary>Reads a signed integer or null.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public short? ReadNullableInt16() => HasValue(sizeof(short), "Int16") ? ReadInt16() : null;

    /// <summary>Reads an unsigned integer or null.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public ushort? ReadNullableUInt16() => HasValue(sizeof(ushort), "UInt16") ? ReadUInt16() : null;

    /// <summary>Reads a signed integer or null.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public int? ReadNullableInt32() => HasValue(sizeof(int), "Int32") ? ReadInt32() : null;

    /// <summary>Reads an unsigned integer or null.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public uint? ReadNullableUInt32() => HasValue(sizeof(uint), "UInt32") ? ReadUInt32() : null;

    /// <summary>Reads a signed integer or null.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public long? ReadNullableInt64() => HasValue(sizeof(long), "Int64") ? ReadInt64() : null;

    /// <summary>Reads an unsigned integer or null.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public ulong? ReadNullableUInt64() => HasValue(sizeof(ulong), "UInt64") ? ReadUInt64() : null;

    /// <summary>Reads a signed integer or null.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public Int128? ReadNullableInt128() => HasValue(FixedField.WideSize, "Int128") ? ReadInt128() : null;

    /// <summary>Reads an unsigned integer or null.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public UInt128? ReadNullableUInt128() => HasValue(FixedField.WideSize, "UInt128") ? ReadUInt128() : null;

    /// <summary>Reads a floating-point number or null.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public Half? ReadNullableHalf() => HasValue(sizeof(ushort), "Half") ? ReadHalf() : null;

    /// <summary>Reads a floating-point number or null.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public float? ReadNullableSingle() => HasValue(sizeof(float), "Single") ? ReadSingle() : null;

    /// <summary>Reads a floating-point number or null.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public double? ReadNullableDouble() => HasValue(sizeof(double), "Double") ? ReadDouble() : null;

    /// <summary>Reads a decimal or null.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public decimal? ReadNullableDecimal() => HasValue(sizeof(decimal), "Decimal") ? ReadDecimal() : null;

    /// <summary>Reads a GUID or null.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public Guid? ReadNullableGuid() => HasValue(FixedField.GuidSize, "Guid") ? ReadGuid() : null;

    /// <summary>Reads a point in time or null.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public DateTime? ReadNullableDateTime() => HasValue(sizeof(long), "DateTime") ? ReadDateTime() : null;

    /// <summary>Reads a point in time with its offset or null.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public DateTimeOffset? ReadNullableDateTimeOffset() => HasValue(FixedField.DateTimeOffsetSize, "DateTimeOffset") ? ReadDateTimeOffset() : null;

    /// <summary>Reads a date or null.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public DateOnly? ReadNullableDateOnly() => HasValue(sizeof(int), "DateOnly") ? ReadDateOnly() : null;

    /// <summary>Reads a time of day or null.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public TimeOnly? ReadNullableTimeOnly() => HasValue(sizeof(long), "TimeOnly") ? ReadTimeOnly() : null;

    /// <summary>Reads an interval or null.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public TimeSpan? ReadNullableTimeSpan() => HasValue(sizeof(long), "TimeSpan") ? ReadTimeSpan() : null;

    /// <summary>Reads the marker before a value, and moves past the value if it is null.</summary>
    private bool HasValue(int size, string type)
    {
        var has = ReadFlag(type);
        if (!has)
            Take(size, type);
        return has;
    }
}
