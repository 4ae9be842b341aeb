using Voron.IO;
using Voron.Journal;
using Voron.Simulation.Harness;
using Voron.Tests.Faults;

namespace Voron.Tests.Api;

/// <summary>
/// An environment in memory does everything that one on disk does, without its files, its background work, and its threads.
/// </summary>
[Quick]
public sealed class InMemoryTests
{
    private const int MiB = 1 << 20;

    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    [Fact]
    public void A_new_environment_has_no_thread_and_few_bytes()
    {
        using var environment = StorageEnvironment.OpenInMemory();
        environment.Internals.ThreadCount.Should().Be(0);
        FaultTestKit.Put(environment, 1, [1]);
        environment.Internals.ThreadCount.Should().Be(0);
        var statistics = environment.GetStatistics();
        statistics.DataFileBytes.Should().Be(64 << 10);
        statistics.TotalJournalBytes.Should().Be(64 << 10, "that is a length, without memory behind it");
        statistics.ScratchBytes.Should().BeLessThan(64 << 10);
        environment.Path.Should().Be("memory");
        environment.Options.PageSize.Should().Be(4096);
        FaultTestKit.Get(environment, 1).Should().Equal(1);
    }

    /// <summary>Each has its own content, and ends without a trace; most tests of an application use one.</summary>
    [Fact]
    public void Many_environments_are_open_at_once_without_any_thread()
    {
        var all = new List<StorageEnvironment>();
        try
        {
            for (var i = 0; i < 200; i++)
            {
                all.Add(StorageEnvironment.OpenInMemory());
                FaultTestKit.Put(all[i], 1, FaultTestKit.Value(i, 100));
            }

            all.Sum(environment => environment.Internals.ThreadCount).Should().Be(0);
            for (var i = 0; i < all.Count; i++)
                FaultTestKit.Get(all[i], 1).Should().Equal(FaultTestKit.Value(i, 100));
        }
        finally
        {
            all.ForEach(environment => environment.Dispose());
        }
    }

    [Fact]
    public async Task Commits_that_are_not_waited_for_need_no_thread_either()
    {
        using var environment = StorageEnvironment.OpenInMemory();
        var commits = new List<Task>();
        for (var i = 0; i < 100; i++)
        {
            using var writing = environment.BeginWrite();
            writing.CreateTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(i), [(byte)i]);
            commits.Add(writing.CommitAsync(Cancellation).AsTask());
        }

        environment.Internals.Engine.Journal!.HasThread.Should().BeFalse("each commit was written at once");
        environment.GetStatistics().CommittedTransactions.Should().Be(100);
        await Task.WhenAll(commits);

