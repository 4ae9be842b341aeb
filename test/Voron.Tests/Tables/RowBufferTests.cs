using System.Buffers;
using Voron.Tables;

namespace Voron.Tests.Tables;

/// <summary>Wrong calls of a row writer, reuse of its buffers, and memory.</summary>
[Quick]
public sealed class RowBufferTests
{
    private const string Long = "a text that is longer than the rest of the row";

    [Fact]
    public void Wrong_calls_are_refused_and_the_row_continues()
    {
        var row = RowKit.Write(static (ref writer) =>
        {
            Refuses<ArgumentNullException>(ref writer, static (ref writer) => writer.WriteString(null!));
            Refuses<ArgumentException>(ref writer, static (ref writer) => writer.WriteString("ab\uD800c")).Message.Should().Contain("at index 2");
            Refuses<ArgumentException>(ref writer, static (ref writer) => writer.WriteNullableString(new string('x', 300) + '\uDC00'));
            Refuses<InvalidOperationException>(ref writer, static (ref writer) => writer.EndBytes())
                .Message.Should().StartWith("No variable field is open.");
            var body = writer.BeginBytes();
            Refuses<InvalidOperationException>(ref writer, static (ref writer) => writer.WriteString("a")).Message.Should().Contain("not ended");
            Refuses<InvalidOperationException>(ref writer, static (ref writer) => writer.WriteBytes([1]));
            Refuses<InvalidOperationException>(ref writer, static (ref writer) => writer.WriteNull());
            Refuses<InvalidOperationException>(ref writer, static (ref writer) => writer.BeginBytes());
            body.Write("body"u8);
            Assert.Throws<ArgumentOutOfRangeException>(() => body.Advance(-1));
            Assert.Throws<ArgumentOutOfRangeException>(() => body.Advance(1 << 30));
            Assert.Throws<ArgumentOutOfRangeException>(() => { _ = body.GetSpan(-1).Length; });
            body.Advance(0);
            writer.EndBytes();
            Assert.Throws<InvalidOperationException>(() => body.Advance(0));
            Assert.Throws<InvalidOperationException>(() => { _ = body.GetMemory().Length; });
            for (var i = 1; i < RowLayout.MaxFields; i++)
                writer.WriteNull();
            Refuses<InvalidOperationException>(ref writer, static (ref writer) => writer.WriteString("a"))
                .Message.Should().Be("A row has at most 255 variable fields.");
            Refuses<InvalidOperationException>(ref writer, static (ref writer) => writer.WriteNull());
        });
        RowLayout.FieldCount(row).Should().Be(RowLayout.MaxFields);
        row.Should().EndWith("body"u8.ToArray());
    }

    [Fact]
    public void A_field_that_was_not_ended_ends_no_row()
    {
        using var buffer = new RowBuffer();
        buffer.Begin(1);
        new RowWriter(buffer).BeginBytes();
        Assert.Throws<InvalidOperationException>(() => { _ = buffer.Finish(1).Length; }).Message.Should().Contain("not ended");
        buffer.Begin(1);
        buffer.Finish(1).ToArray().Should().HaveCount(RowLayout.HeaderSize);
    }

    [Fact]
    public void A_default_writer_takes_no_field()
    {
        Assert.Throws<InvalidOperationException>(static () => default(RowWriter).WriteInt32(1));
        Assert.Throws<InvalidOperationException>(static () => default(RowWriter).WriteString("a"));
        Assert.Throws<InvalidOperationException>(static () => default(RowWriter).WriteNull());
    }

    [Fact]
    public void One_buffer_serves_rows_of_all_sizes()
    {
        var random = new Random(3);
        using var buffer = new RowBuffer();
        for (var i = 0; i < 2_000; i++)
        {
            var (fixedFields, fields, length, seed) = (random.Next(40), random.Next(20), random.Next(10) == 0 ? 9_000 : 30, random.Next());
            long? expiry = i % 3 == 0 ? i : null;
            buffer.Begin(i, expiry);
            Write(new RowWriter(buffer), fixedFields, fields, length, seed);
            var row = buffer.Finish(i + 1).ToArray();
            row.Should().Equal(RowKit.Write((ref writer) => Write(writer, fixedFields, fields, length, seed), i, i + 1, expiry));
            RowLayout.FindFault(row).Should().BeNull();
            if (i % 100 == 0)
                buffer.Dispose();
        }

        static void Write(RowWriter writer, int fixedFields, int fields, int length, int seed)
        {
            var random = new Random(seed);
            for (; fixedFields > 0; fixedFields--)
                writer.WriteInt64(random.NextInt64());
            for (; fields > 0; fields--)
                writer.WriteBytes(Enumerable.Range(0, random.Next(length)).Select(_ => (byte)random.Next()).ToArray());
        }
    }

    [Fact]
    public void Writing_and_reading_rows_allocates_nothing()
    {
        using var buffer = new RowBuffer();
        WriteAndRead(buffer, 40_000);
        WriteAndRead(buffer, 10);
        ManagedAllocation.Least(() =>
        {
            for (var i = 0; i < 100; i++)
                WriteAndRead(buffer, i % 10 == 0 ? 40_000 : 10);
        }).Should().Be(0);
    }

    private static void WriteAndRead(RowBuffer buffer, int bodyLength)
    {
        buffer.Begin(1, 5);
        var writer = new RowWriter(buffer);
        writer.WriteInt32(1);
        writer.WriteString(Long);
        writer.WriteNullableDecimal(2.5m);
        writer.WriteNull();
        writer.WriteNullableGuid(null);
        writer.WriteDateTimeOffset(DateTimeOffset.UnixEpoch);
        writer.WriteInt128(Int128.MinValue);
        var body = writer.BeginBytes();
        for (var i = 0; i < bodyLength; i += 10)
        {
            body.GetSpan(10)[..10].Fill(7);
            body.Advance(10);
        }

        writer.EndBytes();
        var reader = new RowReader(buffer.Finish(9), RowKit.Table, RowKit.RowId);
        var found = reader.ReadInt32() == 1 && reader.ReadNullableDecimal() == 2.5m && reader.ReadNullableGuid() == null
            && reader.ReadDateTimeOffset() == DateTimeOffset.UnixEpoch && reader.ReadInt128() == Int128.MinValue && !reader.HasMoreFixed
            && reader.ReadBytes().Length == Long.Length && reader.TryReadNull() && reader.ReadBytes().Length == bodyLength && reader.Version == 1;
        Assert.True(found);
    }

    private static T Refuses<T>(ref RowWriter writer, RowFields use)
        where T : Exception
    {
        try
        {
            use(ref writer);
        }
        catch (T e)
        {
            return e;
        }

        throw new InvalidOperationException($"no {typeof(T).Name} was thrown");
    }
}
