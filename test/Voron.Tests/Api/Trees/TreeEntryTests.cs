using System.Buffers;
using Voron.Tests.Faults;

namespace Voron.Tests.Api;

/// <summary>An entry is a view that checks whether its bytes are still there, and copies them in every form that is asked for.</summary>
[Quick]
public sealed class TreeEntryTests : IDisposable
{
    private const int LargeBytes = 32 << 10;

    private readonly StorageEnvironment _environment = StorageEnvironment.OpenInMemory(
        new StorageOptions { BackgroundFlush = false, LargeValueBytes = LargeBytes });

    /// <summary>Values in the leaf, in an overflow extent, and large ones with and without a page of checksums.</summary>
    public static TheoryData<int> Lengths => [0, 1, 100, 1_900, 3_000, 20_000, LargeBytes - 1, LargeBytes, 64 << 10, (64 << 10) + 1, 300_000];

    public void Dispose()
    {
        _environment.Verify().Problems.Should().BeEmpty();
        _environment.Dispose();
    }

    [Theory]
    [MemberData(nameof(Lengths))]
    public void A_value_of_any_length_is_copied_in_every_form(int length)
    {
        var value = FaultTestKit.Value(length, length);
        using (var writing = _environment.BeginWrite())
        {
            var tree = writing.CreateTree("t");
            tree.Put([1], [7]);
            tree.Put([2], value);
            CheckForms(tree, value);
            CheckWriteForms(tree, value);
            writing.Commit();
        }

        CheckRead(value);
        _environment.Flush();
        CheckRead(value);
    }

    private void CheckRead(byte[] value)
    {
        using var reading = _environment.BeginRead();
        CheckForms(reading.OpenTree("t"), value);
    }

    private static void CheckForms(Tree tree, byte[] value)
    {
        tree.Get([2]).Should().Equal(value);
        tree.TryGetLength([2], out var length).Should().BeTrue();
        length.Should().Be(value.Length);
        var writer = new ArrayBufferWriter<byte>();
        tree.TryGet([2], writer).Should().BeTrue();
        writer.WrittenSpan.SequenceEqual(value).Should().BeTrue();
        var buffer = new byte[value.Length + 3];
        tree.TryCopyTo([2], buffer, out var written).Should().BeTrue();
        written.Should().Be(value.Length);
        buffer.Should().Equal([.. value, 0, 0, 0]);
        tree.TryCopyTo([2], buffer.AsSpan(0, value.Length), out written).Should().BeTrue("there is exactly enough room");
        if (value.Length > 0)
        {
            buffer.AsSpan().Fill(9);
            written = 5;
            tree.TryCopyTo([2], buffer.AsSpan(0, value.Length - 1), out written).Should().BeFalse();
            written.Should().Be(0);
            buffer.Should().OnlyContain(b => b == 9, "nothing is written when the value does not fit");
        }

        using var cursor = tree.OpenCursor();
        cursor.SeekExact([2]).Should().BeTrue();
        var entry = cursor.Entry;
        cursor.MovePrevious().Should().BeTrue();
        entry.Key.SequenceEqual("\u0002"u8).Should().BeTrue("an entry stays what it is when the cursor moves on");
        entry.Value.SequenceEqual(value).Should().BeTrue();
        entry.ValueLength.Should().Be(value.Length);
        writer = new ArrayBufferWriter<byte>();
        entry.CopyValueTo(writer);
        writer.WrittenSpan.SequenceEqual(value).Should().BeTrue();
        entry.TryCopyValueTo(buffer, out written).Should().BeTrue();
        buffer.AsSpan(0, written).SequenceEqual(value).Should().BeTrue();
        foreach (var found in tree.GetEntries().Skip(1))
            found.Value.SequenceEqual(value).Should().BeTrue();
    }

    private static void CheckWriteForms(WriteTree tree, byte[] value)
    {
        tree.Get([2]).Should().Equal(value);
        tree.Get([3]).Should().BeNull();
        tree.TryGetLength([2], out var length).Should().BeTrue();
        length.Should().Be(value.Length);
        var writer = new ArrayBufferWriter<byte>();
        tree.TryGet([2], writer).Should().BeTrue();
        writer.WrittenSpan.SequenceEqual(value).Should().BeTrue();
        tree.TryCopyTo([2], new byte[value.Length], out var written).Should().BeTrue();
        written.Should().Be(value.Length);
        tree.TryGetEntry([2], out var entry).Should().BeTrue();
        entry.ValueLength.Should().Be(value.Length);
        tree.TryGetFirst(out entry).Should().BeTrue();
        entry.Key[0].Should().Be(1);
        tree.TryGetLast(out entry).Should().BeTrue();
        entry.Key[0].Should().Be(2);
        tree.TryGetFloor([1, 5], out entry).Should().BeTrue();
        entry.Key[0].Should().Be(1);
        tree.TryGetCeiling([1, 5], out entry).Should().BeTrue();
        entry.Key[0].Should().Be(2);
    }

