using System.IO.Pipelines;
using System.Runtime.CompilerServices;
using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;
using Voron.Tests.Faults;

namespace Voron.Tests.Staging;

/// <summary>Uploads beside everything else: other uploads, commits, the closing of the environment, failures, and callers that forget them.</summary>
public sealed class StagingUploadTests
{
    private const int Part = 100_000;

    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    [Fact]
    public void A_slow_upload_leaves_the_writer_to_others()
    {
        using var environment = StagingTestKit.Open();
        var pipe = new Pipe(new PipeOptions(pauseWriterThreshold: 0));
        var value = FaultTestKit.Value(1, 10 * Part);
        var upload = environment.StageAsync(pipe.Reader, Cancellation).AsTask();
        for (var i = 0; i < 10; i++)
        {
            Send(pipe, value.AsMemory(i * Part, Part));
            WaitUntilWritten(environment, (i + 1) * Part);

            // The upload may be in one of its moments with the writer.
            using var writing = environment.BeginWrite(TestWait.Limit, Cancellation);
            writing.CreateTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(100 + i), FaultTestKit.Value(i, 50_000));
            writing.Commit();
            environment.Flush();
            if (i % 3 == 0)
                environment.ReclaimSpace();
            upload.IsCompleted.Should().BeFalse();
        }

