using System.IO.Pipelines;
using Voron.Simulation.Disks;

namespace Voron.Tests.Faults;

/// <summary>A <c>PutAsync</c> that still waits for its stream, against every call that would end or undo it.</summary>
[Quick]
public sealed class PendingPutTests : IDisposable
{
    private const int Sent = 300_000;

    private readonly SimulatedDisk _disk = new();

    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    public void Dispose() => _disk.Dispose();

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_rollback_to_a_savepoint_undoes_the_put_and_no_other(bool failsLater)
    {
        using (var environment = StorageEnvironment.Open(_disk, FaultTestKit.Options()))
        {
            using var writing = environment.BeginWrite();
            var tree = writing.CreateTree(FaultTestKit.TreeName);
            tree.Put(FaultTestKit.Key(1), FaultTestKit.Value(1, 100));
            var savepoint = writing.CreateSavepoint();
            var (put, pipe) = await BeginPut(tree, 2);
            savepoint.Rollback();

            // Takes the pages that the put has had until now.
            tree.Put(FaultTestKit.Key(3), FaultTestKit.Value(3, 2 * Sent));
            await pipe.CompleteAsync(failsLater ? new IOException("the line is dead") : null);
            await FluentActions.Awaiting(() => put.WaitAsync(TestWait.Limit, Cancellation))
                .Should().ThrowAsync<InvalidOperationException>().WithMessage("*rolled back*PutAsync*items*");
            tree.Put(FaultTestKit.Key(4), FaultTestKit.Value(4, 2 * Sent));
            savepoint.Release();
            writing.Commit();
            environment.Verify().Problems.Should().BeEmpty();
        }

        using var reopened = StorageEnvironment.Open(_disk, FaultTestKit.Options());
        reopened.Verify().Problems.Should().BeEmpty();
        FaultTestKit.Get(reopened, 1).Should().Equal(FaultTestKit.Value(1, 100));
        FaultTestKit.Get(reopened, 2).Should().BeNull();
        FaultTestKit.Get(reopened, 3).Should().Equal(FaultTestKit.Value(3, 2 * Sent));
        FaultTestKit.Get(reopened, 4).Should().Equal(FaultTestKit.Value(4, 2 * Sent));
    }

    [Theory]
    [InlineData("commit")]
    [InlineData("commit async")]
    [InlineData("savepoint")]
    [InlineData("begin nested")]
    [InlineData("release")]
    [InlineData("commit nested")]
    [InlineData("delete tree")]
    public async Task A_call_that_the_put_would_not_survive_is_refused_and_the_put_continues(string call)
    {
        using var environment = StorageEnvironment.Open(_disk, FaultTestKit.Options());
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.CreateTree(FaultTestKit.TreeName);
            tree.Put(FaultTestKit.Key(1), FaultTestKit.Value(1, 100));
            var savepoint = writing.CreateSavepoint();
            var nested = writing.BeginNested();
            var (put, pipe) = await BeginPut(tree, 2);
            Action refused = call switch
            {
                "commit" => writing.Commit,
                "commit async" => () => writing.CommitAsync(Cancellation).AsTask().GetAwaiter().GetResult(),
                "savepoint" => () => writing.CreateSavepoint(),
                "begin nested" => () => writing.BeginNested(),
                "release" => savepoint.Release,
                "commit nested" => nested.Commit,
                _ => () => writing.DeleteTree(FaultTestKit.TreeName),
            };
            refused.Should().Throw<InvalidOperationException>().WithMessage("*PutAsync*000002*items*has not completed*");
            await pipe.WriteAsync(FaultTestKit.Value(2, 2 * Sent).AsMemory(Sent), Cancellation);
            await pipe.CompleteAsync();
            (await put.WaitAsync(TestWait.Limit, Cancellation)).Should().Be(2 * Sent);
            nested.Commit();
            savepoint.Release();
            writing.Commit();
        }