    [Fact]
    public void A_value_that_is_longer_than_an_array_says_how_it_is_read()
    {
        FluentActions.Invoking(() => TreeEntry.NewArray(Array.MaxLength + 1L))
            .Should().Throw<InvalidOperationException>().WithMessage("*2147483592*stream*");
        FluentActions.Invoking(() => TreeEntry.NewArray(int.MaxValue)).Should().Throw<InvalidOperationException>();
        TreeEntry.NewArray(0).Should().BeEmpty();
    }

    [Fact]
    public void A_missing_key_has_no_copy()
    {
        FaultTestKit.Put(_environment, 1, [1]);
        using var reading = _environment.BeginRead();
        var tree = reading.OpenTree(FaultTestKit.TreeName);
        foreach (var key in new[] { [], FaultTestKit.Key(2), new byte[5_000] })
        {
            tree.Get(key).Should().BeNull();
            var writer = new ArrayBufferWriter<byte>();
            tree.TryGet(key, writer).Should().BeFalse();
            writer.WrittenCount.Should().Be(0);
            tree.TryCopyTo(key, new byte[10], out var written).Should().BeFalse();
            written.Should().Be(0);
            tree.TryGetLength(key, out var length).Should().BeFalse();
            length.Should().Be(0);
            tree.TryGetEntry(key, out var entry).Should().BeFalse();
            Invalid(entry, "There is no entry");
        }
    }

    [Fact]
    public void A_cursor_has_an_entry_while_it_is_on_one()
    {
        using var writing = _environment.BeginWrite();
        var tree = writing.CreateTree("t");
        tree.Put([1], [10]);
        tree.Put([2], [20]);
        using var cursor = tree.OpenCursor();
        FluentActions.Invoking(() => cursor.Entry.ValueLength).Should().Throw<InvalidOperationException>().WithMessage("*not on an entry*");
        cursor.SeekExact([2]).Should().BeTrue();
        cursor.Entry.Value[0].Should().Be(20);
        tree.Put([1], [11]);
        cursor.Entry.Value[0].Should().Be(20, "the cursor has kept its place");
        tree.Delete([2]).Should().BeTrue();
        FluentActions.Invoking(() => cursor.Entry.ValueLength).Should().Throw<InvalidOperationException>().WithMessage("*not on an entry*");
        cursor.MovePrevious().Should().BeTrue();
        cursor.Entry.Value[0].Should().Be(11);
        cursor.Dispose();
        FluentActions.Invoking(() => cursor.Entry.ValueLength).Should().Throw<ObjectDisposedException>();
    }

    [Fact]
    public void An_entry_ends_with_its_transaction()
    {
        FaultTestKit.Put(_environment, 1, [1]);
        var reading = _environment.BeginRead();
        reading.OpenTree(FaultTestKit.TreeName).TryGetFirst(out var entry).Should().BeTrue();
        reading.Dispose();
        Ended(entry);

        // Another transaction uses the same objects.
        using var next = _environment.BeginRead();
        next.OpenTree(FaultTestKit.TreeName).Count.Should().Be(1);
        Ended(entry);
    }

    [Fact]
    public void An_entry_ends_with_a_commit_and_with_a_rollback()
    {
        FaultTestKit.Put(_environment, 1, [1]);
        foreach (var commits in new[] { true, false })
        {
            var writing = _environment.BeginWrite();
            writing.OpenTree(FaultTestKit.TreeName).TryGetFirst(out var entry).Should().BeTrue();
            if (commits)
                writing.Commit();
            writing.Dispose();
            Ended(entry);
        }
    }

    [Theory]
    [InlineData("put")]
    [InlineData("insert")]
    [InlineData("delete")]
    [InlineData("cursor")]
    [InlineData("reserve")]
    [InlineData("rollback")]
    public void An_entry_ends_when_its_tree_changes(string change)
    {
        using var writing = _environment.BeginWrite();
        var tree = writing.CreateTree("t");
        tree.Put([1], FaultTestKit.Value(1, 100));
        tree.Put([2], FaultTestKit.Value(2, 100));
        var savepoint = writing.CreateSavepoint();
        tree.Put([3], FaultTestKit.Value(3, 100));
        tree.TryGetFirst(out var entry).Should().BeTrue();
        using var cursor = tree.OpenCursor();
        switch (change)
        {
            case "put":
                tree.Put([1], FaultTestKit.Value(4, 100));
                tree.Count.Should().Be(3);
                break;
            case "insert":
                tree.Insert([4], [1]).Should().BeTrue();
                break;
            case "delete":
                tree.Delete([2]).Should().BeTrue();
                break;
            case "cursor":
                cursor.SeekLast().Should().BeTrue();
                cursor.Delete().Should().BeTrue();
                break;
            case "reserve":
                tree.Reserve([5], 10).Clear();
                break;
            default:
                savepoint.Rollback();
                break;
        }

        Invalid(entry, "The tree has changed");
        tree.TryGetFirst(out entry).Should().BeTrue();
        entry.Key[0].Should().Be(1);
        writing.CreateTree("other").Put([1], [1]);
        entry.Value.Length.Should().Be(100, "a change of another tree leaves it valid");
    }

