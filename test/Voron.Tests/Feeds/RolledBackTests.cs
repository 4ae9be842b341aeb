using Voron.Feeds;

namespace Voron.Tests.Feeds;

/// <summary>A feed has what was committed, and nothing else.</summary>
public sealed class RolledBackTests : IDisposable
{
    private readonly TestDirectory _directory = new();
    private readonly FeedClock _clock = new();
    private readonly StorageEnvironment _environment;

    public RolledBackTests()
    {
        var options = FeedKit.Options();
        options.CommitClock = _clock;
        options.MaxGroupCommitDuration = TimeSpan.FromMinutes(1);
        _environment = StorageEnvironment.Open(_directory.Path, options);
        _environment.Record();
    }

    public void Dispose()
    {
        _environment.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public void What_a_savepoint_takes_back_is_not_in_the_feed()
    {
        _environment.Recorded(writing =>
        {
            var tree = writing.OpenTree(FeedKit.TreeName);
            tree.Put([1], [1]);
            using (var savepoint = writing.CreateSavepoint())
            {
                tree.Put([2], [2]);
                tree.Delete([1]);
                tree.Clear();
                savepoint.Rollback();
            }

            tree = writing.OpenTree(FeedKit.TreeName);
            tree.Put([3], [3]);
            using (var released = writing.CreateSavepoint())
            {
                tree.Put([4], [4]);
                released.Release();
            }

            using (var nested = writing.BeginNested())
                tree.Put([5], [5]);
            using (var nested = writing.BeginNested())
            {
                writing.OpenTree(FeedKit.TreeName).Put([6], [6]);
                nested.Commit();
            }
        }).Should().Equal("Put 01=01", "Put 03=03", "Put 04=04", "Put 06=06");
        _environment.MustReplay();
    }

    [Fact]
    public void A_transaction_that_is_rolled_back_records_nothing()
    {
        var before = _environment.Newest();
        using (var writing = _environment.BeginWrite())
        {
            writing.OpenTree(FeedKit.TreeName).Put([1], [1]);
            writing.CreateFeed("other");
            writing.CreateTree("second");
            writing.RecordTree("other", "second");
            writing.OpenTree("second").Put([1], [1]);
        }

        _environment.Newest().Should().Be(before);
        _environment.Changes(before).Should().BeEmpty();
        using (var reading = _environment.BeginRead())
            reading.GetFeeds().Should().ContainSingle().Which.Sources.Should().ContainSingle();
        _environment.Write(writing => writing.CreateTree("second").Put([1], [1]));
        _environment.Changes(before).Should().BeEmpty();
        _environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public async Task An_operation_that_fails_takes_its_changes_along_and_no_others()
    {
        var before = _environment.Newest();
        var tasks = new List<Task>();
        using (_environment.BeginWrite())
        {
            for (byte i = 0; i < 20; i++)
            {
                var number = i;
                tasks.Add(_environment.WriteAsync(
                    writing =>
                    {
                        var tree = writing.OpenTree(FeedKit.TreeName);
                        tree.Put([number], [number]);
                        if (number % 3 == 1)
                            tree.DeleteRange(KeyRange.Before([number]));
                        if (number % 3 == 2)
                            tree.Increment([0xFF]);
                        if (number % 4 == 1)
                            throw new FormatException();
                    },
                    FeedKit.Token).AsTask());
            }
        }

        await Task.WhenAll(tasks.Select(task => task.ContinueWith(_ => { }, TaskScheduler.Default)));
        tasks.Select(task => task.IsFaulted).Should().Equal(Enumerable.Range(0, 20).Select(i => i % 4 == 1));
        _environment.MustReplay();
        var puts = _environment.Changes(before).Where(change => change[..4] == "Put " && change[4..6] != "FF");
        puts.Should().Equal(Enumerable.Range(0, 20).Where(i => i % 4 != 1).Select(i => $"Put {i:X2}={i:X2}"));
    }

    [Fact]
    public async Task Random_operations_of_group_commits_replay()
    {
        var random = new Random(TestSeed.Choose());
        _environment.Record(feed: "other", tree: "second");
        for (var round = 0; round < 20; round++)
        {
            var tasks = new List<Task>();
            using (_environment.BeginWrite())
            {
                for (var i = 0; i < 30; i++)
                {
                    var seed = random.Next();
                    tasks.Add(_environment.WriteAsync(writing => Change(writing, new Random(seed)), FeedKit.Token).AsTask());
                }
            }

            await Task.WhenAll(tasks.Select(task => task.ContinueWith(_ => { }, TaskScheduler.Default)));
            tasks.Should().NotContain(task => task.IsFaulted && !(task.Exception!.InnerException is FormatException));
            _environment.MustReplay();
        }

        _environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void Feeds_and_sources_that_a_savepoint_takes_back_are_as_they_were()
    {
        _environment.Recorded(writing =>
        {
            writing.OpenTree(FeedKit.TreeName).Put([1], [1]);
            using (var savepoint = writing.CreateSavepoint())
            {
                writing.DeleteFeed(FeedKit.Feed).Should().BeTrue();
                writing.OpenTree(FeedKit.TreeName).Put([2], [2]);
                writing.CreateFeed(FeedKit.Feed);
                writing.RecordTree(FeedKit.Feed, FeedKit.TreeName, RecordedContent.KeysOnly);
                writing.OpenTree(FeedKit.TreeName).Put([3], [3]);
                savepoint.Rollback();
            }

            writing.OpenTree(FeedKit.TreeName).Put([4], [4]);
            using (var savepoint = writing.CreateSavepoint())
            {
                writing.CreateFeed(FeedKit.Feed, new FeedOptions { MaxValueBytes = 0 });
                writing.OpenTree(FeedKit.TreeName).Put([5], [5]);
                savepoint.Rollback();
            }

            writing.OpenTree(FeedKit.TreeName).Put([6], [6]);
        }).Should().Equal("Put 01=01", "Put 04=04", "Put 06=06");
        _environment.MustReplay();
        _environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void The_time_of_a_transaction_is_there_although_its_first_changes_are_not()
    {
        _environment.Record(feed: "other", tree: "second");
        _clock.Now += TimeSpan.FromHours(1);
        _environment.Write(writing =>
        {
            using (var savepoint = writing.CreateSavepoint())
            {
                writing.OpenTree(FeedKit.TreeName).Put([1], [1]);
                writing.OpenTree("second").Put([1], [1]);
                savepoint.Rollback();
            }

            writing.OpenTree(FeedKit.TreeName).Put([2], [2]);
            using (var savepoint = writing.CreateSavepoint())
            {
                writing.OpenTree("second").Put([3], [3]);
                savepoint.Rollback();
            }

            writing.OpenTree("second").Put([4], [4]);
            writing.OpenTree(FeedKit.TreeName).Put([5], [5]);
        });
        foreach (var (feed, expected) in new[] { (FeedKit.Feed, "Put 02=02 Put 05=05"), ("other", "tree 'second': Put 04=04") })
        {
            var batch = new ChangeBatch();
            using var reading = _environment.BeginRead();
            reading.ReadChanges(feed, ChangePosition.Start, batch).Should().BeTrue();
            var texts = new List<string>();
            foreach (var change in batch)
            {
                if (change.Operation != ChangeOperation.Put)
                    continue;
                texts.Add(FeedKit.Describe(change));
                change.Time.Should().Be(_clock.Now.UtcDateTime);
                change.Time!.Value.Kind.Should().Be(DateTimeKind.Utc);
                change.TransactionId.Should().Be(reading.TransactionId);
            }

            string.Join(' ', texts).Should().Be(expected);
        }
    }

    [Fact]
    public void Ordinals_rise_within_a_transaction_and_begin_again_with_the_next()
    {
        for (var round = 0; round < 2; round++)
        {
            _environment.Write(writing =>
            {
                for (byte i = 0; i < 5; i++)
                {
                    using var savepoint = writing.CreateSavepoint();
                    writing.OpenTree(FeedKit.TreeName).Put([i], [i]);
                    if (i % 2 == 1)
                        savepoint.Rollback();
                }
            });
        }

        var batch = new ChangeBatch();
        using var reading = _environment.BeginRead();
        reading.ReadChanges(FeedKit.Feed, ChangePosition.Start, batch);
        var positions = new List<ChangePosition>();
        foreach (var change in batch)
            positions.Add(change.Position);
        positions.Should().HaveCount(7).And.BeInAscendingOrder();
        positions[1].Ordinal.Should().Be(positions[4].Ordinal);
        positions[^1].Should().Be(batch.Position).And.Be(reading.GetNewestPosition(FeedKit.Feed));
    }

    [Fact]
    public void Changes_are_there_after_the_environment_is_opened_again()
    {
        _environment.Put(1, 1);
        var before = _environment.Changes();
        _environment.Dispose();
        using var again = StorageEnvironment.Open(_directory.Path, FeedKit.Options());
        again.Changes().Should().Equal(before);
        again.Recorded(writing => writing.OpenTree(FeedKit.TreeName).Put([2], [2])).Should().Equal("Put 02=02");
    }

    private static void Change(WriteTransaction writing, Random random)
    {
        if (random.Next(10) == 0)
        {
            writing.RenameTree(FeedKit.TreeName, "renamed");
            writing.OpenTree("renamed").Put([1], [(byte)random.Next()]);
            writing.RenameTree("renamed", FeedKit.TreeName);
        }

        for (var changes = random.Next(5); changes > 0; changes--)
        {
            var tree = writing.OpenTree(random.Next(3) == 0 ? "second" : FeedKit.TreeName);
            byte[] key = [(byte)random.Next(30)];
            switch (random.Next(5))
            {
                case 0:
                    tree.Delete(key);
                    break;
                case 1:
                    tree.DeleteRange(KeyRange.From(key).Before([(byte)(key[0] + 3)]));
                    break;
                case 2:
                    tree.Increment([0xFF, .. key]);
                    break;
                default:
                    tree.Put(key, new byte[random.Next(100)]);
                    break;
            }
        }

        if (random.Next(4) == 0)
            throw new FormatException();
    }
}
