using System.Buffers;
using System.Buffers.Binary;
using Voron.Tests.Faults;

namespace Voron.Tests.Api;

/// <summary>Replacing, removing, exchanging and counting: what is returned, what is stored, and which calls are refused.</summary>
[Quick]
public sealed class TreeUpdateTests : IDisposable
{
    /// <summary>In the leaf, in overflow pages, and in extents of their own.</summary>
    private static readonly int[] Lengths = [0, 1, 100, 5_000, 20_000, 200_000];

    private readonly StorageEnvironment _environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options());

    public void Dispose()
    {
        _environment.Verify().Problems.Should().BeEmpty();
        _environment.Dispose();
    }

    [Fact]
    public void Replace_stores_the_new_value_and_returns_the_old_one()
    {
        using (var writing = _environment.BeginWrite())
        {
            var tree = writing.CreateTree("t");
            byte[]? expected = null;
            foreach (var length in Lengths.Concat(Lengths.Reverse()))
            {
                var value = FaultTestKit.Value(length, length);
                var old = tree.Exchange("a"u8, value);
                (old == null).Should().Be(expected == null);
                old.AsSpan().SequenceEqual(expected).Should().BeTrue();
                expected = value;
            }

            foreach (var length in Lengths)
            {
                var value = FaultTestKit.Value(length, length);
                var buffer = new ArrayBufferWriter<byte>();
                tree.Exchange("a"u8, value, buffer).Should().BeTrue();
                buffer.WrittenSpan.SequenceEqual(expected).Should().BeTrue();
                expected = value;
            }

            tree.Exchange("b"u8, [1], new ArrayBufferWriter<byte>()).Should().BeFalse();
            tree.TryGet("b"u8, out var stored).Should().BeTrue();
            stored.ToArray().Should().Equal(1);
            tree.Count.Should().Be(2);
            writing.Commit();
        }

        using var reading = _environment.BeginRead();
        reading.OpenTree("t").TryGet("a"u8, out var last).Should().BeTrue();
        last.SequenceEqual(FaultTestKit.Value(200_000, 200_000)).Should().BeTrue();
    }

    [Fact]
    public void Remove_deletes_the_entry_and_returns_its_value()
    {
        using var writing = _environment.BeginWrite();
        var tree = writing.CreateTree("t");
        tree.Remove("a"u8).Should().BeNull();
        tree.Remove(default).Should().BeNull();
        tree.Remove("a"u8, new ArrayBufferWriter<byte>()).Should().BeFalse();
        foreach (var length in Lengths)
        {
            var value = FaultTestKit.Value(length, length);
            tree.Put("a"u8, value);
            var removed = tree.Remove("a"u8);
            removed.Should().NotBeNull();
            removed.AsSpan().SequenceEqual(value).Should().BeTrue();
            tree.Put("a"u8, value);
            var buffer = new ArrayBufferWriter<byte>();
            tree.Remove("a"u8, buffer).Should().BeTrue();
            buffer.WrittenSpan.SequenceEqual(value).Should().BeTrue();
            tree.Count.Should().Be(0);
        }

        writing.Commit();
    }

    [Fact]
    public void An_exchange_happens_only_if_the_value_is_the_expected_one()
    {
        using var writing = _environment.BeginWrite();
        var tree = writing.CreateTree("t");
        tree.CompareExchange("a"u8, "new"u8, ""u8).Should().BeFalse("an empty value is not a missing one");
        tree.CompareExchange("a"u8, "new"u8, "x"u8).Should().BeFalse();
        tree.CompareExchange("a"u8, "first"u8, null).Should().BeTrue();
        tree.CompareExchange("a"u8, "second"u8, null).Should().BeFalse();
        Value(tree).Should().Equal("first"u8.ToArray());
        foreach (var wrong in new[] { "", "firs", "first ", "First" })
            tree.CompareExchange("a"u8, "second"u8, System.Text.Encoding.UTF8.GetBytes(wrong)).Should().BeFalse();
        Value(tree).Should().Equal("first"u8.ToArray());
        var current = "first"u8.ToArray();
        foreach (var length in Lengths)
        {
            var next = FaultTestKit.Value(length, length);
            tree.CompareExchange("a"u8, next, current).Should().BeTrue();
            tree.CompareExchange("a"u8, "other"u8, current).Should().BeFalse();
            if (length > 0)
            {
                var different = next.ToArray();
                different[^1]++;
                tree.CompareExchange("a"u8, "other"u8, different).Should().BeFalse();
            }

            Value(tree).AsSpan().SequenceEqual(next).Should().BeTrue();
            current = next;
        }

        tree.CompareExchange("a"u8, current, current.AsSpan()).Should().BeTrue();
        tree.Count.Should().Be(1);
        writing.Commit();
    }

    [Fact]
    public void A_counter_counts_from_nothing_and_up_to_its_limits()
    {
        using (var writing = _environment.BeginWrite())
        {
            var tree = writing.CreateTree("t");
            tree.Add("a"u8, 1).Should().Be(1);
            tree.Add("a"u8, 1).Should().Be(2);
            tree.Add("a"u8, 0x0102030405060700).Should().Be(0x0102030405060702);
            Value(tree).Should().Equal([2, 7, 6, 5, 4, 3, 2, 1], "a counter is little-endian");
            tree.Add("a"u8, -0x0102030405060703).Should().Be(-1);
            tree.Add("b"u8, 0).Should().Be(0);
            tree.Add("c"u8, long.MaxValue).Should().Be(long.MaxValue);
            tree.Invoking(one => one.Add("c"u8, 1)).Should().Throw<OverflowException>().WithMessage("*'c'*'t'*9223372036854775807*1*");
            tree.Add("c"u8, long.MinValue).Should().Be(-1);
            tree.Add("c"u8, long.MinValue + 1).Should().Be(long.MinValue);
            tree.Invoking(one => one.Add("c"u8, -1)).Should().Throw<OverflowException>();
            tree.Add("d"u8, long.MinValue).Should().Be(long.MinValue);
            writing.Commit();
        }

        using var reading = _environment.BeginRead();
        reading.OpenTree("t").TryGet("c"u8, out var value).Should().BeTrue();
        BinaryPrimitives.ReadInt64LittleEndian(value).Should().Be(long.MinValue);
    }

    [Fact]
    public void Waiting_puts_are_seen()
    {
        using var writing = _environment.BeginWrite();
        var tree = writing.CreateTree("t");
        for (var i = 50; i > 0; i--)
            tree.Put(FaultTestKit.Key(i), [(byte)i]);
        tree.Exchange(FaultTestKit.Key(7), [70]).Should().Equal(7);
        tree.Put(FaultTestKit.Key(9), [90]);
        tree.Put(FaultTestKit.Key(8), [80]);
        tree.CompareExchange(FaultTestKit.Key(8), [81], [80]).Should().BeTrue();
        tree.Put(FaultTestKit.Key(6), [60]);
        tree.Remove(FaultTestKit.Key(6)).Should().Equal(60);
        tree.Put(FaultTestKit.Key(5), new byte[8]);
        tree.Add(FaultTestKit.Key(5), 5).Should().Be(5);
        tree.Count.Should().Be(49);
    }

    [Fact]
    public void Old_values_and_keys_may_be_arguments()
    {
        using var writing = _environment.BeginWrite();
        var tree = writing.CreateTree("t");
        for (var i = 0; i < 200; i++)
            tree.Put(FaultTestKit.Key(i), FaultTestKit.Value(i, i));
        using var cursor = tree.OpenCursor();
        for (var found = cursor.SeekFirst(); found; found = cursor.MoveNext())
        {
            var key = cursor.Key.ToArray();
            var value = cursor.Value.ToArray();
            tree.Exchange(cursor.Key, cursor.Value).Should().Equal(value);
            tree.TryGet(key, out var same).Should().BeTrue();
            tree.CompareExchange(cursor.Key, cursor.Key, same).Should().BeTrue();
            tree.TryGet(key, out same).Should().BeTrue();
            same.SequenceEqual(key).Should().BeTrue();
            if (key[^1] % 2 == 0)
                tree.Remove(cursor.Key).Should().Equal(key);
        }

        tree.Count.Should().Be(100);
    }

    [Fact]
    public void Wrong_calls_say_what_is_wrong_and_change_nothing()
    {
        using var writing = _environment.BeginWrite();
        var tree = writing.CreateTree("t");
        tree.Put("a"u8, "seven b"u8);
        var longKey = new byte[961];
        foreach (var key in new[] { [], longKey })
        {
            FluentActions.Invoking(() => tree.Exchange(key, [1])).Should().Throw<ArgumentException>().WithMessage("*1 to 960*");
            FluentActions.Invoking(() => tree.Exchange(key, [1], new ArrayBufferWriter<byte>())).Should().Throw<ArgumentException>();
            FluentActions.Invoking(() => tree.CompareExchange(key, [1], [1])).Should().Throw<ArgumentException>();
            FluentActions.Invoking(() => tree.CompareExchange(key, [1], null)).Should().Throw<ArgumentException>();
            FluentActions.Invoking(() => tree.Add(key, 1)).Should().Throw<ArgumentException>();
            tree.Remove(key).Should().BeNull("a key that cannot be there is not there");
        }

        FluentActions.Invoking(() => tree.Exchange("a"u8, [1], null!)).Should().Throw<ArgumentNullException>().WithParameterName("oldValue");
        FluentActions.Invoking(() => tree.Remove("a"u8, null!)).Should().Throw<ArgumentNullException>().WithParameterName("oldValue");
        FluentActions.Invoking(() => tree.Add("a"u8, 1)).Should().Throw<InvalidOperationException>().WithMessage("*'a'*'t'*7 bytes*8*Nothing*");
        tree.Put("long"u8, new byte[20_000]);
        FluentActions.Invoking(() => tree.Add("long"u8, 1)).Should().Throw<InvalidOperationException>().WithMessage("*20000 bytes*");
        FluentActions.Invoking(() => default(WriteTree).Add("a"u8, 1)).Should().Throw<InvalidOperationException>().WithMessage("This tree was never begun or opened*");
        tree.Count.Should().Be(2);
        Value(tree).Should().Equal("seven b"u8.ToArray());
        writing.Commit();
        FluentActions.Invoking(() => tree.Exchange("a"u8, [1])).Should().Throw<ObjectDisposedException>();
        FluentActions.Invoking(() => tree.Remove("a"u8)).Should().Throw<ObjectDisposedException>();
        FluentActions.Invoking(() => tree.CompareExchange("a"u8, [1], [1])).Should().Throw<ObjectDisposedException>();
        FluentActions.Invoking(() => tree.Add("a"u8, 1)).Should().Throw<ObjectDisposedException>();
    }

    [Theory]
    [InlineData("throws", false)]
    [InlineData("throws", true)]
    [InlineData("gives nothing", false)]
    [InlineData("puts", false)]
    [InlineData("puts", true)]
    [InlineData("deletes", false)]
    [InlineData("deletes", true)]
    [InlineData("rolls back", false)]
    [InlineData("rolls back", true)]
    [InlineData("commits", false)]
    [InlineData("commits", true)]
    public void A_buffer_writer_that_misbehaves_is_reported_before_anything_is_stored(string kind, bool atEnd)
    {
        var old = FaultTestKit.Value(1, 5_000);
        var writing = _environment.BeginWrite();
        var tree = writing.CreateTree("t");
        tree.Put("a"u8, old);
        for (var i = 0; i < 100; i++)
            tree.Insert(FaultTestKit.Key(i), FaultTestKit.Value(i, 100));
        var savepoint = writing.CreateSavepoint();
        tree.Insert(FaultTestKit.Key(100), []);
        void Act()
        {
            switch (kind)
            {
                case "throws":
                    throw new InvalidDataException("no");
                case "puts":
                    tree.Put(FaultTestKit.Key(1), [1]);
                    break;
                case "deletes":
                    tree.Delete("a"u8);
                    break;
                case "rolls back":
                    savepoint.Rollback();
                    break;
                case "commits":
                    savepoint.Release();
                    writing.Commit();
                    break;
            }
        }

        var buffer = new Misbehaving(Act, bytesBefore: atEnd ? old.Length : 1, givesNothing: kind == "gives nothing");
        var replace = () => tree.Exchange("a"u8, "b"u8, buffer);
        if (kind == "throws")
            replace.Should().Throw<InvalidDataException>();
        else if (kind == "commits")
            replace.Should().Throw<ObjectDisposedException>();
        else if (kind == "gives nothing")
            replace.Should().Throw<ArgumentException>().WithParameterName("oldValue").WithMessage("*no room*");
        else
            replace.Should().Throw<InvalidOperationException>()
                .Where(e => e.Message.Contains("changed") && e.Message.Contains("tree"));
        if (kind != "commits")
        {
            var found = tree.TryGet("a"u8, out var value);
            found.Should().Be(kind != "deletes");
            value.SequenceEqual(found ? old : default).Should().BeTrue();
            writing.Invoking(one => one.Commit()).Should().NotThrow();
        }
    }

    [Fact]
    public void A_transaction_that_can_only_be_rolled_back_refuses_every_change()
    {
        using var environment = StorageEnvironment.OpenInMemory(new StorageOptions { BackgroundFlush = false, MaxTransactionBytes = 1 << 20 });
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.CreateTree("t");
            tree.Put("a"u8, "old"u8);
            var other = writing.CreateTree("other");
            var fill = () => Enumerable.Range(0, 1_000).Count(i => other.Insert(FaultTestKit.Key(i), new byte[1_900]));
            FluentActions.Invoking(() => tree.Exchange("a"u8, "new"u8, new Misbehaving(() => fill.Should().Throw<StorageFullException>(), 3, false)))
                .Should().Throw<InvalidOperationException>().WithMessage("*can only be rolled back*");
            var changes = new Action[]
            {
                () => tree.Exchange("a"u8, "new"u8), () => tree.Exchange("b"u8, "new"u8, new ArrayBufferWriter<byte>()), () => tree.Remove("a"u8),
                () => tree.Remove("b"u8), () => tree.Remove("b"u8, new ArrayBufferWriter<byte>()), () => tree.CompareExchange("a"u8, "new"u8, "x"u8),
                () => tree.CompareExchange("b"u8, "new"u8, null), () => tree.Add("b"u8, 1), () => tree.OpenWriter("b"u8),
            };
            foreach (var change in changes)
                change.Should().Throw<InvalidOperationException>().WithMessage("*can only be rolled back*");
        }

        using var reading = environment.BeginRead();
        reading.TryOpenTree("t", out _).Should().BeFalse();
    }

    private static byte[] Value(WriteTree tree) => tree.TryGet("a"u8, out var value) ? value.ToArray() : throw new KeyNotFoundException();

    private sealed class Misbehaving(Action act, int bytesBefore, bool givesNothing) : IBufferWriter<byte>
    {
        private readonly byte[] _buffer = new byte[1_000];
        private int _bytes;

        public void Advance(int count)
        {
            var before = _bytes;
            _bytes += count;
            if (before < bytesBefore && _bytes >= bytesBefore)
                act();
        }

        public Memory<byte> GetMemory(int sizeHint = 0) => _buffer;

        public Span<byte> GetSpan(int sizeHint = 0) => givesNothing ? default : _buffer;
    }
}
