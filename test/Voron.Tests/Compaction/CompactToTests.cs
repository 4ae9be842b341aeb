using Voron.Format;

namespace Voron.Tests.Compaction;

/// <summary>Compaction into another directory.</summary>
public sealed class CompactToTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_copy_is_dense_has_the_same_content_and_an_id_of_its_own()
    {
        var kit = new CompactionKit(TestSeed.Choose());
        using var directory = new TestDirectory();
        using var place = new TestDirectory();
        var target = Path.Combine(place, "new", "deep");
        RandomId id;
        using (var environment = StorageEnvironment.Open(directory, CompactionKit.Options))
        {
            kit.Put(environment, "a", 100_000, random => random.Next(200));
            kit.Put(environment, "b", 100, random => random.Next(1_000, 2_000_000));
            kit.Put(environment, "empty", 0, _ => 0);
            environment.Write(writing => writing.CreateTree("empty"));
            kit.Delete(environment, "a", 0.5);
            kit.Delete(environment, "b", 0.5);
            id = environment.Internals.Engine.EnvironmentId;
            var report = await environment.CompactToAsync(target, null, Token);
            TestContext.Current.TestOutputHelper?.WriteLine($"{report}");
            report.BytesAfter.Should().BeLessThan((long)(report.UsedBytes * 1.02) + (64 << 10)).And.BeLessThan(report.BytesBefore);
            kit.Check(environment);
        }

        Directory.GetFileSystemEntries(target).Should().NotContain(entry => entry.Contains("partial"));
        using var copy = StorageEnvironment.Open(target, new StorageOptions { OpenMode = OpenMode.OpenExisting });
        kit.Check(copy);
        copy.Internals.Engine.EnvironmentId.Should().NotBe(id);
    }

    /// <summary>Each tree was a durable commit: 30,000 trees took 101 s.</summary>
    [Fact]
    public async Task Small_trees_share_the_transactions_of_a_copy()
    {
        const int Trees = 3_000;
        using var directory = new TestDirectory();
        using var target = new TestDirectory();
        using (var environment = StorageEnvironment.Open(directory, CompactionKit.Options))
        {
            environment.Write(writing =>
            {
                for (var i = 0; i < Trees; i++)
                {
                    if (i % 3 == 0)
                        writing.CreateFixedTree($"t{i:D4}", 8).Put(i, BitConverter.GetBytes((long)i));
                    else if (i % 3 == 1)
                        writing.CreateValueSetTree($"t{i:D4}").Add("k"u8, BitConverter.GetBytes(i));
                    else
                        writing.CreateTree($"t{i:D4}").Put("k"u8, BitConverter.GetBytes(i));
                }
            });
            var reports = 0;
            await environment.CompactToAsync(
                target, new CompactionOptions { Progress = new SynchronousProgress<CompactionProgress>(_ => reports++) }, Token);
            reports.Should().BeInRange(1, 5);
        }

        using var copy = StorageEnvironment.Open(target);
        copy.GetStatistics().PublishedTransactionId.Should().BeLessThan(100);
        copy.Verify().Problems.Should().BeEmpty();
        using var reading = copy.BeginRead();
        reading.GetTreeNames().Should().HaveCount(Trees);
        BitConverter.ToInt32(reading.OpenTree("t2999").Get("k"u8)).Should().Be(2999);
        reading.OpenFixedTree("t2997").TryGet(2997, out var value).Should().BeTrue();
        BitConverter.ToInt64(value).Should().Be(2997);
    }

    [Fact]
    public async Task A_failure_of_the_progress_stays_that_of_the_caller()
    {
        var kit = new CompactionKit(TestSeed.Choose());
        using var directory = new TestDirectory();
        using var target = new TestDirectory();
        using var environment = StorageEnvironment.Open(directory, CompactionKit.Options);
        kit.Put(environment, "a", 100, _ => 300);
        var throwing = new CompactionOptions { Progress = new SynchronousProgress<CompactionProgress>(_ => throw new IOException("mine")) };
        (await Assert.ThrowsAsync<IOException>(() => environment.CompactToAsync(target, throwing, Token).AsTask())).Message.Should().Be("mine");
        Directory.GetFileSystemEntries(target).Should().BeEmpty();
    }

    [Fact]
    public async Task A_directory_with_something_in_it_is_refused_and_left_alone()
    {
        var kit = new CompactionKit(TestSeed.Choose());
        using var directory = new TestDirectory();
        using var target = new TestDirectory();
        await File.WriteAllTextAsync(Path.Combine(target, "voron.mine"), "mine", Token);
        using var environment = StorageEnvironment.Open(directory, CompactionKit.Options);
        kit.Put(environment, "a", 10, _ => 10);
        var refused = await Assert.ThrowsAsync<BackupException>(() => environment.CompactToAsync(target, null, Token).AsTask());
        refused.Fault.Should().Be(BackupFault.TargetNotEmpty);
        Directory.GetFileSystemEntries(target).Should().ContainSingle();
    }

    [Fact]
    public async Task A_copy_that_is_cancelled_or_fails_leaves_nothing()
    {
        var kit = new CompactionKit(TestSeed.Choose());
        using var directory = new TestDirectory();
        using var target = new TestDirectory();
        using var environment = StorageEnvironment.Open(directory, CompactionKit.Options);
        kit.Put(environment, "a", 100_000, _ => 300);
        using var stop = new CancellationTokenSource();
        var cancelling = new CompactionOptions { Progress = new SynchronousProgress<CompactionProgress>(_ => stop.Cancel()) };
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => environment.CompactToAsync(target, cancelling, stop.Token).AsTask());
        Directory.GetFileSystemEntries(target).Should().BeEmpty();
        var throwing = new CompactionOptions { Progress = new SynchronousProgress<CompactionProgress>(_ => throw new InvalidTimeZoneException()) };
        await Assert.ThrowsAsync<InvalidTimeZoneException>(() => environment.CompactToAsync(target, throwing, Token).AsTask());
        Directory.GetFileSystemEntries(target).Should().BeEmpty();
        await environment.CompactToAsync(target, null, Token);
        using var copy = StorageEnvironment.Open(target);
        kit.Check(copy);
    }

    [Fact]
    public async Task A_copy_that_is_not_finished_cannot_be_opened()
    {
        var kit = new CompactionKit(TestSeed.Choose());
        using var directory = new TestDirectory();
        using var target = new TestDirectory();
        using var environment = StorageEnvironment.Open(directory, CompactionKit.Options);
        kit.Put(environment, "a", 1_000, _ => 300);
        Exception? refused = null;
        var progress = new SynchronousProgress<CompactionProgress>(_ => refused = Record.Exception(() => StorageEnvironment.Open(target).Dispose()));
        await environment.CompactToAsync(target, new CompactionOptions { Progress = progress }, Token);
        refused.Should().BeOfType<CorruptionException>().Which.Message.Should().Contain("was not finished");
    }

    [Fact]
    public async Task Closing_ends_a_copy()
    {
        var kit = new CompactionKit(TestSeed.Choose());
        using var directory = new TestDirectory();
        using var target = new TestDirectory();
        var environment = StorageEnvironment.Open(directory, CompactionKit.Options);
        kit.Put(environment, "a", 100_000, _ => 300);
        var isCopying = new TaskCompletionSource();
        var options = new CompactionOptions
        {
            MaxBytesPerSecond = 1 << 20,
            Progress = new SynchronousProgress<CompactionProgress>(_ => isCopying.TrySetResult()),
        };
        var copying = environment.CompactToAsync(target, options, Token).AsTask();
        await isCopying.Task.WaitAsync(TestWait.Limit, Token);
        environment.Dispose();
        await Assert.ThrowsAsync<ObjectDisposedException>(() => copying.WaitAsync(TestWait.Limit, Token));
        Directory.GetFileSystemEntries(target).Should().BeEmpty();
    }
}