    [Fact]
    public void An_entry_ends_when_its_tree_is_deleted_or_was_created_after_a_savepoint()
    {
        using var writing = _environment.BeginWrite();
        var savepoint = writing.CreateSavepoint();
        var tree = writing.CreateTree("t");
        tree.Put([1], [1]);
        tree.TryGetFirst(out var entry).Should().BeTrue();
        var inner = writing.CreateSavepoint();
        writing.DeleteTree("t").Should().BeTrue();
        Invalid(entry, "The tree 't' has been deleted");
        inner.Rollback();
        Invalid(entry, "The tree has changed");
        tree.TryGetFirst(out entry).Should().BeTrue();
        savepoint.Rollback();
        Ended(entry);
    }

    [Fact]
    public void A_writer_that_changes_the_tree_gets_no_more_of_the_value()
    {
        using var writing = _environment.BeginWrite();
        var tree = writing.CreateTree("t");
        tree.Put([1], FaultTestKit.Value(1, 300_000));
        var meddler = new Meddler(() => tree.Put([1], [1]));
        try
        {
            tree.TryGet([1], meddler);
            Assert.Fail("The value was copied although it was replaced.");
        }
        catch (InvalidOperationException e)
        {
            e.Message.Should().StartWith("The tree has changed");
        }

        tree.Get([1]).Should().Equal(1);
        writing.Commit();
    }

    [Fact]
    public void A_writer_may_end_the_transaction_or_read_in_it()
    {
        using (var writing = _environment.BeginWrite())
        {
            writing.CreateTree("t").Put([1], FaultTestKit.Value(1, 300_000));
            writing.Commit();
        }

        var reading = _environment.BeginRead();
        var tree = reading.OpenTree("t");
        var reader = new Meddler(() => tree.Get([1]).Should().HaveCount(300_000));
        tree.TryGet([1], reader).Should().BeTrue("the transaction is not marked while the writer runs");
        reader.Written.Should().Equal(FaultTestKit.Value(1, 300_000));
        FluentActions.Invoking(() => tree.TryGet([1], new Meddler(() => reading.Dispose()))).Should().Throw<ObjectDisposedException>();
    }

    [Fact]
    public void A_writer_without_room_is_refused_and_one_that_throws_is_passed_on()
    {
        FaultTestKit.Put(_environment, 1, [1, 2]);
        using var reading = _environment.BeginRead();
        var tree = reading.OpenTree(FaultTestKit.TreeName);
        FluentActions.Invoking(() => tree.TryGet(FaultTestKit.Key(1), new Meddler(() => { }) { CapacityBytes = 0 }))
            .Should().Throw<ArgumentException>().WithParameterName("destination");
        var failing = new Meddler(() => throw new TimeoutException());
        FluentActions.Invoking(() => tree.TryGet(FaultTestKit.Key(1), failing)).Should().Throw<TimeoutException>();
        var slow = new Meddler(() => { }) { CapacityBytes = 1 };
        tree.TryGet(FaultTestKit.Key(1), slow).Should().BeTrue("a writer with less room than it is asked for gets the value in more pieces");
        slow.Written.Should().Equal(1, 2);
    }

    private static void Ended(TreeEntry entry)
    {
        foreach (var use in Uses)
        {
            try
            {
                use(entry);
                Assert.Fail("An entry can be read after its end.");
            }
            catch (ObjectDisposedException)
            {
            }
        }
    }

    private static void Invalid(TreeEntry entry, string message)
    {
        foreach (var use in Uses)
        {
            try
            {
                use(entry);
                Assert.Fail("An entry can be read although it may be gone.");
            }
            catch (InvalidOperationException e)
            {
                e.Message.Should().StartWith(message);
            }
        }
    }

    private delegate void Use(TreeEntry entry);

    private static readonly Use[] Uses =
    [
        entry => _ = entry.Key.Length,
        entry => _ = entry.Value.Length,
        entry => _ = entry.ValueLength,
        entry => entry.CopyValueTo(new ArrayBufferWriter<byte>()),
        entry => entry.TryCopyValueTo(new byte[100], out _),
    ];

    /// <summary>A buffer writer that does something else before it returns a buffer.</summary>
    private sealed class Meddler(Action action) : IBufferWriter<byte>
    {
        private readonly List<byte> _written = [];
        private byte[] _buffer = [];

        public int CapacityBytes { get; init; } = int.MaxValue;

        public IEnumerable<byte> Written => _written;

        public void Advance(int count) => _written.AddRange(_buffer.AsSpan(0, count));

        public Memory<byte> GetMemory(int sizeHint = 0)
        {
            if (_written.Count > 0 || CapacityBytes < int.MaxValue || sizeHint < 100)
                action();
            return _buffer = new byte[Math.Min(sizeHint, CapacityBytes)];
        }

        public Span<byte> GetSpan(int sizeHint = 0) => GetMemory(sizeHint).Span;
    }
}
