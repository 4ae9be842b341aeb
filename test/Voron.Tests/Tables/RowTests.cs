using System.Buffers;
using System.Text;
using Voron.Tables;

namespace Voron.Tests.Tables;

/// <summary>Rows are read as they were written, and reads that do not fit the row are refused.</summary>
[Quick]
public sealed class RowTests
{
    private static readonly string LongText = new('é', 20_000);

    [Fact]
    public void Every_type_is_read_as_it_was_written()
    {
        var random = new Random(1);
        foreach (var field in FixedFieldCase.All)
        {
            for (var i = 0; i < 500; i++)
            {
                var (value, second) = (field.Draw(random), random.Next(3) == 0 ? null : field.Draw(random));
                var row = Write(field, value, second);
                row.Should().HaveCount(RowLayout.HeaderSize + 2 * field.Size + 1, $"a {field} has {field.Size} bytes");
                var (read, readSecond) = RowKit.Read(row, (ref reader) => (field.Read(ref reader), field.ReadNullable(ref reader)));
                read.Should().Be(value);
                readSecond.Should().Be(second);

                // Bits that do not count in a comparison, such as the scale of a decimal.
                Write(field, read, readSecond).Should().Equal(row);
            }
        }

        static byte[] Write(FixedFieldCase field, object value, object? second) => RowKit.Write((ref writer) =>
        {
            field.Write(ref writer, value);
            field.WriteNullable(ref writer, second);
        });
    }

    [Fact]
    public void Null_takes_as_much_room_as_a_value()
    {
        foreach (var field in FixedFieldCase.All)
        {
            var row = RowKit.Write((ref writer) => field.WriteNullable(ref writer, null));
            row[RowLayout.HeaderSize..].Should().Equal(new byte[1 + field.Size], $"{field}");
            RowKit.Read(row, (ref reader) => (field.ReadNullable(ref reader), reader.HasMoreFixed)).Should().Be(((object?)null, false));
        }
    }

    [Fact]
    public void Text_bytes_and_nulls_keep_their_order()
    {
        var row = RowKit.Write(static (ref writer) =>
        {
            writer.WriteString("");
            writer.WriteInt32(1);
            writer.WriteString("a\0é\U0001F600");
            writer.WriteNull();
            writer.WriteNullableString(null);
            writer.WriteNullableString("b");
            writer.WriteInt32(2);
            writer.WriteBytes([1, 2, 3]);
            writer.WriteString(LongText[..100]);
        });
        RowKit.Read(row, static (ref reader) =>
        {
            reader.ReadString().Should().BeEmpty();
            reader.ReadString().Should().Be("a\0é\U0001F600");
            reader.TryReadNull().Should().BeTrue();
            reader.ReadNullableString().Should().BeNull();
            reader.TryReadNull().Should().BeFalse();
            reader.ReadNullableString().Should().Be("b");
            reader.ReadBytes().ToArray().Should().Equal(1, 2, 3);
            reader.HasMoreVariable.Should().BeTrue();
            Encoding.UTF8.GetString(reader.ReadBytes()).Should().Be(LongText[..100]);
            reader.HasMoreVariable.Should().BeFalse();
            reader.HasMoreFixed.Should().BeTrue();
            (reader.ReadInt32(), reader.ReadInt32(), reader.HasMoreFixed).Should().Be((1, 2, false));
            return 0;
        });
    }

    [Theory]
    [InlineData(0x7FFE, 2)]
    [InlineData(0x7FFF, 2)]
    [InlineData(0x8000, 4)]
    [InlineData(300_000, 4)]
    public void Ends_are_wide_when_the_variable_part_is_long(int length, int sizeOfEnd)
    {
        var text = new string('x', length - 3);
        var row = RowKit.Write((ref writer) =>
        {
            writer.WriteString("abc");
            writer.WriteNull();
            writer.WriteGuid(Guid.AllBitsSet);
            writer.WriteString(text);
            writer.WriteNull();
        });
        row.Should().HaveCount(RowLayout.HeaderSize + 4 * sizeOfEnd + 16 + length);
        RowKit.Read(row, static (ref reader) =>
        {
            var found = (reader.ReadString(), reader.TryReadNull(), reader.ReadString(), reader.TryReadNull(), reader.ReadGuid());
            return (found, reader.HasMoreFixed || reader.HasMoreVariable);
        }).Should().Be((("abc", true, text, true, Guid.AllBitsSet), false));
    }

