using System.Buffers.Binary;
using System.Text;

namespace Voron.Tests.Keys;

/// <summary>All types of fields, with their edges and random values.</summary>
internal static class KeyFields
{
    public static readonly IReadOnlyList<KeyField> All = [.. SmallIntegers(), .. LargeIntegers(), .. FloatingPoint(), .. Times(), .. Strings()];

    public static KeyField Named(string name) => All.Single(type => type.Name == name);

    private static IEnumerable<KeyField> SmallIntegers()
    {
        yield return new KeyField<bool>("Boolean", [false, true], random => random.Next(2) == 0, Order)
        {
            Ascending = (ref key, value) => key.Add(value),
            Descending = (ref key, value) => key.AddDescending(value),
            ReadAscending = (ref key) => key.ReadBoolean(),
            ReadDescending = (ref key) => key.ReadBooleanDescending(),
        };
        yield return new KeyField<sbyte>("SByte", [0, -1, 1, sbyte.MinValue, sbyte.MaxValue], random => (sbyte)random.Next(256), Order)
        {
            Ascending = (ref key, value) => key.Add(value),
            Descending = (ref key, value) => key.AddDescending(value),
            ReadAscending = (ref key) => key.ReadSByte(),
            ReadDescending = (ref key) => key.ReadSByteDescending(),
        };
        yield return new KeyField<byte>("Byte", [0, 1, 2, 127, 128, 255], random => (byte)random.Next(256), Order)
        {
            Ascending = (ref key, value) => key.Add(value),
            Descending = (ref key, value) => key.AddDescending(value),
            ReadAscending = (ref key) => key.ReadByte(),
            ReadDescending = (ref key) => key.ReadByteDescending(),
        };
        yield return new KeyField<short>("Int16", [0, -1, 1, 255, 256, short.MinValue, short.MaxValue], random => (short)Bits(random, 16), Order)
        {
            Ascending = (ref key, value) => key.Add(value),
            Descending = (ref key, value) => key.AddDescending(value),
            ReadAscending = (ref key) => key.ReadInt16(),
            ReadDescending = (ref key) => key.ReadInt16Descending(),
        };
        yield return new KeyField<ushort>("UInt16", [0, 1, 255, 256, 0x7FFF, 0x8000, 0xFFFF], random => (ushort)Bits(random, 16), Order)
        {
            Ascending = (ref key, value) => key.Add(value),
            Descending = (ref key, value) => key.AddDescending(value),
            ReadAscending = (ref key) => key.ReadUInt16(),
            ReadDescending = (ref key) => key.ReadUInt16Descending(),
        };
    }

    private static IEnumerable<KeyField> LargeIntegers()
    {
        yield return new KeyField<int>("Int32", [0, -1, 1, 255, -256, int.MinValue, int.MaxValue], random => (int)Bits(random, 32), Order)
        {
            Ascending = (ref key, value) => key.Add(value),
            Descending = (ref key, value) => key.AddDescending(value),
            ReadAscending = (ref key) => key.ReadInt32(),
            ReadDescending = (ref key) => key.ReadInt32Descending(),
        };
        yield return new KeyField<uint>("UInt32", [0, 1, 256, int.MaxValue, 1U << 31, uint.MaxValue], random => (uint)Bits(random, 32), Order)
        {
            Ascending = (ref key, value) => key.Add(value),
            Descending = (ref key, value) => key.AddDescending(value),
            ReadAscending = (ref key) => key.ReadUInt32(),
            ReadDescending = (ref key) => key.ReadUInt32Descending(),
        };
        yield return new KeyField<long>("Int64", [0, -1, 1, int.MinValue, long.MinValue, long.MaxValue], random => (long)Bits(random, 64), Order)
        {
            Ascending = (ref key, value) => key.Add(value),
            Descending = (ref key, value) => key.AddDescending(value),
            ReadAscending = (ref key) => key.ReadInt64(),
            ReadDescending = (ref key) => key.ReadInt64Descending(),
        };
        yield return new KeyField<ulong>("UInt64", [0, 1, 256, long.MaxValue, 1UL << 63, ulong.MaxValue], random => (ulong)Bits(random, 64), Order)
        {
            Ascending = (ref key, value) => key.Add(value),
            Descending = (ref key, value) => key.AddDescending(value),
            ReadAscending = (ref key) => key.ReadUInt64(),
            ReadDescending = (ref key) => key.ReadUInt64Descending(),
        };
        yield return new KeyField<Int128>(
            "Int128", [0, -1, 1, long.MaxValue, long.MinValue, Int128.MinValue, Int128.MaxValue], random => (Int128)Bits(random, 128), Order)
        {
            Ascending = (ref key, value) => key.Add(value),
            Descending = (ref key, value) => key.AddDescending(value),
            ReadAscending = (ref key) => key.ReadInt128(),
            ReadDescending = (ref key) => key.ReadInt128Descending(),
        };
        yield return new KeyField<UInt128>(
            "UInt128", [0, 1, ulong.MaxValue, UInt128.One << 127, UInt128.MaxValue], random => Bits(random, 128), Order)
        {
            Ascending = (ref key, value) => key.Add(value),
            Descending = (ref key, value) => key.AddDescending(value),
            ReadAscending = (ref key) => key.ReadUInt128(),
            ReadDescending = (ref key) => key.ReadUInt128Descending(),
        };
    }