        pipe.Writer.Complete();
        using var staged = Result(upload);
        StagingTestKit.Put(environment, 1, staged);
        StagingTestKit.Check(environment, 1, 1, value.Length);
        for (var i = 0; i < 10; i++)
            StagingTestKit.Check(environment, 100 + i, i, 50_000);
        StagingTestKit.CheckUnreserved(environment);
    }

    [Fact]
    public async Task Uploads_and_commits_interleave()
    {
        var options = new StorageOptions { FlushInterval = TimeSpan.FromMilliseconds(5), LargeValueBytes = StagingTestKit.Large };
        using var environment = StorageEnvironment.OpenInMemory(options);
        using var stop = new CancellationTokenSource();
        var committing = Task.Run(() => Commit(environment, stop.Token), Cancellation);
        var uploads = Enumerable.Range(0, 6).Select(worker => Task.Run(() => Upload(environment, worker), Cancellation)).ToArray();
        await Task.WhenAll(uploads);
        await stop.CancelAsync();
        await committing;
        for (var worker = 0; worker < 6; worker++)
        {
            for (var i = 0; i < 12; i++)
                StagingTestKit.Check(environment, worker * 100 + i, worker * 1000 + i, LengthOf(worker, i));
        }

        StagingTestKit.CheckUnreserved(environment);
    }

    [Fact]
    public async Task Ten_thousand_uploads_at_once_take_one_extent_each()
    {
        using var environment = StorageEnvironment.OpenInMemory(new StorageOptions { BackgroundFlush = false, LargeValueBytes = 16 << 10 });
        var pipes = Enumerable.Range(0, 10_000).Select(_ => new Pipe()).ToArray();
        var uploads = pipes.Select(pipe => environment.StageAsync(pipe.Reader, Cancellation).AsTask()).ToArray();
        var value = FaultTestKit.Value(1, 20_000);
        foreach (var pipe in pipes)
            await pipe.Writer.WriteAsync(value, Cancellation);
        StagingTestKit.WaitUntil(() => environment.GetStatistics().StagedBytes == 10_000L * (128 << 10), "each has its extent");
        environment.Write(writing => writing.CreateTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(0), [1]));
        foreach (var pipe in pipes)
            await pipe.Writer.CompleteAsync();
        var staged = await Task.WhenAll(uploads).WaitAsync(TestWait.Limit, Cancellation);
        environment.GetStatistics().StagedBytes.Should().Be(10_000L * 20_480, "a finished upload keeps only the pages that it needs");
        environment.Write(writing =>
        {
            var tree = writing.CreateTree(FaultTestKit.TreeName);
            for (var i = 0; i < staged.Length; i += 2)
                tree.Put(FaultTestKit.Key(i), staged[i]);
        });
        foreach (var one in staged)
            one.Dispose();
        StagingTestKit.Check(environment, 4_000, 1, 20_000);
        StagingTestKit.CheckUnreserved(environment);
    }

    [Theory]
    [InlineData(10)]
    [InlineData(5 * Part)]
    public async Task A_source_that_fails_or_is_cancelled_leaves_nothing(int length)
    {
        using var environment = StagingTestKit.Open();
        foreach (var how in new[] { "fails", "is cancelled by the token", "is cancelled by the pipe" })
        {
            var pipe = new Pipe(new PipeOptions(pauseWriterThreshold: 0));
            using var source = new CancellationTokenSource();
            var upload = environment.StageAsync(pipe.Reader, source.Token).AsTask();
            Send(pipe, FaultTestKit.Value(1, length));
            WaitUntilWritten(environment, length < StagingTestKit.Large ? 0 : length);
            if (how == "fails")
                await pipe.Writer.CompleteAsync(new IOException("the line is dead"));
            else if (how == "is cancelled by the token")
                await source.CancelAsync();
            else
                pipe.Reader.CancelPendingRead();
            if (how == "fails")
                await FluentActions.Awaiting(() => upload).Should().ThrowAsync<IOException>().WithMessage("the line is dead");
            else
                await FluentActions.Awaiting(() => upload).Should().ThrowAsync<OperationCanceledException>();
            StagingTestKit.CheckUnreserved(environment);
        }

        await FluentActions.Awaiting(() => environment.StageAsync(new MemoryStream(new byte[length]), new CancellationToken(true)).AsTask())
            .Should().ThrowAsync<OperationCanceledException>();
        StagingTestKit.CheckUnreserved(environment);
    }

    [Fact]
    public async Task A_wait_for_the_writer_is_cancelled()
    {
        using var environment = StagingTestKit.Open();
        using var source = new CancellationTokenSource();
        using (environment.BeginWrite())
        {
            var upload = environment.StageAsync(new MemoryStream(new byte[Part]), source.Token).AsTask();
            using var small = await environment.StageAsync(new MemoryStream(new byte[10]), Cancellation);
            small.State.Should().Be(StagedValueState.Ready, "a small value needs no pages, and so no writer");
            upload.IsCompleted.Should().BeFalse();
            await source.CancelAsync();
            (await FluentActions.Awaiting(() => upload).Should().ThrowAsync<OperationCanceledException>())
                .Which.CancellationToken.Should().Be(source.Token);
        }

        StagingTestKit.CheckUnreserved(environment);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(10)]
    [InlineData(5 * Part)]
    public async Task Closing_the_environment_ends_an_upload_that_stalls(int sent)
    {
        var disk = new SimulatedDisk();
        var environment = StagingTestKit.Open(disk);
        var pipe = new Pipe(new PipeOptions(pauseWriterThreshold: 0));
        var upload = environment.StageAsync(pipe.Reader, Cancellation).AsTask();
        var stream = environment.StageAsync(new StalledStream(), Cancellation).AsTask();
        if (sent > 0)
            Send(pipe, FaultTestKit.Value(1, sent));
        WaitUntilWritten(environment, sent < StagingTestKit.Large ? 0 : sent);
        var finished = StagingTestKit.Stage(environment, 2, Part);
        environment.Dispose();
        await FluentActions.Awaiting(() => upload).Should().ThrowAsync<ObjectDisposedException>().WithMessage("*closed during the upload*");
        await FluentActions.Awaiting(() => stream).Should().ThrowAsync<ObjectDisposedException>();
        finished.State.Should().Be(StagedValueState.Ready);
        finished.Dispose();
        finished.State.Should().Be(StagedValueState.Disposed);
        using var reopened = StagingTestKit.Open(disk);
        StagingTestKit.CheckUnreserved(reopened);
        using var foreign = StagingTestKit.Stage(reopened, 3, Part);
        StagingTestKit.Put(reopened, 3, foreign);
        StagingTestKit.Check(reopened, 3, 3, Part);
    }

    [Fact]
    public async Task Closing_the_environment_ends_an_upload_that_waits_for_the_writer()
    {
        var environment = StagingTestKit.Open();
        using var writing = environment.BeginWrite();
        var upload = environment.StageAsync(new MemoryStream(new byte[Part]), Cancellation).AsTask();
        var closing = new TestThread(environment.Dispose);
        await FluentActions.Awaiting(() => upload).Should().ThrowAsync<ObjectDisposedException>();
        writing.Dispose();
        closing.Join().Should().BeNull();
    }

    [Fact]
    public async Task Closing_the_environment_waits_for_a_write_that_is_under_way()
    {
        var disk = new SimulatedDisk();
        var slow = new SlowDisk(disk);
        var environment = StorageEnvironment.Open(slow, StagingTestKit.Options());
        var pipe = new Pipe(new PipeOptions(pauseWriterThreshold: 0));
        var upload = environment.StageAsync(pipe.Reader, Cancellation).AsTask();
        Send(pipe, FaultTestKit.Value(1, 20_000));
        WaitUntilWritten(environment, 128 << 10);

        // The reservation has room for this chunk, so its write is the next one.
        slow.Arm([new SlowHold(DiskCallKind.Write, Skip: 0, HoldsAfter: false, Fails: false)]);
        Send(pipe, FaultTestKit.Value(1, 80_000));
        StagingTestKit.WaitUntil(() => slow.Held.Count == 1, "the write hangs");
        var closing = new TestThread(environment.Dispose);
        closing.WaitUntilBlockedOrEnded();
        closing.HasEnded.Should().BeFalse("the file must not be closed below the write");
        slow.Release(slow.Held[0]);
        closing.Join().Should().BeNull();
        slow.Violation.Should().BeNull();
        await FluentActions.Awaiting(() => upload).Should().ThrowAsync<ObjectDisposedException>();
        disk.OpenFiles.Should().Be(0);
        using var reopened = StagingTestKit.Open(disk);
        StagingTestKit.CheckUnreserved(reopened);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_staged_value_that_was_forgotten_is_named_and_its_space_is_given_back(bool isTracked)
    {
        var logger = new ListLogger();
        using var environment = StorageEnvironment.OpenInMemory(new StorageOptions
        {
            BackgroundFlush = false,
            LargeValueBytes = StagingTestKit.Large,
            CaptureTransactionStacks = isTracked,
            LoggerFactory = new OneLoggerFactory(logger),
        });
        Forget(environment);
        ForgetUpload(environment);
        StagingTestKit.WaitUntil(
            () =>
            {
                GC.Collect();
                GC.WaitForPendingFinalizers();
                return environment.GetStatistics().StagedBytes == 0 && logger.Warnings.Count() == 2;
            },
            "the collector finds both");
        foreach (var warning in logger.Warnings)
        {
            warning.Should().Contain("neither put nor disposed");
            if (isTracked)
                warning.Should().Contain("Forget");
            else
                warning.Should().Contain(nameof(StorageOptions.CaptureTransactionStacks));
        }

        logger.Warnings.Should().Contain(warning => warning.Contains("102400 bytes")).And.Contain(warning => warning.Contains("131072 bytes"));
        StagingTestKit.CheckUnreserved(environment);
    }

    [Fact]
    public void Space_runs_out_and_comes_back()
    {
        var disk = new SimulatedDisk();
        using var environment = StagingTestKit.Open(disk);
        using (var first = StagingTestKit.Stage(environment, 1, 3_000_000))
            StagingTestKit.Put(environment, 1, first);
        environment.Flush();
        disk.SpaceLimit = disk.UsedBytes + (1 << 20);
        environment.Invoking(e => StagingTestKit.Stage(e, 2, 5_000_000)).Should().Throw<StorageFullException>();
        StagingTestKit.CheckUnreserved(environment);
        StagingTestKit.Check(environment, 1, 1, 3_000_000);

        // The file has grown as far as there was room, and the commit finds that space. The pages of the deleted value become available by a
        // flush, which the upload makes when it finds no room.
        StagingTestKit.Delete(environment, 1);
        using (var second = StagingTestKit.Stage(environment, 2, 2_500_000))
            StagingTestKit.Put(environment, 2, second);
        StagingTestKit.Check(environment, 2, 2, 2_500_000);
        disk.SpaceLimit = long.MaxValue;
        using (var third = StagingTestKit.Stage(environment, 3, 5_000_000))
            StagingTestKit.Put(environment, 3, third);
        StagingTestKit.Check(environment, 3, 3, 5_000_000);
        StagingTestKit.CheckUnreserved(environment);
    }

    [Fact]
    public void A_write_that_fails_ends_the_upload_alone()
    {
        var disk = new SimulatedDisk();
        using var environment = StagingTestKit.Open(disk);
        FaultTestKit.Put(environment, 1, [1]);
        foreach (var (error, type) in new[] { (DiskError.NoSpace, typeof(StorageFullException)), (DiskError.Failed, typeof(StorageAccessException)) })
        {
            disk.FailNext(call => call.Kind == DiskCallKind.Write && call.Name == Voron.Paging.DataFile.FileName, error);
            var thrown = Record.Exception(() => StagingTestKit.Stage(environment, 2, 300_000));
            thrown.Should().BeOfType(type);
            StagingTestKit.CheckUnreserved(environment);
        }

        using var staged = StagingTestKit.Stage(environment, 2, 300_000);
        StagingTestKit.Put(environment, 2, staged);
        StagingTestKit.Check(environment, 2, 2, 300_000);
    }

    [Fact]
    public void A_sync_that_fails_poisons_the_environment()
    {
        var disk = new SimulatedDisk();
        var environment = StagingTestKit.Open(disk);
        using (var first = StagingTestKit.Stage(environment, 1, 300_000))
            StagingTestKit.Put(environment, 1, first);
        StagingTestKit.Delete(environment, 1);
        environment.Flush();
        disk.FailNext(call => call.Kind == DiskCallKind.Sync && call.Name == Voron.Paging.DataFile.FileName, DiskError.Failed);
        environment.Invoking(e => StagingTestKit.Stage(e, 2, 200_000)).Should().Throw<EnvironmentPoisonedException>();
        environment.GetStatistics().IsPoisoned.Should().BeTrue();
        environment.GetStatistics().StagedBytes.Should().Be(0);
        environment.Invoking(e => e.BeginWrite()).Should().Throw<EnvironmentPoisonedException>();
        environment.Invoking(e => e.StageAsync(Stream.Null)).Should().Throw<EnvironmentPoisonedException>();
        environment.Dispose();
        using var reopened = StagingTestKit.Open(disk);
        StagingTestKit.CheckUnreserved(reopened);
    }

    [Fact]
    public async Task Uploads_that_end_together_share_a_sync()
    {
        var disk = new SimulatedDisk();
        using var environment = StagingTestKit.Open(disk);
        FaultTestKit.Put(environment, 1, [1]);
        var dataFile = disk.FileOf(Voron.Paging.DataFile.FileName);
        var pipes = Enumerable.Range(0, 20).Select(_ => new Pipe()).ToArray();
        var uploads = pipes.Select(pipe => environment.StageAsync(pipe.Reader, Cancellation).AsTask()).ToArray();
        foreach (var pipe in pipes)
            await pipe.Writer.WriteAsync(FaultTestKit.Value(1, 30_000), Cancellation);
        WaitUntilWritten(environment, 20 * (128 << 10));
        using var entered = new ManualResetEventSlim();
        using var released = new ManualResetEventSlim();
        var syncs = 0;
        disk.InProgress = entry =>
        {
            if (entry.Kind != TraceKind.Sync || entry.File != dataFile || Interlocked.Increment(ref syncs) > 1)
                return;
            entered.Set();
            released.Wait(TestWait.Limit);
        };
        foreach (var pipe in pipes)
            await pipe.Writer.CompleteAsync();
        entered.Wait(TestWait.Limit, Cancellation).Should().BeTrue();

        // The pages that an upload does not need are given back just before it asks for its sync.
        StagingTestKit.WaitUntil(() => environment.GetStatistics().StagedBytes == 20 * 32_768, "all uploads have ended");
        StagingTestKit.WaitUntil(() => environment.Internals.Staging!.Sync.Waiting == 19, "all but the first wait for the next sync");
        released.Set();
        var staged = await Task.WhenAll(uploads).WaitAsync(TestWait.Limit, Cancellation);
        disk.InProgress = null;
        syncs.Should().Be(2, "twenty uploads do not need twenty syncs");
        foreach (var one in staged)
            one.Dispose();
        StagingTestKit.CheckUnreserved(environment);
    }

    private static int LengthOf(int worker, int i) => 10_000 + worker * 37_123 + i * i * 6_789;

    private static async Task Upload(StorageEnvironment environment, int worker)
    {
        for (var i = 0; i < 12; i++)
        {
            var value = FaultTestKit.Value(worker * 1000 + i, LengthOf(worker, i));
            using var abandoned = await environment.StageAsync(new MemoryStream(value));
            using var staged = await environment.StageAsync(PipeReader.Create(new MemoryStream(value)));
            var key = worker * 100 + i;
            await environment.WriteAsync(writing => writing.CreateTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(key), staged));
        }
    }

    private static void Commit(StorageEnvironment environment, CancellationToken stop)
    {
        for (var i = 0; !stop.IsCancellationRequested; i++)
        {
            using var writing = environment.BeginWrite();
            var tree = writing.CreateTree("others");
            tree.Put(FaultTestKit.Key(i % 10), FaultTestKit.Value(i, i % 3 == 0 ? 200_000 : 500));
            if (i % 5 != 0)
                writing.Commit();
            writing.Dispose();
            if (i % 20 == 0)
                environment.ReclaimSpace();
        }
    }

    private static void Send(Pipe pipe, ReadOnlyMemory<byte> bytes) => pipe.Writer.WriteAsync(bytes, Cancellation).AsTask().GetAwaiter().GetResult();

    private static StagedValue Result(Task<StagedValue> upload) =>
        StagingTestKit.Wait(upload.WaitAsync(TestWait.Limit, Cancellation));

    // An upload asks for room before it writes the bytes that have arrived.
    private static void WaitUntilWritten(StorageEnvironment environment, long bytes) =>
        StagingTestKit.WaitUntil(() => environment.GetStatistics().StagedBytes >= bytes, "the bytes arrive");

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Forget(StorageEnvironment environment) => StagingTestKit.Stage(environment, 1, 100_000).Length.Should().Be(100_000);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void ForgetUpload(StorageEnvironment environment)
    {
        var pipe = new Pipe(new PipeOptions(pauseWriterThreshold: 0));
        environment.StageAsync(pipe.Reader).AsTask().IsCompleted.Should().BeFalse();
        Send(pipe, FaultTestKit.Value(1, 20_000));
        StagingTestKit.WaitUntil(() => environment.GetStatistics().StagedBytes > 102_400, "the upload has pages");
    }

    /// <summary>A stream that delivers nothing until its read is cancelled.</summary>
    private sealed class StalledStream : MemoryStream
    {
        public override bool CanSeek => false;

        public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
        {
            await Task.Delay(Timeout.Infinite, cancellationToken);
            return 0;
        }
    }
}
