using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Transactions;

/// <summary>Operations of a group commit that throw are undone alone, although the puts of several operations wait to be applied together.</summary>
[Quick]
public sealed class GroupOperationSavepointTests
{
    private const string Name = FaultTestKit.TreeName;

    private static readonly StorageOptions Options = new() { BackgroundFlush = false, MaxGroupCommitDuration = TimeSpan.FromMinutes(1) };

    [Fact]
    public async Task An_operation_that_throws_leaves_the_puts_of_its_neighbours_as_they_were()
    {
        using var environment = Open();
        await Run(environment, 6, (writing, i) =>
        {
            var tree = writing.OpenTree(Name);
            tree.Put([1], [(byte)i]);
            tree.Put([(byte)(10 + i)], [(byte)i]);
            Throw(i is 2 or 5);
        });
        Contents(environment).Should().Equal("01=04", "0A=00", "0B=01", "0D=03", "0E=04");
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task An_operation_that_throws_after_a_read_or_another_change_is_undone_with_the_puts_before_it(bool deletes)
    {
        using var environment = Open();
        await Run(environment, 5, (writing, i) =>
        {
            var tree = writing.OpenTree(Name);
            tree.Put([1], [(byte)i]);
            tree.Put([(byte)(10 + i)], [(byte)i]);
            if (i != 3)
                return;
            if (deletes)
                tree.Delete([10]).Should().BeTrue();
            else
                tree.Get([12]).Should().Equal(2);
            tree.Put([2], [2]);
            Throw(true);
        });
        Contents(environment).Should().Equal("01=04", "0A=00", "0B=01", "0C=02", "0E=04");
    }

    [Fact]
    public async Task Puts_into_more_trees_than_there_are_buffers_are_undone_with_their_operation()
    {
        using var environment = Open();
        using (var writing = environment.BeginWrite())
        {
            for (var i = 0; i < 40; i++)
                writing.CreateTree($"{i}");
            writing.Commit();
        }

        await Run(environment, 8, (writing, i) =>
        {
            for (var t = 0; t < 40; t++)
                writing.OpenTree($"{t}").Put([(byte)(t % 3)], [(byte)i]);
            Throw(i % 2 == 1);
        });
        using var reading = environment.BeginRead();
        for (var t = 0; t < 40; t++)
        {
            var tree = reading.OpenTree($"{t}");
            tree.Count.Should().Be(1);
            tree.Get([(byte)(t % 3)]).Should().Equal(6);
        }
    }

    [Fact]
    public async Task Operations_whose_waiting_puts_exceed_the_limit_together_all_succeed()
    {
        using var environment = Open(new StorageOptions { BackgroundFlush = false, MaxTransactionBytes = 1 << 20 });
        await Run(environment, 2_000, (writing, i) => writing.OpenTree(Name).Put(FaultTestKit.Key(i * 7919 % 2_000), new byte[1_000]));
        using var reading = environment.BeginRead();
        reading.OpenTree(Name).Count.Should().Be(2_000);
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public async Task Puts_for_which_there_is_no_room_are_not_lost_when_the_next_operation_catches_that_and_continues()
    {
        const int Trees = 16;
        const int Puts = 110;
        using var disk = new SimulatedDisk();
        var options = new StorageOptions(Options) { MaxGrowthBytes = 1 << 20, MaxGroupCommitBytes = 64 << 20 };
        using var environment = StorageEnvironment.Open(disk, options);
        using (var writing = environment.BeginWrite())
        {
            for (var i = 0; i < Trees; i++)
                writing.CreateTree($"{i}").Put([255], []);
            writing.Commit();
        }

        var refused = 0;
        await Run(environment, 3, (writing, i) =>
        {
            // The first put into a tree is made at once. Of others, 100 KiB can wait for each tree, if they do not append.
            for (var put = i == 0 ? Trees : Trees * Puts; i < 2 && put > 0; put--)
                writing.OpenTree($"{put % Trees}").Put(FaultTestKit.Key(put + i * Trees), new byte[900]);
            if (i < 2)
                return;
            var tree = writing.OpenTree("0");
            // Each call applies the puts of the other operations. The disk is full only during the first one, which loses the puts of one tree.
            disk.SpaceLimit = refused == 0 ? disk.UsedBytes : long.MaxValue;
            for (var attempt = 0; attempt < 3; attempt++)
            {
                try
                {
                    tree.Get([1]);
                }
                catch (Exception e) when (e is StorageFullException or InvalidOperationException)
                {
                    refused++;
                    disk.SpaceLimit = long.MaxValue;
                }
            }

            tree.Put([1], [1]);
        });
        using var reading = environment.BeginRead();
        reading.OpenTree("0").Count.Should().Be(Puts + 3);
        for (var i = 1; i < Trees; i++)
            reading.OpenTree($"{i}").Count.Should().Be(Puts + 2);
        refused.Should().Be(3, "a broken transaction stays broken");
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public async Task A_batch_ends_at_its_limit_although_its_puts_wait()
    {
        using var environment = Open(new StorageOptions { BackgroundFlush = false, MaxGroupCommitBytes = 64 << 10 });
        var before = environment.GetStatistics().CommittedTransactions;
        await Run(environment, 100, (writing, i) => writing.OpenTree(Name).Put(FaultTestKit.Key(i), new byte[1_000]));
        (environment.GetStatistics().CommittedTransactions - before).Should().BeGreaterThan(1);
    }

    [Fact]
    public async Task Random_operations_have_the_effect_of_those_that_do_not_throw_in_their_order()
    {
        for (var seed = 0; seed < SuiteShare.Rounds(150); seed++)
        {
            using var environment = Open();
            var model = new SortedDictionary<byte, byte>();
            var next = 0;
            await Run(environment, 40, (writing, i) =>
            {
                i.Should().Be(next++, "operations run in the order of their calls");
                var attempt = new SortedDictionary<byte, byte>(model);
                Change(writing, new Random(seed * 1_000 + i), attempt);
                model = attempt;
            });
            Contents(environment).Should().Equal(model.Select(entry => $"{entry.Key:X2}={entry.Value:X2}"), $"seed {seed}");
        }
    }

    private static void Change(WriteTransaction writing, Random random, SortedDictionary<byte, byte> model)
    {
        var tree = writing.OpenTree(Name);
        for (var actions = random.Next(1, 5); actions > 0; actions--)
        {
            var key = (byte)random.Next(30);
            switch (random.Next(40))
            {
                case 0:
                    tree.Delete([key]).Should().Be(model.Remove(key));
                    break;
                case 1:
                    tree.Get([key]).Should().Equal(model.TryGetValue(key, out var value) ? [value] : null);
                    break;
                case 2:
                    tree.Clear();
                    model.Clear();
                    break;
                case 3:
                    tree.DeleteRange(KeyRange.From([key]));
                    foreach (var later in model.Keys.Where(other => other >= key).ToArray())
                        model.Remove(later);
                    break;
                case 4:
                    using (var savepoint = writing.CreateSavepoint())
                    {
                        tree.Put([key], [99]);
                        savepoint.Rollback();
                    }

                    break;
                case 5:
                    writing.DeleteTree(Name).Should().BeTrue();
                    tree = writing.CreateTree(Name);
                    model.Clear();
                    break;
                case 6:
                    writing.RenameTree(Name, "other").Should().BeTrue();
                    writing.RenameTree("other", Name).Should().BeTrue();
                    tree = writing.OpenTree(Name);
                    break;
                case 7:
                    tree.Insert([key], [7]).Should().Be(!model.ContainsKey(key));
                    model[key] = model.GetValueOrDefault(key, (byte)7);
                    break;
                default:
                    var put = (byte)random.Next(256);
                    tree.Put([key], [put]);
                    model[key] = put;
                    break;
            }
        }

        Throw(random.Next(3) == 0);
    }

    private static void Throw(bool throws)
    {
        if (throws)
            throw new InvalidDataException("Thrown by the operation.");
    }

    private static async Task Run(StorageEnvironment environment, int count, Action<WriteTransaction, int> operation)
    {
        foreach (var task in GroupCommitTests.QueueTogether(environment, count, operation))
        {
            try
            {
                await task.WaitAsync(TestWait.Limit, TestContext.Current.CancellationToken);
            }
            catch (InvalidDataException)
            {
            }
        }
    }

    private static StorageEnvironment Open(StorageOptions? options = null)
    {
        var environment = StorageEnvironment.OpenInMemory(options ?? Options);
        using var writing = environment.BeginWrite();
        writing.CreateTree(Name);
        writing.Commit();
        return environment;
    }

    private static List<string> Contents(StorageEnvironment environment)
    {
        environment.Verify().Problems.Should().BeEmpty();
        using var reading = environment.BeginRead();
        var entries = new List<string>();
        foreach (var entry in reading.OpenTree(Name).GetEntries())
            entries.Add($"{Convert.ToHexString(entry.Key)}={Convert.ToHexString(entry.Value)}");
        return entries;
    }
}
