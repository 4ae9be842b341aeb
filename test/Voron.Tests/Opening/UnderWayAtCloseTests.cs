using Voron.IO;
using Voron.Opening;
using Voron.Simulation.Disks;

namespace Voron.Tests.Opening;

public sealed class UnderWayAtCloseTests
{
    private static readonly StorageOptions NoBackground =
        new() { BackgroundFlush = false, InitialJournalFileBytes = 65536, MaxJournalFileBytes = 65536 };

    [Fact]
    public void A_closed_environment_refuses_readers_and_is_released_once()
    {
        var disk = new SimulatedDisk();
        var closed = StorageEnvironment.Open(disk, NoBackground);
        closed.Dispose();
        using var open = StorageEnvironment.Open(disk, NoBackground);
        for (var i = 0; i < 10; i++)
            closed.Invoking(environment => environment.BeginRead()).Should().Throw<ObjectDisposedException>();
        disk.HeldLocks.Should().Be(2);
        open.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public async Task Commits_that_are_under_way_are_finished_by_closing()
    {
        var disk = new SimulatedDisk();
        var environment = StorageEnvironment.Open(disk, NoBackground);
        ValueTask last = default;
        for (var i = 0; i < 20; i++)
        {
            using var writing = environment.BeginWrite();
            writing.CreateTree("users").Put(BitConverter.GetBytes(i), "value"u8);
            last = writing.CommitAsync(CancellationToken.None);
        }

        environment.Dispose();
        await last;
        disk.HeldLocks.Should().Be(0);
        disk.OpenFiles.Should().Be(0);
    }

    [Fact]
    public async Task A_flush_that_waits_for_an_open_writer_does_not_keep_the_environment_from_closing()
    {
        var disk = new SimulatedDisk();
        var environment = StorageEnvironment.Open(disk, NoBackground);
        Put(environment, 1);
        var writing = environment.BeginWrite();
        var checkpointed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        disk.FailNext(
            call =>
            {
                if (call.Kind == DiskCallKind.Write && call.Name == Voron.Paging.HeaderFile.FileName)
                    checkpointed.TrySetResult();
                return false;
            },
            DiskError.Failed);

        // The checkpoint of the flush is durable; the remaining work needs the writer, which is taken.
        var flushing = Task.Run(environment.Flush, TestContext.Current.CancellationToken);
        await checkpointed.Task;
        var closing = Task.Run(environment.Dispose, TestContext.Current.CancellationToken);
        (await flushing.WaitAsync(TestWait.Limit, TestContext.Current.CancellationToken)).Should().NotBeNull();
        writing.Dispose();
        await closing;
        disk.HeldLocks.Should().Be(0);
    }

    [Fact]
    public void An_observer_that_throws_stops_no_commit_and_no_flush()
    {
        var disk = new SimulatedDisk();
        var options = new StorageOptions
        {
            BackgroundFlush = false,
            CommitObserver = _ => throw new InvalidOperationException("observer"),
            FlushObserver = _ => throw new InvalidOperationException("observer"),
        };
        using (var environment = StorageEnvironment.Open(disk, options))
        {
            Put(environment, 1);
            Put(environment, 2);
        }

        disk.HeldLocks.Should().Be(0);
        using var again = StorageEnvironment.Open(disk, NoBackground);
        using var reading = again.BeginRead();
        reading.OpenTree("users").Count.Should().Be(2);
    }

    [Fact]
    public void A_creation_that_is_broken_off_twice_can_be_begun_again()
    {
        var seed = TestSeed.Choose();
        var random = new Random(seed);
        var first = new SimulatedDisk();
        EnvironmentLock.Take(first, NoBackground).Dispose();
        for (var cut = 0; cut < first.TraceCount; cut++)
        {
            var second = new CrashImages(first).BuildKilled(cut);
            EnvironmentLock.Take(second, NoBackground).Dispose();
            for (var secondCut = 0; secondCut < second.TraceCount; secondCut++)
            {
                for (var i = 0; i < SuiteShare.Rounds(8); i++)
                {
                    var found = new CrashImages(second).Build(secondCut, random);
                    var open = () => StorageEnvironment.Open(found, NoBackground).Dispose();
                    open.Should().NotThrow($"seed {seed}, cuts {cut} and {secondCut}");
                }
            }
        }
    }

    private static void Put(StorageEnvironment environment, int key)
    {
        using var writing = environment.BeginWrite();
        writing.CreateTree("users").Put(BitConverter.GetBytes(key), "value"u8);
        writing.Commit();
    }
}