    [Fact]
    public void A_row_can_have_255_variable_fields()
    {
        var row = RowKit.Write(static (ref writer) =>
        {
            for (var i = 0; i < RowLayout.MaxFields; i++)
                writer.WriteNullableString(i % 3 == 0 ? null : $"{i}");
            writer.WriteByte(9);
        });
        RowKit.Read(row, static (ref reader) =>
        {
            for (var i = 0; i < RowLayout.MaxFields; i++)
                reader.ReadNullableString().Should().Be(i % 3 == 0 ? null : $"{i}");
            return reader.ReadByte();
        }).Should().Be(9);
    }

    [Fact]
    public void The_header_has_version_expiry_and_row_version()
    {
        foreach (var expiry in new long?[] { null, 0, 1_700_000_000_123 })
        {
            var row = RowKit.Write(static (ref writer) => writer.WriteString("a"), 65_535, long.MaxValue, expiry);
            RowLayout.TryGetExpiry(row, out var found).Should().Be(expiry.HasValue);
            found.Should().Be(expiry.GetValueOrDefault());
            RowKit.Read(row, static (ref reader) => (reader.Version, reader.RowVersion, reader.RowId, reader.ReadString()))
                .Should().Be((65_535, new RowVersion(long.MaxValue), RowKit.RowId, "a"));

            var changed = row.ToArray();
            RowLayout.SetVersion(changed, 3);
            RowLayout.Version(changed).Should().Be(new RowVersion(3));
            RowLayout.ContentEquals(row, changed).Should().BeTrue();
            for (var i = 0; i < row.Length; i++)
            {
                changed = row.ToArray();
                changed[i] ^= 1;
                RowLayout.ContentEquals(row, changed).Should().Be(i is >= 4 and < RowLayout.HeaderSize);
            }

            RowLayout.ContentEquals(row, row.AsSpan(..^1)).Should().BeFalse();
        }
    }

    [Fact]
    public void Accepted_bytes_of_a_row()
    {
        var row = RowKit.Write(static (ref writer) =>
        {
            writer.WriteInt32(-2);
            writer.WriteString("é");
            writer.WriteNull();
            writer.WriteNullableInt16(3);
        }, 2, 0x0102, 7);
        Convert.ToHexString(row).Should().Be(
            "0200" + "01" + "02" + "0201000000000000" + "0700000000000000" + "0200" + "0280" + "FEFFFFFF" + "010300" + "C3A9");
        Convert.ToHexString(RowKit.Write(static (ref writer) =>
        {
            writer.WriteDateTime(new DateTime(1, DateTimeKind.Utc));
            writer.WriteGuid(new("00112233-4455-6677-8899-aabbccddeeff"));
            writer.WriteDateTimeOffset(new(TimeSpan.TicksPerMinute, TimeSpan.FromMinutes(1)));
            writer.WriteDecimal(-1.0m);
        })[RowLayout.HeaderSize..]).Should().Be(
            "0100000000000040" + "00112233445566778899AABBCCDDEEFF" + "0000000000000000" + "0100" + "0A000000" + "0000000000000000" + "00000180");
    }

    [Fact]
    public void A_body_can_be_written_piece_by_piece()
    {
        var row = RowKit.Write(static (ref writer) =>
        {
            writer.WriteString("before");
            var body = writer.BeginBytes();
            for (var i = 0; i < 1000; i++)
            {
                writer.WriteUInt16((ushort)i);
                body.Write(BitConverter.GetBytes(i));
            }

            writer.EndBytes();
            writer.WriteString("after");
        });
        RowKit.Read(row, static (ref reader) =>
        {
            reader.ReadString().Should().Be("before");
            var body = reader.ReadBytes();
            for (var i = 0; i < 1000; i++)
                (BitConverter.ToInt32(body[(4 * i)..]), reader.ReadUInt16()).Should().Be((i, (ushort)i));
            return reader.ReadString();
        }).Should().Be("after");
    }

