using System.Buffers.Binary;
using Voron.Tables;

namespace Voron.Tests.Tables;

/// <summary>Whatever the bytes of a row say, a read returns a value or throws the one exception, and reaches nothing outside of the row.</summary>
public sealed class RowDamageTests
{
    private const int Mutations = 100_000;

    private static readonly byte[][] Rows =
    [
        RowKit.Write(static (ref writer) => { }),
        RowKit.Write(static (ref writer) => writer.WriteInt64(long.MaxValue), expiry: 5),
        RowKit.Write(static (ref writer) => writer.WriteString("text")),
        RowKit.Write(Fields, 7, expiry: 1_000),
        RowKit.Write(Fields, 7),
        RowKit.Write(static (ref writer) =>
        {
            writer.WriteBytes(new byte[33_000]);
            Fields(ref writer);
        }),
    ];

    [Fact]
    public void Every_truncation_is_refused_or_read_as_another_row()
    {
        foreach (var row in Rows)
        {
            for (var length = Math.Min(row.Length - 1, 2_000); length >= 0; length--)
            {
                ReadAll(row[..length], new Random(length));
                if (length < RowLayout.HeaderSize)
                    RowLayout.FindFault(row.AsSpan(0, length)).Should().StartWith($"it has {length} bytes");
            }
        }
    }

    [Fact]
    public void Random_changes_of_rows_cause_no_other_exception()
    {
        var seed = TestSeed.Choose();
        var random = new Random(seed);
        var read = 0;
        for (var i = 0; i < Mutations; i++)
        {
            var row = Rows[random.Next(Rows.Length)].ToArray();
            for (var changes = random.Next(1, 4); changes > 0; changes--)
                Change(ref row, random);
            read += ReadAll(row, random) ? 1 : 0;
        }

        read.Should().BeInRange(Mutations / 20, Mutations - Mutations / 20, "both outcomes must be frequent");
    }

    [Fact]
    public void Each_fault_has_its_message()
    {
        Fault(row => row[2] = 4).Should().Be("it has unknown flags (4)");
        Fault(row => row[2] = 3).Should().Be($"its {Rows[2].Length} bytes end before its fixed part");
        Fault(row => row[2] = 2).Should().StartWith("it has room for 2 bytes of variable fields, and they have");
        Fault(row => row[3] = 200).Should().Be($"its {Rows[2].Length} bytes end before its fixed part");
        Fault(row => RowLayout.SetVersion(row, 0)).Should().Be("its version is 0");
        Fault(row => RowLayout.SetVersion(row, -1)).Should().Be("its version is -1");
        Fault(row => row[12]++).Should().Be("it has room for 4 bytes of variable fields, and they have 5");
        Fault(row => row[13] = 0x80).Should().Be("its variable field 0 is from 0 to 4, but null");
        Fault(row => row[12]--).Should().BeNull("bytes before the variable part are those of the fixed one");

        static string? Fault(Action<byte[]> change)
        {
            var row = Rows[2].ToArray();
            change(row);
            return RowLayout.FindFault(row);
        }
    }

    private static void Fields(ref RowWriter writer)
    {
        writer.WriteNullableInt32(5);
        writer.WriteString("one");
        writer.WriteDecimal(1.50m);
        writer.WriteNull();
        writer.WriteDateTimeOffset(DateTimeOffset.UnixEpoch);
        writer.WriteString("three");
        writer.WriteNullableDateTime(null);
        writer.WriteBytes([]);
    }

    private static void Change(ref byte[] row, Random random)
    {
        if (row.Length == 0)
            return;
        var at = random.Next(2) == 0 ? random.Next(Math.Min(row.Length, 40)) : random.Next(row.Length);
        switch (random.Next(5))
        {
            case 0:
                row[at] ^= (byte)(1 << random.Next(8));
                break;
            case 1:
                row[at] = (byte)random.Next(256);
                break;
            case 2 when at + sizeof(int) <= row.Length:
                BinaryPrimitives.WriteInt32LittleEndian(row.AsSpan(at), new[] { 0, -1, int.MinValue, int.MaxValue, row.Length }[random.Next(5)]);
                break;
            case 3:
                row = row[..at];
                break;
            default:
                row = [.. row[..at], (byte)random.Next(256), .. row[at..]];
                break;
        }
    }

    /// <summary>Reads a row with random fields until nothing is left; false when it was refused.</summary>
    private static bool ReadAll(byte[] row, Random random)
    {
        var fault = RowLayout.FindFault(row);
        try
        {
            var reader = new RowReader(row, RowKit.Table, RowKit.RowId);
            fault.Should().BeNull();
            RequireOffsets(row);
            while (reader.HasMoreFixed || reader.HasMoreVariable)
                ReadOne(ref reader, random);
            return true;
        }
        catch (RowFormatException e)
        {
            Assert.True(fault == null || e.Message.Contains(fault, StringComparison.Ordinal), e.Message);
            return false;
        }
    }

    private static void ReadOne(ref RowReader reader, Random random)
    {
        if (reader.HasMoreVariable && (!reader.HasMoreFixed || random.Next(2) == 0))
        {
            if (random.Next(2) == 0)
                reader.ReadNullableString();
            else if (!reader.TryReadNull())
                _ = reader.ReadBytes().Length;
            return;
        }

        var field = FixedFieldCase.All[random.Next(FixedFieldCase.All.Count)];
        if (random.Next(2) == 0)
            field.Read(ref reader);
        else
            field.ReadNullable(ref reader);
    }

    private static void RequireOffsets(byte[] row)
    {
        var (start, variable) = (RowLayout.FixedStart(row), RowLayout.VariableStart(row));
        Assert.True(start >= RowLayout.HeaderSize && start <= variable && variable <= row.Length, $"{start} {variable} {row.Length}");
        var previous = 0;
        for (var i = 0; i < RowLayout.FieldCount(row); i++)
        {
            var end = RowLayout.End(row, i, out _);
            Assert.True(end >= previous && variable + end <= row.Length, $"field {i} from {previous} to {end}");
            previous = end;
        }
    }
}
