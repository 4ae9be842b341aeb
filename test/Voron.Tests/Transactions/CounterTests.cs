using System.Buffers.Binary;
using Voron.Tests.Faults;

namespace Voron.Tests.Transactions;

/// <summary>Increments wait, but count as if they had been made at once; where that is impossible, the transaction can only be rolled back.</summary>
[Quick]
public sealed class CounterTests : IDisposable
{
    private readonly StorageEnvironment _environment = StorageEnvironment.OpenInMemory(
        new StorageOptions { BackgroundFlush = false, MaxGroupCommitDuration = TimeSpan.FromMinutes(1) });

    public void Dispose()
    {
        _environment.Verify().Problems.Should().BeEmpty();
        _environment.Dispose();
    }

    [Theory]
    [InlineData(3)]
    [InlineData(200)]
    [InlineData(50_000)]
    public void Increments_count_among_puts_and_deletes(int count)
    {
        var random = new Random(TestSeed.Choose());
        var model = new SortedDictionary<int, long>();
        for (var transaction = 0; transaction < 4; transaction++)
        {
            using (var writing = _environment.BeginWrite())
            {
                var tree = writing.CreateTree("t");
                for (var i = 0; i < count; i++)
                    Change(tree, random, model, keys: count < 1000 ? 20 : 3000, reads: 20 * count);
                writing.Commit();
            }

            using var reading = _environment.BeginRead();
            Content(reading.OpenTree("t")).Should().Equal(model.Select(pair => (pair.Key, pair.Value)));
        }
    }

    private static void Change(WriteTree tree, Random random, SortedDictionary<int, long> model, int keys, int reads)
    {
        var number = random.Next(keys);
        Span<byte> key = stackalloc byte[sizeof(int)];
        BinaryPrimitives.WriteInt32BigEndian(key, number);
        var delta = random.NextInt64(-1000, 1000);
        switch (random.Next(10))
        {
            case 0:
                Span<byte> value = stackalloc byte[sizeof(long)];
                BinaryPrimitives.WriteInt64LittleEndian(value, delta);
                tree.Put(key, value);
                model[number] = delta;
                break;
            case 1 when random.Next(reads) == 0:
                tree.Delete(key).Should().Be(model.Remove(number));
                break;
            default:
                tree.Increment(key, delta);
                model[number] = model.GetValueOrDefault(number) + delta;
                break;
        }
    }

    private static List<(int Key, long Value)> Content(Tree tree)
    {
        var content = new List<(int, long)>();
        foreach (var entry in tree.Range(KeyRange.All))
            content.Add((BinaryPrimitives.ReadInt32BigEndian(entry.Key), BinaryPrimitives.ReadInt64LittleEndian(entry.Value)));
        return content;
    }

    [Fact]
    public void Every_read_sees_the_increments_before_it()
    {
        using var writing = _environment.BeginWrite();
        var tree = writing.CreateTree("t");
        using var cursor = tree.OpenCursor();
        for (var i = 1; i <= 50; i++)
        {
            tree.Increment("a"u8);
            tree.Increment("b"u8, -2);
            if (i % 3 == 0)
                tree.Add("a"u8, 0).Should().Be(i);
            else if (i % 3 == 1)
                BinaryPrimitives.ReadInt64LittleEndian(tree.Get("b"u8)).Should().Be(-2 * i);
            else if (cursor.SeekExact("a"u8))
                BinaryPrimitives.ReadInt64LittleEndian(cursor.Value).Should().Be(i);
        }

        tree.Count.Should().Be(2);
    }

