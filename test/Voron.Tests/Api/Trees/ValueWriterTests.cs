using System.Buffers;
using System.Text;
using System.Text.Json;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Api;

/// <summary>Values written piece by piece: their bytes, what an open writer prevents, how it ends, and what it allocates.</summary>
[Quick]
public sealed class ValueWriterTests : IDisposable
{
    private const int Chunk = 64 << 10;

    private readonly SimulatedDisk _disk = new();
    private StorageEnvironment _environment;

    public ValueWriterTests() => _environment = StorageEnvironment.Open(_disk, FaultTestKit.Options());

    public void Dispose()
    {
        _environment.Verify().Problems.Should().BeEmpty();
        _environment.Dispose();
        _disk.Dispose();
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(1_900)]
    [InlineData(4_095)]
    [InlineData((16 << 10) - 1)]
    [InlineData(16 << 10)]
    [InlineData((4 * Chunk) - 1)]
    [InlineData(4 * Chunk)]
    [InlineData((4 * Chunk) + 1)]
    [InlineData((17 * Chunk) + 13)]
    [InlineData(5_000_003)]
    public void A_value_is_what_was_written_whatever_the_pieces(int length)
    {
        var value = FaultTestKit.Value(length, length);
        using (var writing = _environment.BeginWrite())
        {
            var tree = writing.CreateTree("t");
            tree.Put("neighbour"u8, [1]);
            var random = new Random(length);
            foreach (var pieces in new[] { 100, 5_000, 300_000, int.MaxValue })
            {
                using var writer = tree.OpenWriter(BitConverter.GetBytes(pieces));
                Write(writer, value, pieces, random);
                writer.WrittenCount.Should().Be(length);
                writer.Complete();
            }

            writing.Commit();
        }

        for (var round = 0; round < 2; round++)
        {
            using (var reading = _environment.BeginRead())
            {
                var tree = reading.OpenTree("t");
                tree.Count.Should().Be(5);
                foreach (var pieces in new[] { 100, 5_000, 300_000, int.MaxValue })
                {
                    tree.TryGet(BitConverter.GetBytes(pieces), out var stored).Should().BeTrue();
                    stored.SequenceEqual(value).Should().BeTrue();
                }
            }

            Reopen();
        }
    }

    [Fact]
    public void A_large_value_moves_while_it_grows_beside_another()
    {
        var values = new[] { FaultTestKit.Value(1, 4_000_000), FaultTestKit.Value(2, 3_000_000) };
        using var writing = _environment.BeginWrite();
        var tree = writing.CreateTree("t");
        using var first = tree.OpenWriter("a"u8);
        using var second = tree.OpenWriter("b"u8);
        for (var at = 0; at < 4_000_000; at += 100_000)
        {
            first.Write(values[0].AsSpan(at, 100_000));
            if (at < 3_000_000)
                second.Write(values[1].AsSpan(at, 100_000));
            tree.Put(FaultTestKit.Key(at), FaultTestKit.Value(at, 6_000));
        }

        first.GetSpan(1).Length.Should().BeLessThan(1 << 20, "most of the value is in the data file already");
        second.Complete();
        first.Complete();
        tree.TryGet("a"u8, out var stored).Should().BeTrue();
        stored.SequenceEqual(values[0]).Should().BeTrue();
        tree.TryGet("b"u8, out stored).Should().BeTrue();
        stored.SequenceEqual(values[1]).Should().BeTrue();
        writing.Commit();
    }

    [Theory]
    [InlineData(2_000)]
    [InlineData(900_000)]
    public void A_value_of_the_same_tree_can_be_copied_without_an_array(int length)
    {
        var original = FaultTestKit.Value(1, length);
        using var writing = _environment.BeginWrite();
        var tree = writing.CreateTree("t");
        tree.Put("a"u8, original);
        foreach (var key in new[] { "b", "a" })
        {
            tree.TryGet("a"u8, out var value).Should().BeTrue();
            using var writer = tree.OpenWriter(Encoding.UTF8.GetBytes(key));
            writer.Write(value);
            writer.Write(value);
            writer.Complete();
        }

        foreach (var key in new[] { "a", "b" })
            tree.Get(Encoding.UTF8.GetBytes(key)).AsSpan().SequenceEqual([.. original, .. original]).Should().BeTrue();
        writing.Commit();
    }