    [Fact]
    public void A_read_that_does_not_fit_the_row_is_refused()
    {
        var row = RowKit.Write(static (ref writer) =>
        {
            writer.WriteInt16(256);
            writer.WriteNull();
            writer.WriteBytes([0xFF]);
        }, 3);
        RowKit.Refuses(row, static (ref reader) => reader.ReadInt32())
            .Should().Be("its fixed part has 2 bytes, of which 2 are left, and Int32 is read (4 bytes) (version 3 of the definition).");
        RowKit.Refuses(row, static (ref reader) => (reader.ReadInt16(), reader.ReadByte()))
            .Should().StartWith("its fixed part has 2 bytes, of which 0");
        RowKit.Refuses(row, static (ref reader) => reader.ReadNullableInt16()).Should().Contain("of which 1 are left, and Int16 is read");
        RowKit.Refuses(row, static (ref reader) => reader.ReadNullableInt64()).Should().Contain("Int64 is read (8 bytes)");
        RowKit.Refuses(row, static (ref reader) => (reader.ReadByte(), reader.ReadBoolean(), reader.ReadByte()))
            .Should().Contain("Byte is read (1 bytes)");
        RowKit.Refuses(row, static (ref reader) => reader.ReadString()).Should().StartWith("its variable field 0 is null");
        RowKit.Refuses(row, static (ref reader) => reader.ReadBytes().Length).Should().StartWith("its variable field 0 is null");
        RowKit.Refuses(row, static (ref reader) => (reader.TryReadNull(), reader.ReadNullableString()))
            .Should().StartWith("its variable field 1 is read as text, but its bytes are not UTF-8");
        RowKit.Refuses(row, static (ref reader) => (reader.TryReadNull(), reader.ReadBytes().Length, reader.TryReadNull()))
            .Should().StartWith("it has 2 variable fields, and a read of another one");
        var two = RowKit.Write(static (ref writer) => writer.WriteByte(2));
        RowKit.Refuses(two, static (ref reader) => reader.ReadBoolean()).Should().StartWith("the bytes at offset 0 of its fixed part are those of no Boolean");
        RowKit.Refuses(two, static (ref reader) => reader.ReadNullableInt32()).Should().Contain("those of no Int32");
    }

    [Fact]
    public void Bytes_that_are_those_of_no_value_are_refused()
    {
        var ones = RowKit.Write(static (ref writer) =>
        {
            writer.WriteUInt128(UInt128.MaxValue);
            writer.WriteUInt128(UInt128.MaxValue);
        });
        RowKit.Refuses(ones, static (ref reader) => (reader.ReadInt64(), reader.ReadDateTime())).Should().Contain("offset 8");
        RowKit.Refuses(ones, static (ref reader) => reader.ReadDateTimeOffset()).Should().Contain("no DateTimeOffset");
        RowKit.Refuses(ones, static (ref reader) => reader.ReadDateOnly()).Should().Contain("no DateOnly");
        RowKit.Refuses(ones, static (ref reader) => reader.ReadTimeOnly()).Should().Contain("no TimeOnly");
        RowKit.Refuses(ones, static (ref reader) => reader.ReadDecimal()).Should().Contain("no Decimal");
        var late = RowKit.Write(static (ref writer) => writer.WriteInt64(DateTime.MaxValue.Ticks + 1));
        RowKit.Refuses(late, static (ref reader) => reader.ReadDateTime()).Should().Contain("no DateTime");
    }

    [Fact]
    public void A_default_reader_has_no_fields()
    {
        var reader = default(RowReader);
        (reader.Version, reader.RowVersion, reader.HasMoreFixed, reader.HasMoreVariable).Should().Be((0, RowVersion.None, false, false));
        Assert.Throws<RowFormatException>(static () => default(RowReader).ReadByte());
        Assert.Throws<RowFormatException>(static () => default(RowReader).TryReadNull());
    }

    [Fact]
    public void A_row_version_is_text_as_a_number()
    {
        new RowVersion(65_536).ToString().Should().Be("65536");
        RowVersion.None.Value.Should().Be(0);
    }
}