    private static IEnumerable<KeyField> FloatingPoint()
    {
        Half[] halves =
        [
            Half.Zero, Half.NaN, Half.NegativeZero, Half.One, Half.Epsilon, -Half.Epsilon, Half.MinValue, Half.MaxValue, Half.NegativeInfinity,
            Half.PositiveInfinity, BitConverter.UInt16BitsToHalf(0x7E01), BitConverter.UInt16BitsToHalf(0xFC01),
        ];
        yield return new KeyField<Half>("Half", halves, random => BitConverter.UInt16BitsToHalf((ushort)Bits(random, 16)), Order)
        {
            Ascending = (ref key, value) => key.Add(value),
            Descending = (ref key, value) => key.AddDescending(value),
            ReadAscending = (ref key) => key.ReadHalf(),
            ReadDescending = (ref key) => key.ReadHalfDescending(),
            Same = (written, read) => BitConverter.HalfToUInt16Bits(read) == BitConverter.HalfToUInt16Bits(
                Half.IsNaN(written) ? Half.NaN : written == Half.Zero ? Half.Zero : written),
        };
        float[] singles =
        [
            0, float.NaN, float.NegativeZero, 1, -1, float.Epsilon, -float.Epsilon, float.MinValue, float.MaxValue, float.NegativeInfinity,
            float.PositiveInfinity, BitConverter.UInt32BitsToSingle(0x7FC00001), BitConverter.UInt32BitsToSingle(0xFF800001),
        ];
        yield return new KeyField<float>("Single", singles, random => BitConverter.UInt32BitsToSingle((uint)Bits(random, 32)), Order)
        {
            Ascending = (ref key, value) => key.Add(value),
            Descending = (ref key, value) => key.AddDescending(value),
            ReadAscending = (ref key) => key.ReadSingle(),
            ReadDescending = (ref key) => key.ReadSingleDescending(),
            Same = (written, read) => BitConverter.SingleToUInt32Bits(read) == BitConverter.SingleToUInt32Bits(
                float.IsNaN(written) ? float.NaN : written == 0 ? 0 : written),
        };
        double[] doubles =
        [
            0, double.NaN, double.NegativeZero, 1, -1, double.Epsilon, -double.Epsilon, double.MinValue, double.MaxValue, double.NegativeInfinity,
            double.PositiveInfinity, BitConverter.UInt64BitsToDouble(0x7FF8_0000_0000_0001), BitConverter.UInt64BitsToDouble(0xFFF0_0000_0000_0001),
        ];
        yield return new KeyField<double>("Double", doubles, random => BitConverter.UInt64BitsToDouble((ulong)Bits(random, 64)), Order)
        {
            Ascending = (ref key, value) => key.Add(value),
            Descending = (ref key, value) => key.AddDescending(value),
            ReadAscending = (ref key) => key.ReadDouble(),
            ReadDescending = (ref key) => key.ReadDoubleDescending(),
            Same = (written, read) => BitConverter.DoubleToUInt64Bits(read) == BitConverter.DoubleToUInt64Bits(
                double.IsNaN(written) ? double.NaN : written == 0 ? 0 : written),
        };
        decimal[] decimals =
        [
            0, 1.0m, 1.00m, 1, -1, -1.0m, 9.99m, 10, 99, 100, 100.5m, 1e-28m, -1e-28m, 1.0000000000000000000000000001m, decimal.MinValue,
            decimal.MaxValue, 0.0m, -0.0m, 7.9228162514264337593543950335m, 0.9999999999999999999999999999m, 12.34m, 12.3m, 12,
        ];
        yield return new KeyField<decimal>("Decimal", decimals, Decimal, Order)
        {
            Ascending = (ref key, value) => key.Add(value),
            Descending = (ref key, value) => key.AddDescending(value),
            ReadAscending = (ref key) => key.ReadDecimal(),
            ReadDescending = (ref key) => key.ReadDecimalDescending(),
        };
        Guid[] guids = [Guid.Empty, Guid.AllBitsSet, new("00000000-0000-0000-0000-000000000001"), new("80000000-0000-0000-0000-000000000000")];
        yield return new KeyField<Guid>("Guid", guids, SparseGuid, Order)
        {
            Ascending = (ref key, value) => key.Add(value),
            Descending = (ref key, value) => key.AddDescending(value),
            ReadAscending = (ref key) => key.ReadGuid(),
            ReadDescending = (ref key) => key.ReadGuidDescending(),
        };
    }

