using System.Text;

namespace Voron.Tests.Compaction;

/// <summary>Compactions during reads, writes and flushes, cancellation and closing.</summary>
public sealed class CompactionBesideTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Compactions_during_writes_lose_nothing()
    {
        var seed = TestSeed.Choose();
        using var directory = new TestDirectory();
        var options = new StorageOptions { FlushThresholdBytes = 1 << 20, InitialJournalFileBytes = 64 << 10, MaxJournalFileBytes = 1 << 20 };
        var model = new Dictionary<string, (int Length, int Number)>();
        using (var environment = StorageEnvironment.Open(directory, options))
        {
            environment.Write(writing => writing.CreateTree("t"));
            using var stop = new CancellationTokenSource();
            var random = new Random(seed);
            var writer = Task.Run(() => Write(environment, random, model, stop.Token), Token);
            var (moved, seen) = (0L, 0L);
            for (var i = 0; i < 25 || (moved == 0 && i < 1_000); i++)
            {
                // On a crowded machine, hundreds of compactions may run before the writer has its turn.
                await TestWait.UntilAsync(() => environment.GetStatistics().PublishedTransactionId > seen + 1);
                seen = environment.GetStatistics().PublishedTransactionId;
                moved += (await environment.CompactAsync(new CompactionOptions { ReaderPatience = TestWait.Limit }, Token)).BytesMoved;
                environment.Verify().Problems.Should().BeEmpty();
            }

            await stop.CancelAsync();
            await writer.WaitAsync(TestWait.Limit, Token);
            moved.Should().BePositive();
            Check(environment, model);
        }

        using var again = StorageEnvironment.Open(directory);
        Check(again, model);
        again.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public async Task A_reader_keeps_its_snapshot_and_is_named()
    {
        var kit = new CompactionKit(TestSeed.Choose());
        using var directory = new TestDirectory();
        using var environment = StorageEnvironment.Open(directory, CompactionKit.Options);
        kit.Put(environment, "a", 100_000, _ => 100);
        using (var reader = environment.BeginRead())
        {
            kit.Delete(environment, "a", 0.8);
            var blocked = await environment.CompactAsync(new CompactionOptions { ReaderPatience = TimeSpan.FromMilliseconds(100) }, Token);
            blocked.IsComplete.Should().BeFalse();
            blocked.BlockedBy!.Value.TransactionId.Should().Be(reader.TransactionId);
            reader.OpenTree("a").GetEntries().Count().Should().Be(100_000);
        }

        var report = await environment.CompactAsync(null, Token);
        report.BlockedBy.Should().BeNull();
        report.BytesAfter.Should().BeLessThan((long)(report.UsedBytes * 1.05));
        kit.Check(environment);
    }

    [Fact]
    public async Task A_reader_that_ends_in_time_delays_the_cut_alone()
    {
        var kit = new CompactionKit(TestSeed.Choose());
        using var directory = new TestDirectory();
        using var environment = StorageEnvironment.Open(directory, CompactionKit.Options);
        kit.Put(environment, "a", 100_000, _ => 100);
        var reader = environment.BeginRead();
        kit.Delete(environment, "a", 0.8);
        var compaction = environment.CompactAsync(new CompactionOptions { ReaderPatience = TestWait.Limit }, Token).AsTask();
        await TestWait.GiveTimeForAsync(() => compaction.IsCompleted);
        compaction.IsCompleted.Should().BeFalse();
        reader.Dispose();
        var report = await compaction.WaitAsync(TestWait.Limit, Token);
        report.BlockedBy.Should().BeNull();
        report.BytesAfter.Should().BeLessThan((long)(report.UsedBytes * 1.05));
    }

    [Fact]
    public async Task Stopping_a_hundred_times_loses_nothing_and_what_was_moved_stays_moved()
    {
        var kit = new CompactionKit(TestSeed.Choose());
        using var directory = new TestDirectory();
        using var environment = StorageEnvironment.Open(directory, CompactionKit.Options);
        kit.Put(environment, "a", 100_000, _ => 300);
        kit.Put(environment, "b", 100, random => random.Next(5_000, 800_000));
        kit.Delete(environment, "a", 0.7);
        kit.Delete(environment, "b", 0.7);
        for (var i = 0; i < 100; i++)
        {
            using var stop = new CancellationTokenSource();
            var progress = new SynchronousProgress<CompactionProgress>(_ => stop.Cancel());
            await Assert.ThrowsAnyAsync<OperationCanceledException>(
                () => environment.CompactAsync(new CompactionOptions { Progress = progress }, stop.Token).AsTask());
            if (i % 20 == 0)
                environment.Verify().Problems.Should().BeEmpty();
        }

        var report = await environment.CompactAsync(null, Token);
        report.BytesAfter.Should().BeLessThan(report.BytesBefore);
        kit.Check(environment);
    }

    [Fact]
    public async Task An_exception_of_the_progress_ends_the_compaction_alone()
    {
        var kit = new CompactionKit(TestSeed.Choose());
        using var directory = new TestDirectory();
        using var environment = StorageEnvironment.Open(directory, CompactionKit.Options);
        kit.Put(environment, "a", 50_000, _ => 300);
        kit.Delete(environment, "a", 0.7);
        var progress = new SynchronousProgress<CompactionProgress>(_ => throw new InvalidTimeZoneException("mine"));
        await Assert.ThrowsAsync<InvalidTimeZoneException>(
            () => environment.CompactAsync(new CompactionOptions { Progress = progress }, Token).AsTask());
        kit.Put(environment, "a", 1_000, _ => 300);
        (await environment.CompactAsync(null, Token)).BlockedBy.Should().BeNull();
        kit.Check(environment);
    }

    [Fact]
    public async Task Trees_may_be_deleted_and_renamed_meanwhile()
    {
        var kit = new CompactionKit(TestSeed.Choose());
        using var directory = new TestDirectory();
        using var environment = StorageEnvironment.Open(directory, CompactionKit.Options);
        foreach (var name in new[] { "a", "b", "c", "d", "e" })
            kit.Put(environment, name, 30_000, random => random.Next(200));
        foreach (var name in kit.Trees.Keys)
            kit.Delete(environment, name, 0.6);
        var calls = 0;
        var progress = new SynchronousProgress<CompactionProgress>(_ =>
        {
            switch (++calls)
            {
                case 3:
                    environment.Write(writing => writing.DeleteTree("c"));
                    kit.Trees.Remove("c");
                    break;
                case 5:
                    environment.Write(writing => writing.RenameTree("b", "x"));
                    kit.Trees["x"] = kit.Trees["b"];
                    kit.Trees.Remove("b");
                    break;
                case 7:
                    environment.Write(writing => writing.RenameTree("e", "0"));
                    kit.Trees["0"] = kit.Trees["e"];
                    kit.Trees.Remove("e");
                    break;
                case 8:
                    kit.Put(environment, "a", 5_000, _ => 100);
                    break;
            }
        });
        var report = await environment.CompactAsync(new CompactionOptions { Progress = progress }, Token);
        calls.Should().BeGreaterThan(8);
        report.BytesAfter.Should().BeLessThan(report.BytesBefore);
        kit.Check(environment);
    }

    [Fact]
    public async Task Closing_ends_a_compaction()
    {
        var kit = new CompactionKit(TestSeed.Choose());
        using var directory = new TestDirectory();
        var environment = StorageEnvironment.Open(directory, CompactionKit.Options);
        kit.Put(environment, "a", 100_000, _ => 300);
        kit.Delete(environment, "a", 0.7);
        var isMoving = new TaskCompletionSource();
        var progress = new SynchronousProgress<CompactionProgress>(_ => isMoving.TrySetResult());
        var compaction = environment.CompactAsync(new CompactionOptions { Progress = progress, MaxBytesPerSecond = 1 << 20 }, Token).AsTask();
        await isMoving.Task.WaitAsync(TestWait.Limit, Token);
        environment.Dispose();
        await Assert.ThrowsAsync<ObjectDisposedException>(() => compaction.WaitAsync(TestWait.Limit, Token));
        using var again = StorageEnvironment.Open(directory, CompactionKit.Options);
        kit.Check(again);
    }

    [Fact]
    public async Task Two_compactions_at_a_time_are_refused()
    {
        var kit = new CompactionKit(TestSeed.Choose());
        using var directory = new TestDirectory();
        using var environment = StorageEnvironment.Open(directory, CompactionKit.Options);
        kit.Put(environment, "a", 50_000, _ => 300);
        kit.Delete(environment, "a", 0.7);
        Exception? refused = null;
        var progress = new SynchronousProgress<CompactionProgress>(
            _ => refused ??= Record.Exception(() => environment.CompactAsync(null, Token).AsTask().GetAwaiter().GetResult()));
        (await environment.CompactAsync(new CompactionOptions { Progress = progress }, Token)).IsComplete.Should().BeTrue();
        refused.Should().BeOfType<InvalidOperationException>().Which.Message.Should().Contain("Another compaction");
    }

    [Fact]
    public async Task A_growing_file_takes_the_tail_back_before_it_gets_longer()
    {
        var kit = new CompactionKit(TestSeed.Choose());
        using var directory = new TestDirectory();
        using var environment = StorageEnvironment.Open(directory, CompactionKit.Options);
        kit.Put(environment, "a", 150_000, _ => 300);
        kit.Delete(environment, "a", 0.7);
        var length = environment.GetStatistics().DataFileBytes;
        var isPut = false;
        var progress = new SynchronousProgress<CompactionProgress>(_ =>
        {
            if (isPut)
                return;
            isPut = true;
            kit.Put(environment, "b", 75_000, _ => 300);
            environment.GetStatistics().DataFileBytes.Should().BeLessThanOrEqualTo(length);
        });
        await environment.CompactAsync(new CompactionOptions { Progress = progress }, Token);
        isPut.Should().BeTrue();
        kit.Check(environment);
    }

    private static void Write(
        StorageEnvironment environment, Random random, Dictionary<string, (int Length, int Number)> model, CancellationToken stop)
    {
        while (!stop.IsCancellationRequested)
        {
            using var transaction = environment.BeginWrite();
            var tree = transaction.OpenTree("t");
            var most = random.Next(3) == 0 ? 40 : 4_000;
            var count = random.Next(1, most == 40 ? 40 : 4);
            for (var i = 0; i < count; i++)
            {
                var key = $"{random.Next(3_000)}";
                if (random.Next(5) < 3)
                {
                    tree.Delete(Encoding.UTF8.GetBytes(key));
                    model.Remove(key);
                    continue;
                }

                var value = (random.Next(20) == 0 ? random.Next(300_000) : random.Next(most), random.Next());
                tree.Put(Encoding.UTF8.GetBytes(key), CompactionKit.Bytes(value));
                model[key] = value;
            }

            transaction.Commit();
        }
    }

    private static void Check(StorageEnvironment environment, Dictionary<string, (int Length, int Number)> model)
    {
        using var transaction = environment.BeginRead();
        var tree = transaction.OpenTree("t");
        tree.Count.Should().Be(model.Count);
        foreach (var (key, value) in model)
        {
            if (!tree.TryGet(Encoding.UTF8.GetBytes(key), out var found) || !found.SequenceEqual(CompactionKit.Bytes(value)))
                Assert.Fail($"Key {key} should have {value}.");
        }
    }
}
