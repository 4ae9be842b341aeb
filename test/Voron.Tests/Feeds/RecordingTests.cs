using System.IO.Pipelines;
using Voron.Feeds;

namespace Voron.Tests.Feeds;

/// <summary>Each way to change a tree records the change that it makes, and nothing if it makes none.</summary>
public sealed class RecordingTests : IDisposable
{
    private const int Large = 20_000;

    private readonly TestDirectory _directory = new();
    private readonly StorageEnvironment _environment;

    public RecordingTests()
    {
        _environment = StorageEnvironment.Open(_directory.Path, FeedKit.Options());
        _environment.Record();
    }

    public void Dispose()
    {
        _environment.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public void Puts_are_recorded_also_those_that_wait()
    {
        Recorded(tree => tree.Put([1], [2, 3])).Should().Equal("Put 01=0203");
        Recorded(tree => tree.Put([1], [])).Should().Equal("Put 01=");
        Recorded(tree =>
        {
            for (var i = 0; i < 500; i++)
                tree.Put([(byte)(i % 100), 1], [(byte)i]);
        }).Should().Equal(Enumerable.Range(0, 500).Select(i => $"Put {i % 100:X2}01={(byte)i:X2}"));
        Recorded(tree => tree.Put([2], new byte[3_000])).Should().Equal("Put 02=[3000]");
        Recorded(tree => tree.Put([3], new byte[Large])).Should().Equal($"Put 03=[{Large}]");
    }

    [Fact]
    public void A_value_that_is_too_long_is_left_out()
    {
        Recorded(tree =>
        {
            tree.Put([1], new byte[64 << 10]);
            tree.Put([2], new byte[(64 << 10) + 1]);
            tree.Insert([3], new byte[(64 << 10) + 1]);
        }).Should().Equal("Put 01=[65536]", "Put 02=?", "Put 03=?");
        _environment.Write(writing => writing.CreateFeed(FeedKit.Feed, new FeedOptions { MaxValueBytes = 2 }));
        Recorded(tree =>
        {
            tree.Put([1], [1, 2]);
            tree.Put([2], [1, 2, 3]);
        }).Should().Equal("Put 01=0102", "Put 02=?");
        _environment.Write(writing => writing.CreateFeed(FeedKit.Feed, new FeedOptions { MaxValueBytes = 0 }));
        Recorded(tree =>
        {
            tree.Put([1], []);
            tree.Put([2], [1]);
        }).Should().Equal("Put 01=", "Put 02=?");
    }

    [Fact]
    public void Inserts_are_recorded_unless_they_are_refused()
    {
        Recorded(tree => tree.Insert([1], [1]).Should().BeTrue()).Should().Equal("Put 01=01");
        Recorded(tree => tree.Insert([1], [2]).Should().BeFalse()).Should().BeEmpty();
        Recorded(tree =>
        {
            tree.Insert([1], [2]).Should().BeFalse();
            tree.Put([2], [2]);
            tree.Insert([2], [3]).Should().BeFalse();
            tree.Insert([3], new byte[Large]).Should().BeTrue();
            tree.Insert([3], new byte[Large]).Should().BeFalse();
        }).Should().Equal("Put 02=02", $"Put 03=[{Large}]");
    }

    [Fact]
    public void Exchanges_are_recorded_unless_they_compare_with_another_value()
    {
        Recorded(tree => tree.Exchange([1], [1]).Should().BeNull()).Should().Equal("Put 01=01");
        Recorded(tree => tree.Exchange([1], [2]).Should().Equal(1)).Should().Equal("Put 01=02");
        Recorded(tree =>
        {
            tree.CompareExchange([1], [3], [1]).Should().BeFalse();
            tree.CompareExchange([1], [3], [2]).Should().BeTrue();
            tree.CompareExchange([2], [4], (byte[]?)null).Should().BeTrue();
            tree.CompareExchange([2], [5], (byte[]?)null).Should().BeFalse();
        }).Should().Equal("Put 01=03", "Put 02=04");
    }

    [Fact]
    public void Removals_are_recorded_if_there_was_an_entry()
    {
        Recorded(tree =>
        {
            tree.Put([1], [1]);
            tree.Put([2], [2]);
            tree.Put([3], [3]);
            tree.Delete([1]).Should().BeTrue();
            tree.Delete([1]).Should().BeFalse();
            tree.Remove([2]).Should().Equal(2);
            tree.Remove([2]).Should().BeNull();
            tree.DeleteIf([3], [4]).Should().BeFalse();
            tree.DeleteIf([3], [3]).Should().BeTrue();
            tree.DeleteIf([3], [3]).Should().BeFalse();
        }).Should().Equal("Put 01=01", "Put 02=02", "Put 03=03", "Delete 01", "Delete 02", "Delete 03");
        Recorded(tree => tree.Delete([9])).Should().BeEmpty();
        Recorded(tree => tree.Delete([])).Should().BeEmpty();
    }

    [Fact]
    public void A_counter_is_recorded_as_its_sum()
    {
        Recorded(tree =>
        {
            tree.Add([1], 5).Should().Be(5);
            tree.Increment([1]);
            tree.Increment([1], -7);
            tree.Increment([2], 3);
            tree.Add([1], 2).Should().Be(1);
        }).Should().Equal(
            "Put 01=0500000000000000", "Put 01=0600000000000000", "Put 01=FFFFFFFFFFFFFFFF", "Put 02=0300000000000000", "Put 01=0100000000000000");
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_sum_that_fails_records_nothing_and_ends_a_transaction_as_without_a_feed(bool increments)
    {
        Recorded(tree =>
        {
            tree.Put([1], BitConverter.GetBytes(long.MaxValue));
            tree.Put([2], [1, 2, 3]);
        });
        var before = _environment.Newest();
        foreach (var name in new[] { "unrecorded", FeedKit.TreeName })
        {
            using var writing = _environment.BeginWrite();
            var tree = writing.CreateTree(name);
            tree.Put([1], BitConverter.GetBytes(long.MaxValue));
            if (increments)
            {
                var fail = () =>
                {
                    writing.OpenTree(name).Increment([1]);
                    _ = writing.OpenTree(name).Get([1]);
                };
                fail.Should().Throw<OverflowException>();
                FluentActions.Invoking(writing.Commit).Should().Throw<InvalidOperationException>();
            }
            else
            {
                FluentActions.Invoking(() => writing.OpenTree(name).Add([1], 1)).Should().Throw<OverflowException>();
                tree.Put([2], [1, 2, 3]);
                FluentActions.Invoking(() => writing.OpenTree(name).Add([2], 1)).Should().Throw<InvalidOperationException>();
                writing.Commit();
            }
        }

        _environment.Changes(before).Should().Equal(increments ? [] : ["Put 01=FFFFFFFFFFFFFF7F", "Put 02=010203"]);
        _environment.MustReplay();
    }

    [Fact]
    public void A_range_is_recorded_by_its_bounds_if_it_had_entries()
    {
        Recorded(tree =>
        {
            for (var i = 0; i < 256; i++)
            {
                tree.Put([(byte)i], [1]);
                tree.Put([(byte)i, 0xFF], [1]);
            }
        });
        Recorded(tree => tree.DeleteRange(KeyRange.From([0x10]).Before([0x18])).Should().Be(16)).Should()
            .Equal("DeleteRange keys from 0x10 before 0x18");
        Recorded(tree => tree.DeleteRange(KeyRange.From([0x10]).Before([0x18])).Should().Be(0)).Should().BeEmpty();
        Recorded(tree => tree.DeleteRange(KeyRange.From([0x30]).Before([0x30])).Should().Be(0)).Should().BeEmpty();
        Recorded(tree => tree.DeleteRange(KeyRange.After([0x30]).Through([0x31])).Should().Be(2)).Should().HaveCount(1);
        Recorded(tree => tree.DeleteRange(KeyRange.Prefix([0x40])).Should().Be(2)).Should().HaveCount(1);
        Recorded(tree => tree.DeleteRange(KeyRange.Prefix([0x50, 0xFF])).Should().Be(1)).Should().HaveCount(1);
        Recorded(tree => tree.DeleteRange(KeyRange.Prefix([0xFF])).Should().Be(2)).Should().Equal("DeleteRange keys from 0xFF");
        Recorded(tree => tree.DeleteRange(KeyRange.Before([0x08])).Should().Be(16)).Should().Equal("DeleteRange keys before 0x08");
        Recorded(tree => tree.DeleteRange(KeyRange.All).Should().BePositive()).Should().Equal("DeleteRange all keys");
        Recorded(tree => tree.DeleteRange(KeyRange.All).Should().Be(0)).Should().BeEmpty();
    }

    [Fact]
    public void A_range_has_the_longest_keys_as_its_bounds()
    {
        var key = Enumerable.Repeat((byte)0xFE, _environment.MaxKeyLength).ToArray();
        Recorded(tree =>
        {
            tree.Put(key, [1]);
            tree.DeleteRange(KeyRange.After(key)).Should().Be(0);
            tree.DeleteRange(KeyRange.From(key).Through(key)).Should().Be(1);
            tree.Put(key, [1]);
            tree.DeleteRange(KeyRange.Prefix(key)).Should().Be(1);
            tree.Put(key, [1]);
            tree.DeleteRange(KeyRange.Prefix(new byte[5_000])).Should().Be(0);
            tree.DeleteRange(KeyRange.From(new byte[5_000])).Should().Be(1);
        }).Should().HaveCount(6);
    }

    [Fact]
    public void A_cleared_tree_is_recorded_as_a_range()
    {
        Recorded(tree => tree.Clear()).Should().BeEmpty();
        Recorded(tree =>
        {
            tree.Put([1], [1]);
            tree.Put([2], [2]);
            tree.Clear();
            tree.Clear();
            tree.Put([3], [3]);
        }).Should().Equal("Put 01=01", "Put 02=02", "DeleteRange all keys", "Put 03=03");
        Recorded(tree => tree.Clear()).Should().Equal("DeleteRange all keys");
    }

    [Fact]
    public void A_value_can_be_reserved_in_a_tree_that_is_recorded_without_values()
    {
        Recorded(tree =>
        {
            tree.Put([1], [1]);
            tree.Invoking(t => t.Reserve([1], 3)).Should().Throw<InvalidOperationException>().WithMessage("*reserved*'items'*");
            tree.Invoking(t => t.Reserve([2], 3)).Should().Throw<InvalidOperationException>();
            tree.Put([2], [2]);
        }).Should().Equal("Put 01=01", "Put 02=02");
        _environment.Record(RecordedContent.KeysOnly);
        Recorded(tree =>
        {
            tree.Reserve([1], 3).Fill(7);
            tree.Invoking(t => t.Reserve([2], -1)).Should().Throw<ArgumentOutOfRangeException>();
            tree.Put([2], [3]);
            tree.Delete([2]);
            tree.Increment([4]);
        }, replays: false).Should().Equal("Put 01", "Put 02", "Delete 02", "Put 04");
        using var reading = _environment.BeginRead();
        reading.OpenTree(FeedKit.TreeName).Get([1]).Should().Equal(7, 7, 7);
    }

    [Theory]
    [InlineData(10, "Put 01=0000000000")]
    [InlineData(3_000, "Put 01=[3000]")]
    [InlineData(Large, "Put 01=?")]
    public async Task Values_that_are_staged_written_or_streamed_are_left_out_if_they_are_large(int length, string expected)
    {
        if (length == 10)
            expected += "0000000000";
        using (var staged = await _environment.StageAsync(new MemoryStream(new byte[length]), FeedKit.Token))
            Recorded(tree => tree.Put([1], staged)).Should().Equal(expected);
        Recorded(tree =>
        {
            using var writer = tree.OpenWriter([1]);
            writer.Write(new byte[length]);
            writer.Complete();
        }).Should().HaveCount(1);
        Recorded(tree =>
        {
            using var writer = tree.OpenWriter([1]);
            writer.Write(new byte[length]);
        }).Should().BeEmpty();
        var before = _environment.Newest();
        using (var writing = _environment.BeginWrite())
        {
            await writing.OpenTree(FeedKit.TreeName).PutAsync(new byte[] { 1 }, PipeReader.Create(new MemoryStream(new byte[length])), FeedKit.Token);
            await writing.OpenTree(FeedKit.TreeName).PutAsync(new byte[] { 1 }, new MemoryStream(new byte[length]), FeedKit.Token);
            writing.Commit();
        }

        _environment.Changes(before).Should().HaveCount(2).And.OnlyContain(change => change == $"Put 01=[{length}]" || change == expected);
        _environment.MustReplay();
    }

    [Fact]
    public void A_value_of_many_chunks_is_left_out()
    {
        Recorded(tree =>
        {
            using var writer = tree.OpenWriter([1]);
            for (var i = 0; i < 40; i++)
                writer.Write(new byte[100_000]);
            writer.Complete();
        }).Should().Equal("Put 01=?");
    }

    [Fact]
    public void A_cursor_records_what_it_deletes()
    {
        Recorded(tree =>
        {
            for (byte i = 1; i <= 5; i++)
                tree.Put([i], [i]);
        });
        Recorded(tree =>
        {
            using var cursor = tree.OpenCursor();
            cursor.Seek([2]);
            cursor.Delete().Should().BeTrue();
            cursor.Delete().Should().BeFalse();
            cursor.Seek([4]);
            tree.Delete([4]);
            cursor.Delete().Should().BeFalse();
            cursor.Seek([9]);
            cursor.Invoking(c => c.Delete()).Should().Throw<InvalidOperationException>();
            cursor.SeekFirst();
            cursor.Delete().Should().BeTrue();
        }).Should().Equal("Delete 02", "Delete 04", "Delete 01");
    }

    [Fact]
    public void Keys_and_values_may_be_spans_of_the_trees_pages()
    {
        Recorded(tree =>
        {
            for (byte i = 0; i < 200; i++)
                tree.Put([i], [i, i, i]);
        });
        Recorded(tree =>
        {
            tree.TryGetFirst(out var first);
            tree.Put([1], first.Value);
            tree.TryGetEntry([7], out var seventh);
            tree.Put(seventh.Value, seventh.Key);
            tree.TryGetEntry([9], out var ninth);
            tree.Delete(ninth.Key).Should().BeTrue();
            tree.TryGetEntry([11], out var eleventh);
            tree.Insert(eleventh.Value, eleventh.Key).Should().BeTrue();
            tree.TryGetEntry([12], out var twelfth);
            tree.Exchange(twelfth.Key, twelfth.Key).Should().Equal(12, 12, 12);
            tree.TryGetEntry([20], out var from);
            tree.DeleteRange(KeyRange.From(from.Key).Through(from.Key)).Should().Be(1);
        }).Should().Equal(
            "Put 01=000000", "Put 070707=07", "Delete 09", "Put 0B0B0B=0B", "Put 0C=0C", "DeleteRange keys from 0x14 before 0x1400");
    }

    [Fact]
    public void Random_changes_of_random_transactions_replay()
    {
        var random = new Random(TestSeed.Choose());
        for (var round = 0; round < SuiteShare.Rounds(60); round++)
        {
            using var writing = _environment.BeginWrite();
            for (var i = random.Next(60); i >= 0; i--)
            {
                var savepoint = writing.CreateSavepoint();
                for (var changes = random.Next(6); changes > 0; changes--)
                    Change(writing.OpenTree(FeedKit.TreeName), random);
                if (random.Next(3) == 0)
                    savepoint.Rollback();
                savepoint.Dispose();
            }

            if (random.Next(4) != 0)
                writing.Commit();
            writing.Dispose();
            _environment.MustReplay();
        }

        _environment.Verify().Problems.Should().BeEmpty();
    }

    private static void Change(WriteTree tree, Random random)
    {
        byte[] key = [(byte)random.Next(50), (byte)random.Next(3)];
        switch (random.Next(9))
        {
            case < 4:
                tree.Put(key, new byte[random.Next(300)]);
                break;
            case 4:
                tree.Insert(key, [1]);
                break;
            case 5:
                tree.Delete(key);
                break;
            case 6:
                tree.DeleteRange(KeyRange.Prefix(key.AsSpan(0, 1)));
                break;
            case 7:
                tree.Increment([0xFF, (byte)random.Next(3)], random.Next());
                break;
            default:
                if (random.Next(30) == 0)
                    tree.Clear();
                else
                    tree.Exchange(key, [2]);
                break;
        }
    }

    private List<string> Recorded(Action<WriteTree> change, bool replays = true)
    {
        var changes = _environment.Recorded(writing => change(writing.OpenTree(FeedKit.TreeName)));
        if (replays)
            _environment.MustReplay();
        return changes;
    }
}