    private static IEnumerable<KeyField> Times()
    {
        DateTime[] times = [DateTime.MinValue, DateTime.MaxValue, DateTime.UnixEpoch, new(1, DateTimeKind.Local), new(1, DateTimeKind.Utc)];
        yield return new KeyField<DateTime>(
            "DateTime", times, random => new DateTime(random.NextInt64(DateTime.MaxValue.Ticks + 1), (DateTimeKind)random.Next(3)), Order)
        {
            Ascending = (ref key, value) => key.Add(value),
            Descending = (ref key, value) => key.AddDescending(value),
            ReadAscending = (ref key) => key.ReadDateTime(),
            ReadDescending = (ref key) => key.ReadDateTimeDescending(DateTimeKind.Utc),
            Same = (written, read) => written.Ticks == read.Ticks && read.Kind != DateTimeKind.Local,
        };
        DateTimeOffset[] offsets =
        [
            DateTimeOffset.UnixEpoch, DateTimeOffset.UnixEpoch.ToOffset(TimeSpan.FromHours(2)),
            DateTimeOffset.UnixEpoch.ToOffset(TimeSpan.FromMinutes(-1)), DateTimeOffset.MinValue,
            DateTimeOffset.MaxValue, new(0, TimeSpan.FromHours(-14)), new(DateTime.MaxValue.Ticks, TimeSpan.FromHours(14)),
        ];
        yield return new KeyField<DateTimeOffset>("DateTimeOffset", offsets, Offset, CompareOffsets)
        {
            Ascending = (ref key, value) => key.Add(value),
            Descending = (ref key, value) => key.AddDescending(value),
            ReadAscending = (ref key) => key.ReadDateTimeOffset(),
            ReadDescending = (ref key) => key.ReadDateTimeOffsetDescending(),
            Same = (written, read) => written.EqualsExact(read),
        };
        yield return new KeyField<DateOnly>(
            "DateOnly", [DateOnly.MinValue, DateOnly.MaxValue, new(1970, 1, 1)], random => DateOnly.FromDayNumber(random.Next(3_652_059)), Order)
        {
            Ascending = (ref key, value) => key.Add(value),
            Descending = (ref key, value) => key.AddDescending(value),
            ReadAscending = (ref key) => key.ReadDateOnly(),
            ReadDescending = (ref key) => key.ReadDateOnlyDescending(),
        };
        yield return new KeyField<TimeOnly>(
            "TimeOnly", [TimeOnly.MinValue, TimeOnly.MaxValue, new(12, 0)], random => new TimeOnly(random.NextInt64(TimeSpan.TicksPerDay)), Order)
        {
            Ascending = (ref key, value) => key.Add(value),
            Descending = (ref key, value) => key.AddDescending(value),
            ReadAscending = (ref key) => key.ReadTimeOnly(),
            ReadDescending = (ref key) => key.ReadTimeOnlyDescending(),
        };
        yield return new KeyField<TimeSpan>(
            "TimeSpan", [TimeSpan.Zero, new(-1), TimeSpan.MinValue, TimeSpan.MaxValue], random => new TimeSpan((long)Bits(random, 64)), Order)
        {
            Ascending = (ref key, value) => key.Add(value),
            Descending = (ref key, value) => key.AddDescending(value),
            ReadAscending = (ref key) => key.ReadTimeSpan(),
            ReadDescending = (ref key) => key.ReadTimeSpanDescending(),
        };
    }

