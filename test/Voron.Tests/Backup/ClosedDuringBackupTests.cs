using System.Runtime.InteropServices;
using Voron.Format;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;
using static Voron.Tests.Backup.BackupTestKit;

namespace Voron.Tests.Backup;

/// <summary>
/// Environments that are closed while the target of a backup hangs in a write: closing never waits for it, and nothing of the environment is in use
/// afterwards, whatever the target does.
/// </summary>
public sealed class ClosedDuringBackupTests
{
    private static readonly byte[] Large = FaultTestKit.Value(1, 100_000);

    public static TheoryData<string, string, bool> Cases
    {
        get
        {
            var cases = new TheoryData<string, string, bool>();
            foreach (var moment in new[] { "beginning", "early round", "last round", "trailer", "flush" })
            {
                foreach (var way in new[] { "heeds", "ignores", "blocks" })
                {
                    cases.Add(moment, way, true);
                    if (moment == "early round")
                        cases.Add(moment, way, false);
                }
            }

            return cases;
        }
    }

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [MemberData(nameof(Cases))]
    public async Task Closing_does_not_wait_for_a_target_that_hangs(string moment, string way, bool tracksChanges)
    {
        var disk = MakeEnvironment();
        var environment = StorageEnvironment.Open(disk, new StorageOptions(PatientOptions()) { TrackChanges = tracksChanges });
        using var stream = new HangingStream(moment, way);
        var backup = Begin(environment, stream, CancellationToken.None);
        await stream.Hangs.WaitAsync(TestWait.Limit, Token);

        if (way == "blocks")
            await Task.Run(environment.Dispose, Token).WaitAsync(TestWait.Limit, Token);
        else
            await environment.DisposeAsync().AsTask().WaitAsync(TestWait.Limit, Token);
        (disk.OpenFiles, disk.HeldLocks).Should().Be((0, 0), "nothing of the environment is in use");
        Reopen(disk);

        if (way != "heeds")
        {
            backup.IsCompleted.Should().BeFalse("the stream is the user's until its write has returned");
            stream.Release();
        }

        // A flush is the last that a backup waits for: one that has returned, has completed the backup.
        if (moment == "flush" && way != "heeds")
        {
            var report = await backup.WaitAsync(TestWait.Limit, Token);
            (await Verify(stream.ToArray())).BackupId.Should().Be(report.BackupId);
            return;
        }

        var failure = await Assert.ThrowsAsync<ObjectDisposedException>(() => backup.WaitAsync(TestWait.Limit, Token));
        failure.Message.Should().Contain("closed during the backup");

        // What the stream has is no backup, unless only the flush was missing.
        if (moment is not ("flush" or "trailer"))
            await Assert.ThrowsAsync<BackupException>(() => Verify(stream.ToArray()));
    }

    [Theory]
    [InlineData("early round")]
    [InlineData("last round")]
    [InlineData("trailer")]
    [InlineData("beginning")]
    public async Task A_cancelled_backup_whose_target_hangs_does_not_delay_closing(string moment)
    {
        var disk = MakeEnvironment();
        var environment = StorageEnvironment.Open(disk, PatientOptions());
        using var stream = new HangingStream(moment, "ignores");
        using var stop = new CancellationTokenSource();
        var backup = Begin(environment, stream, stop.Token);
        await stream.Hangs.WaitAsync(TestWait.Limit, Token);
        await stop.CancelAsync();
        await WaitUntilNothingIsHeld(environment);
        await Task.Run(environment.Dispose, Token).WaitAsync(TestWait.Limit, Token);
        (disk.OpenFiles, disk.HeldLocks).Should().Be((0, 0));
        Reopen(disk);
        stream.Release();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => backup.WaitAsync(TestWait.Limit, Token));
    }

    // A closing that waited for the target would do so for an hour.
    private static StorageOptions PatientOptions() => new(Options()) { ClosingPatience = TimeSpan.FromHours(1) };

    // A snapshot that was held would keep the flush from the newest state.
    private static async Task WaitUntilNothingIsHeld(StorageEnvironment environment)
    {
        environment.Write(writing => writing.CreateTree("after").Put("key"u8, Large));
        await TestWait.UntilAsync(() =>
        {
            environment.Flush();
            return environment.GetStatistics() is var now && now.CheckpointTransactionId == now.PublishedTransactionId;
        });
    }

    // When all pages have been copied once, a commit changes some of them: the last round copies those.
    private static Task<BackupReport> Begin(StorageEnvironment environment, HangingStream stream, CancellationToken stop)
    {
        var options = new BackupOptions
        {
            Progress = new SynchronousProgress<BackupProgress>(progress =>
            {
                if (progress.PagesCopied < progress.PagesExpected || stream.IsSwept)
                    return;
                environment.Write(writing => writing.OpenTree("t").Put(FaultTestKit.Key(3), Large));
                stream.IsSwept = true;
            }),
        };
        return environment.BackupAsync(stream, options, stop).AsTask();
    }

    private static void Reopen(SimulatedDisk disk)
    {
        using var again = StorageEnvironment.Open(disk, Options());
        again.Verify().Problems.Should().BeEmpty();
        again.Write(writing => writing.CreateTree("again").Put("key"u8, "value"u8));
    }

    /// <summary>A stream that hangs in one of its calls.</summary>
    /// <param name="moment">The call.</param>
    /// <param name="way">Whether it heeds its token, ignores it, or blocks its thread and ignores it.</param>
    private sealed class HangingStream(string moment, string way) : MemoryStream
    {
        private readonly TaskCompletionSource _hangs = new(TaskCreationOptions.RunContinuationsAsynchronously);
        private readonly TaskCompletionSource _released = new(TaskCreationOptions.RunContinuationsAsynchronously);
        private int _writes;

        public Task Hangs => _hangs.Task;

        /// <summary>True when all pages have been copied once.</summary>
        public bool IsSwept { get; set; }

        public void Release() => _released.SetResult();

        public override async ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
        {
            var number = _writes++;
            var kind = buffer.Length >= BackupFrame.Size && number > 0 ? MemoryMarshal.Read<BackupFrame>(buffer.Span).Kind : default;
            var isHere = moment switch
            {
                "beginning" => number == 0,
                "early round" => number == 1,
                "last round" => IsSwept && kind == BackupFrameKind.Pages,
                "trailer" => kind == BackupFrameKind.Trailer,
                _ => false,
            };
            if (isHere)
                await Hang(cancellationToken);
            Write(buffer.Span);
        }

        public override async Task FlushAsync(CancellationToken cancellationToken)
        {
            if (moment == "flush")
                await Hang(cancellationToken);
        }

        private async Task Hang(CancellationToken stop)
        {
            _hangs.TrySetResult();
            if (way == "heeds")
                await Task.Delay(Timeout.Infinite, stop);
            else if (way == "ignores")
                await _released.Task;
            else
                _released.Task.Wait(CancellationToken.None);
        }
    }
}