        FaultTestKit.Get(environment, 1).Should().Equal(FaultTestKit.Value(1, 100));
        FaultTestKit.Get(environment, 2).Should().Equal(FaultTestKit.Value(2, 2 * Sent));
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Theory]
    [InlineData("transaction")]
    [InlineData("nested")]
    [InlineData("savepoint")]
    public async Task A_disposal_ends_the_put_although_its_stream_gives_nothing_more(string disposed)
    {
        using var environment = StorageEnvironment.Open(_disk, FaultTestKit.Options());
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.CreateTree(FaultTestKit.TreeName);
            var savepoint = writing.CreateSavepoint();
            var nested = disposed == "nested" ? writing.BeginNested() : default;
            var (put, pipe) = await BeginPut(tree, 2);
            switch (disposed)
            {
                case "transaction":
                    writing.Dispose();
                    await FluentActions.Awaiting(() => put.WaitAsync(TestWait.Limit, Cancellation)).Should().ThrowAsync<ObjectDisposedException>();
                    return;
                case "nested":
                    nested.Dispose();
                    await FluentActions.Awaiting(() => put.WaitAsync(TestWait.Limit, Cancellation)).Should().ThrowAsync<InvalidOperationException>();
                    break;
                default:
                    // Keeps the changes, and the put continues.
                    savepoint.Dispose();
                    await pipe.CompleteAsync();
                    (await put.WaitAsync(TestWait.Limit, Cancellation)).Should().Be(Sent);
                    break;
            }

            tree.Put(FaultTestKit.Key(1), FaultTestKit.Value(1, Sent));
            writing.Commit();
        }

        FaultTestKit.Get(environment, 1).Should().Equal(FaultTestKit.Value(1, Sent));
        if (disposed == "savepoint")
            FaultTestKit.Get(environment, 2).Should().Equal(FaultTestKit.Value(2, 2 * Sent)[..Sent]);
        else
            FaultTestKit.Get(environment, 2).Should().BeNull();
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public async Task A_group_commit_operation_that_does_not_await_its_put_fails_alone()
    {
        using var environment = StorageEnvironment.Open(_disk, FaultTestKit.Options());
        FaultTestKit.Put(environment, 1, FaultTestKit.Value(1, 100));
        var pipe = new Pipe(new PipeOptions(pauseWriterThreshold: 0));
        await pipe.Writer.WriteAsync(FaultTestKit.Value(2, Sent), Cancellation);
        Task<long>? put = null;
        var faulty = environment.WriteAsync(
            writing => { put = writing.OpenTree(FaultTestKit.TreeName).PutAsync(FaultTestKit.Key(2), pipe.Reader, Cancellation).AsTask(); },
            Cancellation);
        var good = environment.WriteAsync(
            writing => writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(3), FaultTestKit.Value(3, Sent)), Cancellation);
        await FluentActions.Awaiting(() => faulty.AsTask().WaitAsync(TestWait.Limit, Cancellation))
            .Should().ThrowAsync<InvalidOperationException>().WithMessage("*PutAsync*000002*items*");
        await good;
        await FluentActions.Awaiting(() => put!.WaitAsync(TestWait.Limit, Cancellation)).Should().ThrowAsync<InvalidOperationException>();
        FaultTestKit.Get(environment, 2).Should().BeNull();
        FaultTestKit.Get(environment, 3).Should().Equal(FaultTestKit.Value(3, Sent));
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public async Task Puts_that_wait_side_by_side_are_all_there()
    {
        using var environment = StorageEnvironment.Open(_disk, FaultTestKit.Options());
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.CreateTree(FaultTestKit.TreeName);
            var puts = new List<(Task<long> Put, PipeWriter Pipe)>();
            for (var key = 0; key < 4; key++)
                puts.Add(await BeginPut(tree, key));

            // The threads of the puts run at the same time.
            await Task.WhenAll(puts.Select(async (entry, key) =>
            {
                for (var at = Sent; at < 4 * Sent; at += Sent / 10)
                    await entry.Pipe.WriteAsync(FaultTestKit.Value(key, 4 * Sent).AsMemory(at, Sent / 10), Cancellation);
                await entry.Pipe.CompleteAsync();
            }));
            foreach (var (put, _) in puts)
                (await put.WaitAsync(TestWait.Limit, Cancellation)).Should().Be(4 * Sent);
            writing.Commit();
        }

        for (var key = 0; key < 4; key++)
            FaultTestKit.Get(environment, key).Should().Equal(FaultTestKit.Value(key, 4 * Sent));
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public async Task A_short_stream_costs_what_it_holds_whatever_the_threshold_of_large_values_is()
    {
        var options = new StorageOptions { BackgroundFlush = false, LargeValueBytes = 256 << 20 };
        using var environment = StorageEnvironment.Open(_disk, options);
        using var writing = environment.BeginWrite();
        var tree = writing.CreateTree(FaultTestKit.TreeName);
        var before = GC.GetTotalAllocatedBytes();
        await tree.PutAsync(FaultTestKit.Key(1), new MemoryStream(FaultTestKit.Value(1, 10)), Cancellation);
        await tree.PutAsync(FaultTestKit.Key(2), new MemoryStream(FaultTestKit.Value(2, 10)), Cancellation);
        await tree.PutAsync(FaultTestKit.Key(3), new MemoryStream(FaultTestKit.Value(3, 1_000_000)), Cancellation);
        (GC.GetTotalAllocatedBytes() - before).Should().BeLessThan(64 << 20);
        writing.Commit();
        FaultTestKit.Get(environment, 2).Should().Equal(FaultTestKit.Value(2, 10));
        FaultTestKit.Get(environment, 3).Should().Equal(FaultTestKit.Value(3, 1_000_000));
    }

    // Returns when the put has taken the bytes sent so far, and waits for more.
    private static async Task<(Task<long> Put, PipeWriter Pipe)> BeginPut(WriteTree tree, int key)
    {
        var pipe = new Pipe(new PipeOptions(pauseWriterThreshold: 1, resumeWriterThreshold: 1, minimumSegmentSize: Sent));
        var put = tree.PutAsync(FaultTestKit.Key(key), pipe.Reader, Cancellation).AsTask();
        await pipe.Writer.WriteAsync(FaultTestKit.Value(key, 2 * Sent).AsMemory(0, Sent), Cancellation);
        return (put, pipe.Writer);
    }
}
