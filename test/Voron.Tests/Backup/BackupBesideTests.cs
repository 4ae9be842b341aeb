using System.Diagnostics;
using Voron.Tests.Faults;
using static Voron.Tests.Backup.BackupTestKit;

namespace Voron.Tests.Backup;

/// <summary>Backups during writes and flushes, cancellation and closing.</summary>
public sealed class BackupBesideTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Backups_during_writes_and_flushes_are_sound()
    {
        using var place = new TemporaryDirectory();
        var options = new StorageOptions { FlushThresholdBytes = 1 << 20, InitialJournalFileBytes = 64 << 10, MaxJournalFileBytes = 1 << 20 };
        using var environment = StorageEnvironment.Open(Path.Combine(place.Path, "source"), options);
        environment.Write(writing => writing.CreateTree("t"));
        using var stop = new CancellationTokenSource();
        var writer = Task.Run(() => Write(environment, stop.Token), Token);
        var others = Task.Run(() => FlushAndReclaim(environment, stop.Token), Token);
        Guid? parent = null;
        var chain = new List<string>();
        for (var i = 0; i < 6; i++)
        {
            var file = Path.Combine(place.Path, $"{i}.vback");
            if (i % 3 == 0)
                (parent, chain) = (null, []);
            chain.Add(file);
            BackupReport report;
            var stream = new FileStream(file, FileMode.CreateNew);
            await using (stream.ConfigureAwait(true))
                report = await environment.BackupAsync(new SlowStream(stream), new BackupOptions { Since = parent, Compress = i % 2 == 0 }, Token);
            parent = report.BackupId;
            report.HeldOneSnapshot.Should().BeFalse();
            var target = Path.Combine(place.Path, $"restored-{i}");
            (await BackupFile.RestoreAsync(chain, target, null, Token)).Verification!.Problems.Should().BeEmpty();
            using var restored = StorageEnvironment.Open(target);
            CheckTransactions(restored);
        }

        await stop.CancelAsync();
        await Task.WhenAll(writer, others).WaitAsync(TestWait.Limit, Token);
    }

    [Fact]
    public async Task A_target_that_never_returns_keeps_no_flush_waiting()
    {
        using var environment = StorageEnvironment.Open(MakeEnvironment(), Options());
        using var stream = new StuckStream();
        using var stop = new CancellationTokenSource();
        var backup = environment.BackupAsync(stream, null, stop.Token).AsTask();
        await stream.Stuck.WaitAsync(TestWait.Limit, Token);
        await TestWait.UntilAsync(() => CanFlushNewest(environment));
        await stop.CancelAsync();
        await TestWait.UntilAsync(() => CanFlushNewest(environment));
        stream.Release();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => backup);
    }

    [Fact]
    public async Task A_cancelled_target_that_never_returns_keeps_no_flush_waiting_without_a_log()
    {
        using var environment = StorageEnvironment.Open(MakeEnvironment(), new StorageOptions(Options()) { TrackChanges = false });
        using var stream = new StuckStream { IsStuckAfter = 1 };
        using var stop = new CancellationTokenSource();
        var backup = environment.BackupAsync(stream, null, stop.Token).AsTask();
        await stream.Stuck.WaitAsync(TestWait.Limit, Token);
        CanFlushNewest(environment).Should().BeFalse("one snapshot is held");
        await stop.CancelAsync();
        await TestWait.UntilAsync(() => CanFlushNewest(environment));
        stream.Release();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => backup);
    }

    [Fact]
    public async Task Closing_ends_a_backup()
    {
        using var place = new TemporaryDirectory();
        var environment = StorageEnvironment.Open(MakeEnvironment(), Options());
        var backup = environment.BackupAsync(Path.Combine(place.Path, "a.vback"), new BackupOptions { MaxBytesPerSecond = 1000 }, Token).AsTask();
        await TestWait.UntilAsync(() => Directory.GetFiles(place.Path).Length > 0);
        environment.Dispose();
        (await Assert.ThrowsAsync<ObjectDisposedException>(() => backup)).Message.Should().Contain("closed during the backup");
        Directory.GetFiles(place.Path).Should().BeEmpty();
        await Assert.ThrowsAsync<ObjectDisposedException>(
            async () => await environment.BackupAsync(Path.Combine(place.Path, "b.vback"), null, Token));
        Directory.GetFiles(place.Path).Should().BeEmpty();
    }

    [Fact]
    public async Task A_backup_can_be_cancelled_in_every_state()
    {
        using var place = new TemporaryDirectory();
        using var environment = StorageEnvironment.Open(MakeEnvironment(), Options());
        using (var before = new CancellationTokenSource())
        {
            await before.CancelAsync();
            await Assert.ThrowsAnyAsync<OperationCanceledException>(
                async () => await environment.BackupAsync(Path.Combine(place.Path, "a.vback"), null, before.Token));
        }

        for (var call = 0; call < 40; call++)
        {
            using var stop = new CancellationTokenSource();
            using var stream = new CancellingStream(stop, call);
            var isCancelled = false;
            try
            {
                await environment.BackupAsync(stream, new BackupOptions { BatchBytes = 16 << 10 }, stop.Token);
            }
            catch (OperationCanceledException e)
            {
                e.CancellationToken.Should().Be(stop.Token);
                isCancelled = true;
            }

            CanFlushNewest(environment).Should().BeTrue();
            isCancelled.Should().Be(stop.IsCancellationRequested && !stream.IsFlushed);
        }

        Directory.GetFiles(place.Path).Should().BeEmpty();
    }

    [Fact]
    public void A_backup_inside_a_group_commit_operation_is_refused()
    {
        using var environment = StorageEnvironment.Open(MakeEnvironment(), Options());
        environment.Write(_ =>
        {
            var call = () => environment.BackupAsync(Stream.Null, null, Token).AsTask().GetAwaiter().GetResult();
            call.Should().Throw<InvalidOperationException>().WithMessage("BackupAsync was called inside a group-commit operation*");
        });
    }

    [Fact]
    public async Task A_backup_is_logged()
    {
        var logger = new ListLogger();
        using var environment = StorageEnvironment.Open(MakeEnvironment(), FaultTestKit.Options(logger));
        var report = await environment.BackupAsync(Stream.Null, null, Token);
        using var failing = new FailingStream();
        await Assert.ThrowsAsync<TimeZoneNotFoundException>(async () => await environment.BackupAsync(failing, null, Token));
        FaultTestKit.WarningsOf(environment, logger).Should().ContainSingle().Which.Should().Contain("failed, and was not made. Reason: write");
        logger.Entries.Should().Contain(entry => entry.Message.Contains($"was backed up as of transaction {report.TransactionId}: {report.Pages} pages"));
    }

    [Fact]
    public async Task A_rate_limits_the_backup()
    {
        using var environment = StorageEnvironment.Open(MakeEnvironment(), Options());
        var began = Stopwatch.GetTimestamp();
        var report = await environment.BackupAsync(Stream.Null, new BackupOptions { MaxBytesPerSecond = 4 << 20, BatchBytes = 64 << 10 }, Token);
        var expected = TimeSpan.FromSeconds(report.Pages * 4096.0 / (4 << 20));
        Stopwatch.GetElapsedTime(began).Should().BeGreaterThan(expected * 0.8);
    }

    [Fact]
    public async Task Two_backups_run_side_by_side()
    {
        using var environment = StorageEnvironment.Open(MakeEnvironment(), Options());
        var backups = await Task.WhenAll(Enumerable.Range(0, 8).Select(_ => environment.BackupAsync(Stream.Null, null, Token).AsTask()));
        backups.Select(backup => backup.BackupId).Should().OnlyHaveUniqueItems();
        backups.Should().OnlyContain(backup => backup.IsBase);
    }

    [Fact]
    public async Task A_callback_may_throw_and_may_close_the_environment()
    {
        var environment = StorageEnvironment.Open(MakeEnvironment(), Options());
        var throwing = new BackupOptions { Progress = new Calling(() => throw new TimeZoneNotFoundException()) };
        await Assert.ThrowsAsync<TimeZoneNotFoundException>(async () => await environment.BackupAsync(Stream.Null, throwing, Token));
        await Assert.ThrowsAsync<ObjectDisposedException>(async () =>
            await environment.BackupAsync(Stream.Null, new BackupOptions { Progress = new Calling(environment.Dispose), BatchBytes = 4096 }, Token));
    }

    [Theory]
    [InlineData(-1, null)]
    [InlineData(0, 65_537)]
    public async Task Options_that_are_not_valid_are_refused(long rate, int? noteLength)
    {
        using var environment = StorageEnvironment.Open(MakeEnvironment(), Options());
        var options = new BackupOptions { MaxBytesPerSecond = rate, Note = noteLength is { } length ? new string('x', length) : null };
        await Assert.ThrowsAsync<ArgumentException>(async () => await environment.BackupAsync(Stream.Null, options, Token));
    }

    // Each transaction puts its number under all keys, so that a mixture of two states shows.
    private static void Write(StorageEnvironment environment, CancellationToken stop)
    {
        for (var number = 1; !stop.IsCancellationRequested; number++)
        {
            environment.Write(writing =>
            {
                var tree = writing.OpenTree("t");
                for (var key = 0; key < 30; key++)
                    tree.Put(FaultTestKit.Key(number * 7 % 40 * 100 + key), FaultTestKit.Value(number, key == 0 ? 100_000 : key == 1 ? 9_000 : 200));
                tree.Put("number"u8, BitConverter.GetBytes(number));
                tree.Put("again"u8, BitConverter.GetBytes(number));
            });
        }
    }

    private static void FlushAndReclaim(StorageEnvironment environment, CancellationToken stop)
    {
        while (!stop.IsCancellationRequested)
        {
            environment.Flush();
            environment.ReclaimSpace();
            stop.WaitHandle.WaitOne(1);
        }
    }

    private static void CheckTransactions(StorageEnvironment environment)
    {
        using var reading = environment.BeginRead();
        var tree = reading.OpenTree("t");
        if (!tree.TryGet("number"u8, out var number))
            return;
        var last = BitConverter.ToInt32(number);
        BitConverter.ToInt32(tree.Get("again"u8)).Should().Be(last);
        tree.Get(FaultTestKit.Key(last * 7 % 40 * 100)).Should().Equal(FaultTestKit.Value(last, 100_000));
    }

    private static bool CanFlushNewest(StorageEnvironment environment)
    {
        environment.Write(writing => writing.CreateTree("new").Put("key"u8, "value"u8));
        environment.Flush();
        var statistics = environment.GetStatistics();
        return statistics.CheckpointTransactionId == statistics.PublishedTransactionId;
    }

    private sealed class SlowStream(Stream target) : MemoryStream
    {
        public override async ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
        {
            await Task.Delay(20, cancellationToken);
            await target.WriteAsync(buffer, cancellationToken);
        }
    }

    /// <summary>A stream that does not heed its token.</summary>
    private sealed class StuckStream : MemoryStream
    {
        private readonly TaskCompletionSource _stuck = new();
        private readonly TaskCompletionSource _released = new();
        private int _writes;

        public int IsStuckAfter { get; init; } = 1;

        public Task Stuck => _stuck.Task;

        public void Release() => _released.SetResult();

        public override async ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
        {
            if (_writes++ < IsStuckAfter)
                return;
            _stuck.TrySetResult();
            await _released.Task;
        }
    }

    private sealed class CancellingStream(CancellationTokenSource stop, int after) : MemoryStream
    {
        private int _left = after;

        public bool IsFlushed { get; private set; }

        public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
        {
            if (_left-- == 0)
                stop.Cancel();
            return ValueTask.CompletedTask;
        }

        public override Task FlushAsync(CancellationToken cancellationToken)
        {
            cancellationToken.ThrowIfCancellationRequested();
            IsFlushed = true;
            return Task.CompletedTask;
        }
    }

    private sealed class FailingStream : MemoryStream
    {
        public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default) =>
            throw new TimeZoneNotFoundException("write");
    }

    private sealed class Calling(Action call) : IProgress<BackupProgress>
    {
        private Action? _call = call;

        public void Report(BackupProgress value) => Interlocked.Exchange(ref _call, null)?.Invoke();
    }
}