    private static IEnumerable<KeyField> Strings()
    {
        string[] texts =
        [
            "", "a", "b", "ab", "a\0", "a\0b", "a\u0001", "a\u0001\u0001", "a\u0002", "\0", "\u0001", "\uE000", "\uFFFF", "\U00010000", "\U0010FFFF",
            "é", new('x', 700), new('\u0001', 700), "\u07FF", "\u0800", "\uD7FF",
        ];
        yield return new KeyField<string>("String", texts, Text, CompareCodePoints)
        {
            Ascending = (ref key, value) => key.Add(value),
            Descending = (ref key, value) => key.AddDescending(value),
            ReadAscending = (ref key) => key.ReadString(),
            ReadDescending = (ref key) => key.ReadStringDescending(),
        };
        byte[][] strings =
        [
            [], [0], [0, 0], [1], [1, 0], [1, 1], [2], [255], [255, 255], [254], [0, 255], [1, 2], [97], [97, 0], [97, 1], new byte[700],
        ];
        yield return new KeyField<byte[]>("bytes", strings, SomeBytes, (left, right) => left.AsSpan().SequenceCompareTo(right))
        {
            Ascending = (ref key, value) => key.Add(value),
            Descending = (ref key, value) => key.AddDescending(value),
            ReadAscending = (ref key) => key.ReadBytes(),
            ReadDescending = (ref key) => key.ReadBytesDescending(),
            Same = (written, read) => written.AsSpan().SequenceEqual(read),
        };
    }

    private static int Order<T>(T left, T right)
        where T : IComparable<T> => left.CompareTo(right);

    /// <summary>Compares instants, then offsets.</summary>
    private static int CompareOffsets(DateTimeOffset left, DateTimeOffset right) =>
        left.CompareTo(right) is var order and not 0 ? order : left.Offset.CompareTo(right.Offset);

    /// <summary>Compares code points, one after the other.</summary>
    private static int CompareCodePoints(string left, string right) => left.EnumerateRunes().Select(rune => rune.Value)
        .Zip(right.EnumerateRunes().Select(rune => rune.Value), (a, b) => a.CompareTo(b)).FirstOrDefault(
            order => order != 0, left.EnumerateRunes().Count().CompareTo(right.EnumerateRunes().Count()));

    /// <summary>Returns a random number of any length in bits, or a neighbour of a power of two.</summary>
    private static UInt128 Bits(Random random, int bits)
    {
        Span<byte> bytes = stackalloc byte[16];
        random.NextBytes(bytes);
        var value = BinaryPrimitives.ReadUInt128LittleEndian(bytes);
        return random.Next(4) switch
        {
            0 => (UInt128.One << random.Next(bits)) + (UInt128)random.Next(3) - 1,
            1 => value >> (128 - bits + random.Next(bits)),
            2 => ~(value >> (128 - bits + random.Next(bits))),
            _ => value,
        };
    }

    private static decimal Decimal(Random random)
    {
        var bits = Bits(random, 96);
        return new decimal((int)(uint)bits, (int)(uint)(bits >> 32), (int)(uint)(bits >> 64), random.Next(2) == 0, (byte)random.Next(29));
    }

    private static Guid SparseGuid(Random random)
    {
        var bytes = new byte[16];
        for (var i = random.Next(1, 5); i > 0; i--)
            bytes[random.Next(16)] = (byte)random.Next(256);
        return new Guid(bytes);
    }

    private static DateTimeOffset Offset(Random random)
    {
        const long margin = 14 * TimeSpan.TicksPerHour;
        var instant = random.Next(3) > 0 ? margin + random.Next(3) : random.NextInt64(margin, DateTime.MaxValue.Ticks - margin);
        return new DateTimeOffset(instant, TimeSpan.Zero).ToOffset(TimeSpan.FromMinutes(random.Next(-840, 841)));
    }

    private static string Text(Random random)
    {
        int[] points = [0, 1, 2, 'a', 'b', 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF];
        var text = new StringBuilder();
        for (var i = random.Next(8); i > 0; i--)
            text.Append(new Rune(points[random.Next(points.Length)]).ToString());
        return text.ToString();
    }

    private static byte[] SomeBytes(Random random)
    {
        byte[] few = [0, 1, 2, 3, 97, 253, 254, 255];
        var bytes = new byte[random.Next(10)];
        for (var i = 0; i < bytes.Length; i++)
            bytes[i] = random.Next(8) == 0 ? (byte)random.Next(256) : few[random.Next(few.Length)];
        return bytes;
    }
}