    [Fact]
    public void Json_and_text_are_written_through_it()
    {
        var document = Enumerable.Range(0, 3_000).ToDictionary(i => $"name {i}", i => new string('x', i % 40));
        using (var writing = _environment.BeginWrite())
        {
            var tree = writing.CreateTree("t");
            using (var writer = tree.OpenWriter("json"u8))
            {
                using (var json = new Utf8JsonWriter(writer))
                    JsonSerializer.Serialize(json, document);
                writer.Complete();
            }

            using (var writer = tree.OpenWriter("text"u8))
            {
                Encoding.UTF8.GetBytes("Zoë and others", writer);
                writer.Complete();
            }

            using (var writer = tree.OpenWriter("in place"u8))
            {
                using var json = new Utf8JsonWriter(writer, new JsonWriterOptions { Indented = true });
                json.WriteStartObject();
                json.WriteNumber("number", 7);
                json.WriteEndObject();
                json.Flush();
                writer.Complete();
            }

            writing.Commit();
        }

        using var reading = _environment.BeginRead();
        reading.OpenTree("t").TryGet("json"u8, out var value).Should().BeTrue();
        JsonSerializer.Deserialize<Dictionary<string, string>>(value).Should().Equal(document);
        reading.OpenTree("t").TryGet("text"u8, out value).Should().BeTrue();
        Encoding.UTF8.GetString(value).Should().Be("Zoë and others");
        reading.OpenTree("t").TryGet("in place"u8, out value).Should().BeTrue();
        JsonDocument.Parse(value.ToArray()).RootElement.GetProperty("number").GetInt32().Should().Be(7);
    }

    /// <summary>Without a flush the last bytes would be lost; the Dispose of the JSON writer says so.</summary>
    [Fact]
    public void A_json_writer_that_is_flushed_too_late_is_reported()
    {
        using var writing = _environment.BeginWrite();
        var writer = writing.CreateTree("t").OpenWriter("a"u8);
        var json = new Utf8JsonWriter(writer);
        json.WriteStartObject();
        json.WriteEndObject();
        writer.Complete();
        json.Invoking(one => one.Dispose()).Should().Throw<ObjectDisposedException>().WithMessage("*Flush a Utf8JsonWriter*");
    }

    [Theory]
    [InlineData(100)]
    [InlineData(1_500_000)]
    public void A_writer_that_is_not_completed_leaves_nothing(int length)
    {
        using (var writing = _environment.BeginWrite())
        {
            var tree = writing.CreateTree("t");
            tree.Put("a"u8, "old"u8);
            using (var writer = tree.OpenWriter("a"u8))
                writer.Write(FaultTestKit.Value(1, length));
            tree.TryGet("a"u8, out var value).Should().BeTrue();
            value.ToArray().Should().Equal("old"u8.ToArray());
            writing.Commit();
        }

        _environment.Verify().Problems.Should().BeEmpty();
        using var reading = _environment.BeginRead();
        reading.OpenTree("t").Count.Should().Be(1);
    }

    [Fact]
    public void Wrong_calls_say_what_is_wrong_and_change_nothing()
    {
        using var writing = _environment.BeginWrite();
        var tree = writing.CreateTree("t");
        FluentActions.Invoking(() => tree.OpenWriter([])).Should().Throw<ArgumentException>().WithMessage("*1 to 960*");
        FluentActions.Invoking(() => tree.OpenWriter(new byte[961])).Should().Throw<ArgumentException>().WithMessage("*1 to 960*");
        FluentActions.Invoking(() => default(WriteTree).OpenWriter([1])).Should().Throw<InvalidOperationException>();
        FluentActions.Invoking(() => default(ValueWriter).GetSpan()).Should().Throw<InvalidOperationException>().WithMessage("This value writer was never begun or opened*OpenWriter*");
        FluentActions.Invoking(() => default(ValueWriter).Complete()).Should().Throw<InvalidOperationException>().WithMessage("*OpenWriter*");
        default(ValueWriter).Dispose();
        using (var writer = tree.OpenWriter("a"u8))
        {
            writer.Write("abc"u8);
            FluentActions.Invoking(() => writer.GetSpan(-1)).Should().Throw<ArgumentOutOfRangeException>().WithParameterName("sizeHint");
            FluentActions.Invoking(() => writer.GetMemory(-1)).Should().Throw<ArgumentOutOfRangeException>().WithParameterName("sizeHint");
            FluentActions.Invoking(() => writer.GetSpan(int.MaxValue)).Should().Throw<InvalidOperationException>()
                .WithMessage("*at most 2147483647*");
            FluentActions.Invoking(() => writer.GetSpan(Array.MaxLength)).Should().Throw<InvalidOperationException>().WithMessage("*No buffer*");
            FluentActions.Invoking(() => writer.Advance(-1)).Should().Throw<ArgumentOutOfRangeException>().WithParameterName("count");
            var room = writer.GetSpan(10).Length;
            FluentActions.Invoking(() => writer.Advance(room + 1)).Should().Throw<InvalidOperationException>().WithMessage("*no space*");
            writer.WrittenCount.Should().Be(3);
            writer.Complete();
        }

        tree.TryGet("a"u8, out var value).Should().BeTrue();
        value.ToArray().Should().Equal("abc"u8.ToArray());
        writing.Commit();
        FluentActions.Invoking(() => tree.OpenWriter("a"u8)).Should().Throw<ObjectDisposedException>();
    }

