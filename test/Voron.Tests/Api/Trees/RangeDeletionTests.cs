using Voron.Simulation.Disks;
using Voron.Tests.Faults;
using Voron.Tests.Journal;

namespace Voron.Tests.Api;

/// <summary>Deleting ranges of keys and clearing trees, beside waiting puts, savepoints, cursors, streams and readers.</summary>
[Quick]
public sealed class RangeDeletionTests
{
    private const int Entries = 3_000;

    private static readonly StorageOptions Small = new() { BackgroundFlush = false, MaxTransactionBytes = 1 << 20 };

    [Fact]
    public void Values_of_every_kind_are_freed_and_nothing_else()
    {
        var disk = new SimulatedDisk();
        using (var environment = StorageEnvironment.Open(disk, FaultTestKit.Options()))
        {
            Fill(environment);
            using (var writing = environment.BeginWrite())
            {
                var tree = writing.OpenTree("t");
                tree.DeleteRange(KeyRange.From(FaultTestKit.Key(1_000)).Before(FaultTestKit.Key(2_000))).Should().Be(1_000);
                tree.Count.Should().Be(Entries - 1_000);
                writing.Commit();
            }

            environment.Verify().Problems.Should().BeEmpty();
            environment.Flush();
            using (var writing = environment.BeginWrite())
            {
                writing.OpenTree("t").DeleteRange(KeyRange.After(FaultTestKit.Key(2_899))).Should().Be(100);
                writing.OpenTree("t").DeleteRange(KeyRange.Prefix("0000"u8)).Should().Be(100);
                writing.Commit();
            }

            environment.Verify().Problems.Should().BeEmpty();
        }

        using var reopened = StorageEnvironment.Open(disk, FaultTestKit.Options());
        reopened.Verify().Problems.Should().BeEmpty();
        Check(reopened, Enumerable.Range(100, 900).Concat(Enumerable.Range(2_000, 900)));
        using (var writing = reopened.BeginWrite())
        {
            writing.OpenTree("t").Clear();
            writing.OpenTree("t").GetStatistics().Should().Be(new TreeStatistics(0, 0, 0, 0, 0));
            writing.Commit();
        }

        Check(reopened, []);
        reopened.Verify().Problems.Should().BeEmpty();
    }

    /// <summary>No page is freed, so nothing but the number of entries changes in the header of the tree.</summary>
    [Fact]
    public void A_range_within_a_page_changes_the_count_that_readers_see()
    {
        using var environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options());
        Fill(environment);
        using (var writing = environment.BeginWrite())
        {
            writing.OpenTree("t").DeleteRange(KeyRange.From(FaultTestKit.Key(1_010)).Through(FaultTestKit.Key(1_012))).Should().Be(3);
            writing.Commit();
        }

        Check(environment, Enumerable.Range(0, 1_010).Concat(Enumerable.Range(1_013, Entries - 1_013)));
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void Waiting_puts_count_and_are_deleted()
    {
        using var environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options());
        using var writing = environment.BeginWrite();
        var tree = writing.CreateTree("t");
        for (var i = 99; i >= 0; i--)
            tree.Put(FaultTestKit.Key(i), [1]);
        tree.DeleteRange(KeyRange.Through(FaultTestKit.Key(49))).Should().Be(50);
        tree.Put(FaultTestKit.Key(7), [7]);
        tree.Put(FaultTestKit.Key(5), [5]);
        tree.Clear();
        tree.Count.Should().Be(0);
        tree.Put(FaultTestKit.Key(3), [3]);
        tree.Put(FaultTestKit.Key(2), [2]);
        tree.Count.Should().Be(2);
        tree.Clear();
        tree.Clear();
        tree.OpenCursor().MoveNext().Should().BeFalse();
        writing.Commit();
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_savepoint_brings_everything_back(bool clears)
    {
        using var environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options());
        Fill(environment);
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.OpenTree("t");
            tree.Put(FaultTestKit.Key(5), Value(5));
            var savepoint = writing.CreateSavepoint();
            Delete(tree, clears);
            tree.Put(FaultTestKit.Key(6), [6]);
            savepoint.Rollback();
            tree.Count.Should().Be(Entries);
            using (var nested = writing.BeginNested())
            {
                Delete(tree, clears);
                tree.Put(FaultTestKit.Key(7), [7]);
                Delete(tree, clears);
            }