        // Several threads: some find that another one is writing, which writes theirs too.
        await Parallel.ForAsync(0, 2_000, Cancellation, async (i, cancellation) =>
        {
            if (i % 3 == 0)
            {
                await environment.WriteAsync(
                    writing => writing.CreateTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(100 + i), [(byte)i]), cancellation);
                return;
            }

            using var writing = await environment.BeginWriteAsync(cancellation);
            writing.CreateTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(100 + i), [(byte)i]);
            if (i % 3 == 1)
                await writing.CommitAsync(cancellation);
            else
                writing.Commit();
        });
        environment.Internals.Engine.Journal!.HasThread.Should().BeFalse();
        for (var i = 0; i < 2_000; i++)
            FaultTestKit.Get(environment, 100 + i).Should().Equal((byte)i);
        environment.Verify().Problems.Should().BeEmpty();
    }

    /// <summary>Much data moves from scratch memory to the data file, by a thread that ends again; a reader keeps its snapshot meanwhile.</summary>
    [Fact]
    public void A_flusher_bounds_the_memory_of_a_long_load_and_ends_after_it()
    {
        using var environment = StorageEnvironment.Open(new MemoryDisk(isDiscarded: JournalFile.IsName), new StorageOptions
        {
            FlushThresholdBytes = MiB,
            JournalLimitBytes = long.MaxValue,
            FlushInterval = TimeSpan.MaxValue,
            ThreadIdleTime = TimeSpan.FromMilliseconds(50),
            JournalCompression = JournalCompression.Never,
        });
        FaultTestKit.Put(environment, 0, [7]);
        environment.Internals.ThreadCount.Should().Be(0);
        var random = new Random(1);
        for (var i = 0; i < 400 || environment.GetStatistics().Flushes < 3; i++)
        {
            using var writing = environment.BeginWrite();
            var tree = writing.CreateTree(FaultTestKit.TreeName);
            for (var j = 0; j < 50; j++)
                tree.Put(FaultTestKit.Key(1 + random.Next(2_000)), FaultTestKit.Value(i, 500));
            writing.Commit();
            if (i > 20_000)
                Assert.Fail("The flusher does nothing.");
        }

        TestWait.Until(() => environment.Internals.ThreadCount == 0, "the thread has nothing left to do");
        using (var reading = environment.BeginRead())
        {
            var before = reading.OpenTree(FaultTestKit.TreeName).Count;
            for (var i = 0; i < 200; i++)
                FaultTestKit.Put(environment, 5_000 + i, FaultTestKit.Value(i, 10_000));
            reading.OpenTree(FaultTestKit.TreeName).Count.Should().Be(before);
        }

        environment.GetStatistics().JournalSnapshots.Should().Be(0, "no journal has to be kept short");
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void A_limit_refuses_what_does_not_fit_and_space_can_be_used_again()
    {
        using var environment = StorageEnvironment.OpenInMemory(new InMemoryOptions { MaxDataBytes = 4 * MiB });
        var stored = 0;
        var fill = () =>
        {
            for (; stored < 10_000; stored++)
                FaultTestKit.Put(environment, stored, FaultTestKit.Value(stored, stored % 10 == 9 ? 40_000 : 3_000));
        };
        fill.Should().Throw<StorageFullException>();
        stored.Should().BeInRange(300, 900);
        environment.GetStatistics().DataFileBytes.Should().BeInRange(3 * MiB, 4 * MiB);
        FaultTestKit.Get(environment, stored).Should().BeNull("its transaction was not committed");
        for (var i = 0; i < stored; i++)
            FaultTestKit.Get(environment, i).Should().Equal(FaultTestKit.Value(i, i % 10 == 9 ? 40_000 : 3_000));
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.OpenTree(FaultTestKit.TreeName);
            for (var i = 0; i < stored; i++)
                tree.Delete(FaultTestKit.Key(i)).Should().BeTrue();
            writing.Commit();
        }

        environment.Flush();
        var again = stored / 2;
        stored = 0;
        for (; stored < again; stored++)
            FaultTestKit.Put(environment, stored, FaultTestKit.Value(stored + 1, 3_000));
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void Declared_trees_are_there_for_the_first_reader()
    {
        var options = new InMemoryOptions { Trees = { "users", "orders", "users" } };
        using var environment = StorageEnvironment.OpenInMemory(options);
        options.Trees.Add("late");
        using (var reading = environment.BeginRead())
        {
            reading.OpenTree("users").Count.Should().Be(0);
            reading.TryOpenTree("orders", out _).Should().BeTrue();
            reading.TryOpenTree("late", out _).Should().BeFalse("the options were read when the environment was opened");
        }
    }

    [Fact]
    public void Options_reach_the_engine()
    {
        var commits = new List<long>();
        using var loggers = new OneLoggerFactory(new ListLogger());
        using var environment = StorageEnvironment.OpenInMemory(new InMemoryOptions
        {
            Name = "fixture",
            PageSize = 16384,
            MaxTransactionBytes = MiB,
            MaxGroupCommitBytes = MiB,
            MaxQueuedOperations = 5,
            KeyHeadCacheBytes = 0,
            LargeValueBytes = 32 << 10,
            CaptureTransactionStacks = true,
            LoggerFactory = loggers,
            CommitObserver = report => commits.Add(report.TransactionId),
        });
        var actual = environment.Options;
        (actual.PageSize, actual.MaxTransactionBytes, actual.MaxGroupCommitBytes, actual.MaxQueuedOperations, actual.KeyHeadCacheBytes)
            .Should().Be((16384, MiB, MiB, 5, 0));
        (actual.LargeValueBytes, actual.CaptureTransactionStacks, actual.LoggerFactory).Should().Be((32 << 10, true, loggers));
        environment.Name.Should().Be("fixture");
        FaultTestKit.Put(environment, 1, [1]);
        commits.Should().Equal(1);
        var tooLarge = () =>
        {
            using var writing = environment.BeginWrite();
            for (var i = 0; i < 1_000; i++)
                writing.CreateTree("t").Put(FaultTestKit.Key(i), FaultTestKit.Value(i, 10_000));
        };
        tooLarge.Should().Throw<StorageFullException>();
    }

    [Fact]
    public void Readers_and_writers_outlive_the_close_as_on_disk()
    {
        var environment = StorageEnvironment.OpenInMemory();
        FaultTestKit.Put(environment, 1, [1]);
        var reading = environment.BeginRead();
        environment.Dispose();
        reading.OpenTree(FaultTestKit.TreeName).Contains(FaultTestKit.Key(1)).Should().BeTrue();
        environment.Invoking(closed => closed.BeginWrite()).Should().Throw<ObjectDisposedException>();
        environment.Dispose();
        reading.Dispose();
    }

    [Fact]
    public void Calls_of_maintenance_work()
    {
        using var environment = StorageEnvironment.OpenInMemory();
        for (var i = 0; i < 300; i++)
            FaultTestKit.Put(environment, i, FaultTestKit.Value(i, 20_000));
        environment.Flush().Should().NotBeNull();
        using (var writing = environment.BeginWrite())
        {
            writing.DeleteTree(FaultTestKit.TreeName).Should().BeTrue();
            writing.Commit();
        }

        environment.ReclaimSpace().Should().BeGreaterThan(2 * MiB);
        environment.Verify().IsSound.Should().BeTrue();
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void It_agrees_with_a_model(int run)
    {
        var seed = TestSeed.Choose() ^ (run << 20);
        var random = new Random(seed);
        var model = new SortedDictionary<int, byte[]>();
        using var environment = StorageEnvironment.OpenInMemory(new InMemoryOptions { LargeValueBytes = 16 << 10 });
        for (var step = 0; step < SuiteShare.Rounds(300); step++)
        {
            var changed = new SortedDictionary<int, byte[]>(model);
            using (var writing = environment.BeginWrite())
            {
                var tree = writing.CreateTree(FaultTestKit.TreeName);
                for (var i = random.Next(1, 30); i > 0; i--)
                {
                    var key = random.Next(400);
                    if (random.Next(3) == 0)
                    {
                        tree.Delete(FaultTestKit.Key(key)).Should().Be(changed.Remove(key), $"seed {seed}, step {step}");
                        continue;
                    }

                    changed[key] = FaultTestKit.Value(random.Next(), random.Next(20) == 0 ? random.Next(16_000, 60_000) : random.Next(600));
                    tree.Put(FaultTestKit.Key(key), changed[key]);
                }

                if (random.Next(5) > 0)
                {
                    writing.Commit();
                    model = changed;
                }
            }

            if (random.Next(15) == 0)
                environment.Flush();
            if (random.Next(40) == 0)
                environment.ReclaimSpace();
        }

        for (var key = 0; key < 400; key++)
            FaultTestKit.Get(environment, key).Should().Equal(model.GetValueOrDefault(key), $"seed {seed}, key {key}");
        environment.Verify().Problems.Should().BeEmpty($"seed {seed}");
    }

    public static TheoryData<string, InMemoryOptions> Wrong => new()
    {
        { "PageSize is 5000", new() { PageSize = 5000 } },
        { "MaxDataBytes is 1048575; it must be at least 1048576, or null", new() { MaxDataBytes = MiB - 1 } },
        { "MaxDataBytes is -1", new() { MaxDataBytes = -1 } },
        { "MaxTransactionBytes is 7", new() { MaxTransactionBytes = 7 } },
        { "MaxGroupCommitBytes is 0", new() { MaxGroupCommitBytes = 0 } },
        { "MaxQueuedOperations is -3", new() { MaxQueuedOperations = -3 } },
        { "KeyHeadCacheBytes is -1", new() { KeyHeadCacheBytes = -1 } },
        { "LargeValueBytes is 100", new() { LargeValueBytes = 100 } },
        { "Trees has a name with 0 bytes in UTF-8 at index 0", new() { Trees = { "" } } },
        { "Trees has a name with 0 bytes in UTF-8 at index 1", new() { Trees = { "fine", null! } } },
        { "Trees has a name with 256 bytes in UTF-8 at index 0", new() { Trees = { new string('x', 256) } } },
        { "Trees has a name with half of a surrogate pair at index 0", new() { Trees = { "half \uD800" } } },
        { "PageSize is 0", new() { PageSize = 0, MaxDataBytes = 0, Trees = { "" } } },
        { "MaxDataBytes is 0", new() { PageSize = 0, MaxDataBytes = 0, Trees = { "" } } },
        { "Trees has a name with 0 bytes", new() { PageSize = 0, MaxDataBytes = 0, Trees = { "" } } },
    };

    [Theory]
    [MemberData(nameof(Wrong), DisableDiscoveryEnumeration = true)]
    public void Wrong_options_are_refused_and_named_together(string fault, InMemoryOptions options)
    {
        options.Invoking(wrong => wrong.Validate()).Should().Throw<ArgumentException>().Which.Message.Should().Contain(fault);
        FluentActions.Invoking(() => StorageEnvironment.OpenInMemory(options)).Should().Throw<ArgumentException>()
            .Which.Message.Should().Contain(fault);
    }

    /// <summary>So that configuration can bind it, with reflection or with generated code.</summary>
    [Fact]
    public void Every_option_can_be_set_after_construction()
    {
        foreach (var property in typeof(InMemoryOptions).GetProperties().Where(property => property.Name != nameof(InMemoryOptions.Trees)))
        {
            property.SetMethod.Should().NotBeNull(property.Name);
            property.SetMethod!.ReturnParameter.GetRequiredCustomModifiers().Should().BeEmpty($"{property.Name} is not init-only");
        }

        new InMemoryOptions().Invoking(options => options.Validate()).Should().NotThrow();
    }

    /// <summary>
    /// One commit in a new environment took 14 ms when each made a journal file of 4 MiB and two threads. It takes about a third of a
    /// millisecond of the processor.
    /// </summary>
    [Fact]
    public void A_fixture_of_a_test_is_cheap()
    {
        const int Fixtures = 400;
        for (var i = 0; i < 100; i++)
            UseOnce();
        var milliseconds = Enumerable.Range(0, Fixtures).Select(_ => ThreadClock.Measure(UseOnce).TotalMilliseconds).Order().ToList();

        // The fastest tenth, because neither a collection nor the compiler interrupted it.
        milliseconds[Fixtures / 10].Should().BeLessThan(10, "milliseconds of the processor for opening, a commit, and disposing");
    }

    private static void UseOnce()
    {
        using var environment = StorageEnvironment.OpenInMemory();
        FaultTestKit.Put(environment, 1, [1]);
        environment.Internals.ThreadCount.Should().Be(0);
    }
}