    [Theory]
    [InlineData(10)]
    [InlineData(20_000)]
    public void A_sum_on_the_way_that_is_no_number_fails_however_many_wait(int others)
    {
        using var writing = _environment.BeginWrite();
        var tree = writing.CreateTree("t");
        for (var i = others; i > 0; i--)
            tree.Increment(FaultTestKit.Key(i));
        foreach (var delta in new[] { long.MaxValue, 1, -1 })
            tree.Increment("a"u8, delta);

        writing.Invoking(one => one.Commit()).Should().Throw<OverflowException>().WithMessage("*'a'*'t'*9223372036854775807*by 1.*rolled back*");
        writing.Invoking(one => one.Commit()).Should().Throw<ObjectDisposedException>("the commit has rolled back");
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_value_that_is_no_counter_breaks_the_transaction_whether_the_increment_waits_or_not(bool waits)
    {
        _environment.Write(writing => writing.CreateTree("t").Put("a"u8, "seven b"u8));
        using (var writing = _environment.BeginWrite())
        {
            var tree = writing.OpenTree("t");
            using var savepoint = writing.CreateSavepoint();
            for (var i = 0; i < 2 && waits; i++)
                tree.Put("b"u8, "value"u8);
            if (waits)
            {
                tree.Increment("a"u8);
                writing.CreateTree("other").Put("c"u8, "value"u8);
                tree.Invoking(one => one.Get("b"u8)).Should().Throw<InvalidOperationException>().WithMessage("*'a'*'t'*7 bytes*rolled back*");
            }
            else
            {
                tree.Invoking(one => one.Increment("a"u8)).Should().Throw<InvalidOperationException>().WithMessage("*'a'*'t'*7 bytes*rolled back*");
            }

            tree.Invoking(one => one.Put("b"u8, "value"u8)).Should().Throw<InvalidOperationException>().WithMessage("*7 bytes*");
            savepoint.Rollback();
            tree.Put("b"u8, "after"u8);
            writing.Commit();
        }

        using var reading = _environment.BeginRead();
        reading.OpenTree("t").Count.Should().Be(2);
        reading.OpenTree("t").Get("b"u8).Should().Equal("after"u8.ToArray());
        reading.GetTreeNames().Should().Equal("t");
    }

    [Fact]
    public async Task Of_operations_that_commit_together_only_those_of_a_bad_counter_fail()
    {
        _environment.Write(writing => writing.CreateTree("t").Put("bad"u8, "text"u8));
        var tasks = GroupCommitTests.QueueTogether(_environment, 300, (writing, i) =>
        {
            var tree = writing.OpenTree("t");
            tree.Increment("good"u8);
            tree.Increment("better"u8);
            if (i % 100 == 50)
                tree.Increment("bad"u8);
        });

        for (var i = 0; i < tasks.Length; i++)
        {
            var task = tasks[i];
            if (i % 100 == 50)
                (await FluentActions.Awaiting(() => task).Should().ThrowAsync<InvalidOperationException>()).WithMessage("*'bad'*'t'*4 bytes*");
            else
                await task;
        }

        _environment.Write(writing => writing.OpenTree("t").Add("good"u8, 0)).Should().Be(297);
        _environment.Write(writing => writing.OpenTree("t").Add("better"u8, 0)).Should().Be(297);
    }

    [Fact]
    public void Clearing_a_tree_drops_the_increments_that_wait()
    {
        using var writing = _environment.BeginWrite();
        var tree = writing.CreateTree("t");
        tree.Put("b"u8, "value"u8);
        tree.Put("a"u8, "seven b"u8);
        tree.Increment("a"u8);
        tree.Clear();
        tree.Increment("a"u8, 3);
        tree.Increment("a"u8, 4);
        tree.Add("a"u8, 0).Should().Be(7);
        tree.Count.Should().Be(1);
    }

    /// <summary>The eight bytes of a counter, or the few of them that change, and their place: not its leaf, nor its neighbours.</summary>
    [Fact]
    public void An_increment_journals_a_few_bytes()
    {
        const int counters = 50_000;
        const int changes = 500;
        var bytes = 0L;
        using var environment = StorageEnvironment.OpenInMemory(new StorageOptions
        {
            BackgroundFlush = false,
            JournalCompression = JournalCompression.Never,
            CommitObserver = report => bytes = report.JournalBytes,
        });
        var random = new Random(1);
        environment.Write(writing =>
        {
            var tree = writing.CreateTree("t");
            for (var i = 0; i < counters; i++)
                tree.Increment(BitConverter.GetBytes(i), random.NextInt64(1L << 60));
        });

        using var changing = environment.BeginWrite();
        var opened = changing.OpenTree("t");
        for (var i = 0; i < changes; i++)
            opened.Increment(BitConverter.GetBytes(random.Next(counters)), random.NextInt64(1L << 60));
        changing.Commit();
        (bytes / changes).Should().BeInRange(8, 30);
    }

    [Fact]
    public void Delete_if_removes_an_entry_only_with_the_value_that_is_expected()
    {
        using var writing = _environment.BeginWrite();
        var tree = writing.CreateTree("t");
        foreach (var length in new[] { 0, 1, 100, 5_000, 20_000, 200_000 })
        {
            var value = new byte[length];
            new Random(length).NextBytes(value);
            tree.Put("a"u8, value);
            tree.DeleteIf("a"u8, [.. value, 1]).Should().BeFalse();
            if (length > 0)
            {
                var different = value.ToArray();
                different[^1]++;
                tree.DeleteIf("a"u8, different).Should().BeFalse();
                tree.DeleteIf("a"u8, []).Should().BeFalse("an empty value is not a missing one");
            }

            tree.DeleteIf("b"u8, value).Should().BeFalse();
            tree.Count.Should().Be(1);
            tree.DeleteIf("a"u8, value).Should().BeTrue();
            tree.DeleteIf("a"u8, value).Should().BeFalse();
            tree.Count.Should().Be(0);
        }

        tree.Put("c"u8, "c"u8);
        using var cursor = tree.OpenCursor();
        cursor.SeekFirst().Should().BeTrue();
        tree.DeleteIf(cursor.Key, cursor.Value).Should().BeTrue("key and value may be spans of the tree");
    }
}
