using Voron.Tables;
using Voron.Tests.Keys;

namespace Voron.Tests.Tables;

internal delegate void FieldWrite<T>(ref RowWriter writer, T value);

/// <summary>A type of fields of fixed size: how it is written and read, and the number of its bytes.</summary>
internal abstract class FixedFieldCase(string name, int size)
{
    public static IReadOnlyList<FixedFieldCase> All { get; } =
    [
        new Of<bool>("Boolean", 1)
        {
            Writing = static (ref writer, value) => writer.WriteBoolean(value),
            WritingNullable = static (ref writer, value) => writer.WriteNullableBoolean(value),
            Reading = static (ref reader) => reader.ReadBoolean(),
            ReadingNullable = static (ref reader) => reader.ReadNullableBoolean(),
        },
        new Of<sbyte>("SByte", 1)
        {
            Writing = static (ref writer, value) => writer.WriteSByte(value),
            WritingNullable = static (ref writer, value) => writer.WriteNullableSByte(value),
            Reading = static (ref reader) => reader.ReadSByte(),
            ReadingNullable = static (ref reader) => reader.ReadNullableSByte(),
        },
        new Of<byte>("Byte", 1)
        {
            Writing = static (ref writer, value) => writer.WriteByte(value),
            WritingNullable = static (ref writer, value) => writer.WriteNullableByte(value),
            Reading = static (ref reader) => reader.ReadByte(),
            ReadingNullable = static (ref reader) => reader.ReadNullableByte(),
        },
        new Of<short>("Int16", 2)
        {
            Writing = static (ref writer, value) => writer.WriteInt16(value),
            WritingNullable = static (ref writer, value) => writer.WriteNullableInt16(value),
            Reading = static (ref reader) => reader.ReadInt16(),
            ReadingNullable = static (ref reader) => reader.ReadNullableInt16(),
        },
        new Of<ushort>("UInt16", 2)
        {
            Writing = static (ref writer, value) => writer.WriteUInt16(value),
            WritingNullable = static (ref writer, value) => writer.WriteNullableUInt16(value),
            Reading = static (ref reader) => reader.ReadUInt16(),
            ReadingNullable = static (ref reader) => reader.ReadNullableUInt16(),
        },
        new Of<int>("Int32", 4)
        {
            Writing = static (ref writer, value) => writer.WriteInt32(value),
            WritingNullable = static (ref writer, value) => writer.WriteNullableInt32(value),
            Reading = static (ref reader) => reader.ReadInt32(),
            ReadingNullable = static (ref reader) => reader.ReadNullableInt32(),
        },
        new Of<uint>("UInt32", 4)
        {
            Writing = static (ref writer, value) => writer.WriteUInt32(value),
            WritingNullable = static (ref writer, value) => writer.WriteNullableUInt32(value),
            Reading = static (ref reader) => reader.ReadUInt32(),
            ReadingNullable = static (ref reader) => reader.ReadNullableUInt32(),
        },
        new Of<long>("Int64", 8)
        {
            Writing = static (ref writer, value) => writer.WriteInt64(value),
            WritingNullable = static (ref writer, value) => writer.WriteNullableInt64(value),
            Reading = static (ref reader) => reader.ReadInt64(),
            ReadingNullable = static (ref reader) => reader.ReadNullableInt64(),
        },
        new Of<ulong>("UInt64", 8)
        {
            Writing = static (ref writer, value) => writer.WriteUInt64(value),
            WritingNullable = static (ref writer, value) => writer.WriteNullableUInt64(value),
            Reading = static (ref reader) => reader.ReadUInt64(),
            ReadingNullable = static (ref reader) => reader.ReadNullableUInt64(),
        },
        new Of<Int128>("Int128", 16)
        {
            Writing = static (ref writer, value) => writer.WriteInt128(value),
            WritingNullable = static (ref writer, value) => writer.WriteNullableInt128(value),
            Reading = static (ref reader) => reader.ReadInt128(),
            ReadingNullable = static (ref reader) => reader.ReadNullableInt128(),
        },
        new Of<UInt128>("UInt128", 16)
        {
            Writing = static (ref writer, value) => writer.WriteUInt128(value),
            WritingNullable = static (ref writer, value) => writer.WriteNullableUInt128(value),
            Reading = static (ref reader) => reader.ReadUInt128(),
            ReadingNullable = static (ref reader) => reader.ReadNullableUInt128(),
        },
        new Of<Half>("Half", 2)
        {
            Writing = static (ref writer, value) => writer.WriteHalf(value),
            WritingNullable = static (ref writer, value) => writer.WriteNullableHalf(value),
            Reading = static (ref reader) => reader.ReadHalf(),
            ReadingNullable = static (ref reader) => reader.ReadNullableHalf(),
        },
        new Of<float>("Single", 4)
        {
            Writing = static (ref writer, value) => writer.WriteSingle(value),
            WritingNullable = static (ref writer, value) => writer.WriteNullableSingle(value),
            Reading = static (ref reader) => reader.ReadSingle(),
            ReadingNullable = static (ref reader) => reader.ReadNullableSingle(),
        },
        new Of<double>("Double", 8)
        {
            Writing = static (ref writer, value) => writer.WriteDouble(value),
            WritingNullable = static (ref writer, value) => writer.WriteNullableDouble(value),
            Reading = static (ref reader) => reader.ReadDouble(),
            ReadingNullable = static (ref reader) => reader.ReadNullableDouble(),
        },
        new Of<decimal>("Decimal", 16)
        {
            Writing = static (ref writer, value) => writer.WriteDecimal(value),
            WritingNullable = static (ref writer, value) => writer.WriteNullableDecimal(value),
            Reading = static (ref reader) => reader.ReadDecimal(),
            ReadingNullable = static (ref reader) => reader.ReadNullableDecimal(),
        },
        new Of<Guid>("Guid", 16)
        {
            Writing = static (ref writer, value) => writer.WriteGuid(value),
            WritingNullable = static (ref writer, value) => writer.WriteNullableGuid(value),
            Reading = static (ref reader) => reader.ReadGuid(),
            ReadingNullable = static (ref reader) => reader.ReadNullableGuid(),
        },
        new Of<DateTime>("DateTime", 8)
        {
            Writing = static (ref writer, value) => writer.WriteDateTime(value),
            WritingNullable = static (ref writer, value) => writer.WriteNullableDateTime(value),
            Reading = static (ref reader) => reader.ReadDateTime(),
            ReadingNullable = static (ref reader) => reader.ReadNullableDateTime(),
        },
        new Of<DateTimeOffset>("DateTimeOffset", 10)
        {
            Writing = static (ref writer, value) => writer.WriteDateTimeOffset(value),
            WritingNullable = static (ref writer, value) => writer.WriteNullableDateTimeOffset(value),
            Reading = static (ref reader) => reader.ReadDateTimeOffset(),
            ReadingNullable = static (ref reader) => reader.ReadNullableDateTimeOffset(),
        },
        new Of<DateOnly>("DateOnly", 4)
        {
            Writing = static (ref writer, value) => writer.WriteDateOnly(value),
            WritingNullable = static (ref writer, value) => writer.WriteNullableDateOnly(value),
            Reading = static (ref reader) => reader.ReadDateOnly(),
            ReadingNullable = static (ref reader) => reader.ReadNullableDateOnly(),
        },
        new Of<TimeOnly>("TimeOnly", 8)
        {
            Writing = static (ref writer, value) => writer.WriteTimeOnly(value),
            WritingNullable = static (ref writer, value) => writer.WriteNullableTimeOnly(value),
            Reading = static (ref reader) => reader.ReadTimeOnly(),
            ReadingNullable = static (ref reader) => reader.ReadNullableTimeOnly(),
        },
        new Of<TimeSpan>("TimeSpan", 8)
        {
            Writing = static (ref writer, value) => writer.WriteTimeSpan(value),
            WritingNullable = static (ref writer, value) => writer.WriteNullableTimeSpan(value),
            Reading = static (ref reader) => reader.ReadTimeSpan(),
            ReadingNullable = static (ref reader) => reader.ReadNullableTimeSpan(),
        },
    ];

    public string Name => name;

    public int Size => size;

    /// <summary>Draws a value, often an edge or the neighbour of one.</summary>
    public object Draw(Random random) => KeyFields.Named(name).Draw(random);

    public abstract void Write(ref RowWriter writer, object value);

    public abstract void WriteNullable(ref RowWriter writer, object? value);

    public abstract object Read(ref RowReader reader);

    public abstract object? ReadNullable(ref RowReader reader);

    public override string ToString() => name;

    private sealed class Of<T>(string name, int size) : FixedFieldCase(name, size)
        where T : struct
    {
        public required FieldWrite<T> Writing { get; init; }

        public required FieldWrite<T?> WritingNullable { get; init; }

        public required RowReading<T> Reading { get; init; }

        public required RowReading<T?> ReadingNullable { get; init; }

        public override void Write(ref RowWriter writer, object value) => Writing(ref writer, (T)value);

        public override void WriteNullable(ref RowWriter writer, object? value) => WritingNullable(ref writer, (T?)value);

        public override object Read(ref RowReader reader) => Reading(ref reader);

        public override object? ReadNullable(ref RowReader reader) => ReadingNullable(ref reader);
    }
}