    [Fact]
    public void A_value_that_becomes_too_long_is_refused_and_what_was_written_stays()
    {
        using var writing = _environment.BeginWrite();
        var tree = writing.CreateTree("t");
        var lease = Voron.Transactions.ValueWriterLease.Open(tree.AsReadOnly().Opened, tree.AsReadOnly().Generation, "a"u8);
        lease.MaxBytes = 1_000_000;
        var writer = new ValueWriter(lease);
        var value = FaultTestKit.Value(1, 1_000_001);
        writer.Write(value.AsSpan(0, 999_999));
        FluentActions.Invoking(() => writer.GetSpan(2)).Should().Throw<InvalidOperationException>().WithMessage("*at most 1000000 bytes*1000001*");
        FluentActions.Invoking(() => writer.Write("ab"u8)).Should().Throw<InvalidOperationException>().WithMessage("*at most 1000000 bytes*1000001*");
        writer.WrittenCount.Should().Be(999_999);
        writer.GetSpan(1)[0] = value[999_999];
        FluentActions.Invoking(() => writer.Advance(2)).Should().Throw<InvalidOperationException>().WithMessage("*at most 1000000 bytes*");
        writer.Advance(1);
        FluentActions.Invoking(() => writer.GetSpan(1)).Should().Throw<InvalidOperationException>();
        writer.Complete();
        tree.TryGet("a"u8, out var stored).Should().BeTrue();
        stored.SequenceEqual(value.AsSpan(0, 1_000_000)).Should().BeTrue();
        writing.Commit();
    }

    [Fact]
    public void A_failed_put_breaks_the_transaction_and_ends_the_writer()
    {
        using var environment = StorageEnvironment.OpenInMemory(
            new StorageOptions { BackgroundFlush = false, MaxTransactionBytes = 1 << 20, LargeValueBytes = 8 << 20 });
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.CreateTree("t");
            var writer = tree.OpenWriter("a"u8);
            writer.Write(FaultTestKit.Value(1, 2 << 20));
            FluentActions.Invoking(() => writer.Complete()).Should().Throw<StorageFullException>();
            FluentActions.Invoking(() => writer.Complete()).Should().Throw<ObjectDisposedException>();
            writer.Dispose();
            FluentActions.Invoking(() => tree.OpenWriter("a"u8)).Should().Throw<InvalidOperationException>().WithMessage("*can only be rolled back*");
            writing.Invoking(one => one.Commit()).Should().Throw<InvalidOperationException>();
        }

        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void Writing_allocates_nothing_once_the_pools_are_filled()
    {
        using var writing = _environment.BeginWrite();
        var tree = writing.CreateTree("t");
        var value = new byte[1_000];
        for (var i = 0; i < 3; i++)
            Write(tree, value);
        ManagedAllocation.Least(() => Write(tree, value)).Should().Be(0);
    }

    private static void Write(WriteTree tree, byte[] value)
    {
        for (var i = 0; i < 50; i++)
        {
            using var writer = tree.OpenWriter("a"u8);
            value.CopyTo(writer.GetSpan(value.Length));
            writer.Advance(value.Length);
            writer.Write(value);
            writer.Complete();
        }
    }

    private static void Write(ValueWriter writer, ReadOnlySpan<byte> value, int pieces, Random random)
    {
        while (!value.IsEmpty)
        {
            var wanted = Math.Min(value.Length, pieces == int.MaxValue ? pieces : random.Next(1, pieces + 1));
            if (random.Next(3) == 0)
            {
                writer.Write(value[..wanted]);
                value = value[wanted..];
                continue;
            }

            var room = random.Next(2) == 0 ? writer.GetSpan(wanted) : writer.GetMemory(random.Next(2) == 0 ? 0 : wanted).Span;
            room.Length.Should().BePositive();
            var count = Math.Min(room.Length, wanted);
            value[..count].CopyTo(room);
            writer.Advance(count);
            value = value[count..];
        }
    }

    private void Reopen()
    {
        _environment.Dispose();
        _environment = StorageEnvironment.Open(_disk, FaultTestKit.Options());
    }
}