            tree.Count.Should().Be(Entries);
            using (var nested = writing.BeginNested())
            {
                Delete(tree, clears);
                nested.Commit();
            }

            tree.Count.Should().Be(clears ? 0 : 200);
            savepoint.Rollback();
            savepoint.Release();
            writing.Commit();
        }

        Check(environment, Enumerable.Range(0, Entries));
        environment.Verify().Problems.Should().BeEmpty();
        using (var writing = environment.BeginWrite())
            Delete(writing.OpenTree("t"), clears);
        Check(environment, Enumerable.Range(0, Entries));
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void Cursors_continue_at_the_neighbours_and_streams_say_that_the_tree_has_changed()
    {
        using var environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options());
        Fill(environment);
        using var writing = environment.BeginWrite();
        var tree = writing.OpenTree("t");
        using var inside = tree.OpenCursor();
        using var before = tree.OpenCursor();
        inside.SeekExact(FaultTestKit.Key(1_500)).Should().BeTrue();
        before.SeekExact(FaultTestKit.Key(50)).Should().BeTrue();
        tree.TryOpenStream(FaultTestKit.Key(50), out var stream).Should().BeTrue();
        Delete(tree, clears: false);
        inside.IsOnEntry.Should().BeFalse();
        FluentActions.Invoking(() => inside.Key.Length).Should().Throw<InvalidOperationException>();
        inside.MoveNext().Should().BeTrue();
        inside.Key.ToArray().Should().Equal(FaultTestKit.Key(2_900));
        inside.MovePrevious().Should().BeTrue();
        inside.Key.ToArray().Should().Equal(FaultTestKit.Key(99));
        before.Key.ToArray().Should().Equal(FaultTestKit.Key(50));
        stream.Invoking(one => one!.ReadByte()).Should().Throw<InvalidOperationException>();
        tree.Clear();
        inside.MoveNext().Should().BeFalse();
        before.IsOnEntry.Should().BeFalse();
    }

    [Fact]
    public void A_key_read_from_the_tree_can_bound_the_range()
    {
        using var environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options());
        Fill(environment);
        using var writing = environment.BeginWrite();
        var tree = writing.OpenTree("t");
        tree.Put(FaultTestKit.Key(1_000), [1]);
        using var first = tree.OpenCursor();
        using var last = tree.OpenCursor();
        first.Seek(FaultTestKit.Key(1_000)).Should().BeTrue();
        last.Seek(FaultTestKit.Key(1_999)).Should().BeTrue();
        tree.DeleteRange(KeyRange.From(first.Key).Through(last.Key)).Should().Be(1_000);
        first.MovePrevious().Should().BeTrue();
        first.Key.ToArray().Should().Equal(FaultTestKit.Key(999));
        writing.Commit();
        environment.Verify().Problems.Should().BeEmpty();
    }

    /// <summary>The pages that a reader still needs are free for later transactions, but not before it has ended.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Readers_keep_their_snapshots(bool clears)
    {
        using var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
        Fill(environment);
        environment.Flush();
        var full = environment.BeginRead();
        using (var writing = environment.BeginWrite())
        {
            Delete(writing.OpenTree("t"), clears);
            writing.Commit();
        }

        using var reduced = environment.BeginRead();
        for (var round = 0; round < 3; round++)
        {
            using (var writing = environment.BeginWrite())
            {
                var tree = writing.CreateTree("other");
                tree.Clear();
                for (var i = 0; i < 1_000; i++)
                    tree.Put(FaultTestKit.Key(i), FaultTestKit.Value(i + round, i % 100 == 0 ? 300_000 : 1_000));
                writing.Commit();
            }

            environment.Flush();
            if (round < 2)
                Check(full.OpenTree("t"), Enumerable.Range(0, Entries));
            else
                full.Dispose();
            Check(reduced.OpenTree("t"), clears ? [] : Enumerable.Range(0, 100).Concat(Enumerable.Range(2_900, 100)));
        }

        environment.Verify().Problems.Should().BeEmpty();
    }

    /// <summary>The limit is on pages changed: freed pages need no memory of their own.</summary>
    [Fact]
    public void A_range_of_more_pages_than_a_transaction_may_change_is_deleted_at_once()
    {
        using var environment = StorageEnvironment.OpenInMemory(new StorageOptions(Small).Uncompressed());
        for (var from = 0; from < 30_000; from += 1_000)
        {
            using var writing = environment.BeginWrite();
            var tree = writing.CreateTree("t");
            for (var i = from; i < from + 1_000; i++)
                tree.Put(FaultTestKit.Key(i), FaultTestKit.Value(i, 300));
            writing.Commit();
        }

        environment.MustJournal(1, 500, writing =>
        {
            var tree = writing.OpenTree("t");
            tree.GetStatistics().LeafPages.Should().BeGreaterThan(1_000);
            tree.DeleteRange(KeyRange.From(FaultTestKit.Key(10)).Before(FaultTestKit.Key(29_990))).Should().Be(29_980);
            writing.Body.WritePages.ChangedBytes.Should().BeLessThan(64 << 10);
        });

        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void A_deletion_without_room_can_only_be_rolled_back()
    {
        using var environment = StorageEnvironment.OpenInMemory(Small);
        Fill(environment, step: 500);
        using (var writing = environment.BeginWrite())
        {
            var other = writing.CreateTree("other");
            for (var i = 0; writing.Body.WritePages.ChangedBytes < (1 << 20) - (6 << 10); i++)
                other.Insert(FaultTestKit.Key(i), new byte[1_900]);
            var tree = writing.OpenTree("t");
            tree.Invoking(one => one.DeleteRange(KeyRange.From(FaultTestKit.Key(3)).Before(FaultTestKit.Key(2_995))))
                .Should().Throw<TransactionTooLargeException>().WithMessage("*MaxTransactionBytes*");
            tree.Invoking(one => one.Clear()).Should().Throw<InvalidOperationException>().WithMessage("*can only be rolled back*");
            tree.Invoking(one => one.DeleteRange(default)).Should().Throw<InvalidOperationException>().WithMessage("*can only be rolled back*");
            writing.Invoking(one => one.Commit()).Should().Throw<InvalidOperationException>();
        }

        Check(environment, Enumerable.Range(0, Entries));
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_deletion_that_finds_a_damaged_page_can_only_be_rolled_back(bool clears)
    {
        SortedDictionary<string, byte[]> files;
        using (var disk = new SimulatedDisk())
        {
            using (var environment = StorageEnvironment.Open(disk, FaultTestKit.Options()))
                Fill(environment);
            files = FaultTestKit.Bytes(disk);
        }

        var data = files["voron.data"].AsSpan();
        for (var at = data.IndexOf(FaultTestKit.Key(1_500)); at >= 0; at = data.IndexOf(FaultTestKit.Key(1_500)))
            data[at] ^= 1;
        using var damaged = FaultTestKit.DiskOf(files);
        using var reopened = StorageEnvironment.Open(damaged, FaultTestKit.Options());
        using (var writing = reopened.BeginWrite())
        {
            var tree = writing.OpenTree("t");
            tree.Invoking(one => Delete(one, clears)).Should().Throw<CorruptionException>();
            tree.Invoking(one => Delete(one, clears)).Should().Throw<InvalidOperationException>().WithMessage("*can only be rolled back*");
            writing.Invoking(one => one.Commit()).Should().Throw<InvalidOperationException>().WithMessage("*can only be rolled back*");
        }

        using var reading = reopened.BeginRead();
        reading.OpenTree("t").Count.Should().Be(Entries);
    }

    [Fact]
    public void Wrong_calls_say_what_is_wrong_and_change_nothing()
    {
        using var environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options());
        Fill(environment);
        FluentActions.Invoking(() => default(WriteTree).DeleteRange(KeyRange.All)).Should().Throw<InvalidOperationException>()
            .WithMessage("This tree was never begun or opened*");
        FluentActions.Invoking(() => default(WriteTree).Clear()).Should().Throw<InvalidOperationException>()
            .WithMessage("This tree was never begun or opened*");
        using (var writing = environment.BeginWrite())
        {
            var doomed = writing.CreateTree("doomed");
            writing.DeleteTree("doomed");
            doomed.Invoking(one => one.DeleteRange(KeyRange.All)).Should().Throw<InvalidOperationException>().WithMessage("*'doomed'*deleted*");
            doomed.Invoking(one => one.Clear()).Should().Throw<InvalidOperationException>().WithMessage("*'doomed'*deleted*");
            var tree = writing.OpenTree("t");
            tree.DeleteRange(default).Should().Be(0);
            tree.DeleteRange(KeyRange.From("b"u8).Before("a"u8)).Should().Be(0);
            tree.DeleteRange(KeyRange.Before(default)).Should().Be(0);
            tree.DeleteRange(KeyRange.AfterPrefix([255])).Should().Be(0);
            tree.Count.Should().Be(Entries);
        }

        WriteTree ended;
        using (var writing = environment.BeginWrite())
            ended = writing.OpenTree("t");
        ended.Invoking(one => one.DeleteRange(KeyRange.All)).Should().Throw<ObjectDisposedException>();
        ended.Invoking(one => one.Clear()).Should().Throw<ObjectDisposedException>();
        Check(environment, Enumerable.Range(0, Entries));
    }

    private static void Delete(WriteTree tree, bool clears)
    {
        if (clears)
            tree.Clear();
        else
            tree.DeleteRange(KeyRange.From(FaultTestKit.Key(100)).Before(FaultTestKit.Key(2_900)));
    }

    // Values in the leaf, in overflow pages, and in extents of their own, of one chunk and of several.
    private static byte[] Value(int i) => FaultTestKit.Value(i, (i % 100) switch
    {
        0 => 20_000,
        1 when i % 500 == 1 => 150_000,
        2 or 3 => 5_000,
        _ => 50 + (i % 50),
    });

    private static void Fill(StorageEnvironment environment, int step = Entries)
    {
        for (var from = 0; from < Entries; from += step)
        {
            using var writing = environment.BeginWrite();
            var tree = writing.CreateTree("t");
            for (var i = from; i < from + step; i++)
                tree.Put(FaultTestKit.Key(i), Value(i));
            writing.Commit();
        }
    }

    private static void Check(StorageEnvironment environment, IEnumerable<int> expected)
    {
        using var reading = environment.BeginRead();
        Check(reading.OpenTree("t"), expected);
    }

    private static void Check(Tree tree, IEnumerable<int> expected)
    {
        using var cursor = tree.OpenCursor();
        var count = 0;
        foreach (var i in expected)
        {
            cursor.MoveNext().Should().BeTrue();
            cursor.Key.SequenceEqual(FaultTestKit.Key(i)).Should().BeTrue("entry {0} must be there", i);
            cursor.Value.SequenceEqual(Value(i)).Should().BeTrue("the value of entry {0} must be right", i);
            count++;
        }

        cursor.MoveNext().Should().BeFalse();
        tree.Count.Should().Be(count);
    }
}
