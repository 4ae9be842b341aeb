using Voron.Tests.Faults;

namespace Voron.Tests.Transactions;

/// <summary>The limit on the number of operations that wait for a group commit.</summary>
[Quick]
public sealed class QueueBoundTests
{
    private const int Most = 100;

    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_write_beyond_the_queue_is_refused_and_those_in_it_are_not()
    {
        using var environment = StorageEnvironment.OpenInMemory(new StorageOptions { BackgroundFlush = false, MaxQueuedOperations = Most });
        FaultTestKit.Put(environment, 0, [0]);
        using var cancelled = new CancellationTokenSource();
        var tasks = new List<Task>();
        Task last;
        TestThread blocked;
        using (environment.BeginWrite())
        {
            var taken = environment.WriteAsync(_ => { }, cancelled.Token).AsTask();
            for (var i = 1; i < Most; i++)
            {
                var key = i;
                tasks.Add(environment.WriteAsync(writing => Put(writing, key), Cancellation).AsTask());
            }

            for (var i = 0; i < 10; i++)
            {
                environment.Invoking(open => { _ = open.WriteAsync(_ => { }, Cancellation).AsTask(); }).Should().Throw<StorageFullException>()
                    .WithMessage($"*{Most} operations*{nameof(StorageOptions.MaxQueuedOperations)}*not committed*");
            }

            environment.GetStatistics().QueuedOperations.Should().Be(Most, "a refused operation takes no place");

            // A caller that blocks can have no more than one operation.
            blocked = new TestThread(() => environment.Write(writing => Put(writing, 1_000)));
            TestWait.Until(() => environment.GetStatistics().QueuedOperations == Most + 1);
            cancelled.Cancel();
            (await Record.ExceptionAsync(() => taken.WaitAsync(TestWait.Limit, Cancellation))).Should().BeAssignableTo<OperationCanceledException>();

            // The cancelled operation's place is free, and not taken by the caller that blocks.
            tasks.Add(environment.WriteAsync(writing => Put(writing, Most), Cancellation).AsTask());
            environment.Invoking(open => { _ = open.WriteAsync(_ => { }, Cancellation).AsTask(); }).Should().Throw<StorageFullException>();
        }

        await Task.WhenAll(tasks).WaitAsync(TestWait.Limit, Cancellation);
        blocked.Join().Should().BeNull();
        last = environment.WriteAsync(writing => Put(writing, 1_001), Cancellation).AsTask();
        await last.WaitAsync(TestWait.Limit, Cancellation);
        using var reading = environment.BeginRead();
        reading.OpenTree(FaultTestKit.TreeName).Count.Should().Be(Most + 3);
    }

    /// <summary>Callers that block were counted: with a few of them, nothing could be written without blocking.</summary>
    [Fact]
    public async Task Callers_that_block_take_no_place_in_the_queue()
    {
        const int Places = 4;
        const int Callers = 6;
        using var environment = StorageEnvironment.OpenInMemory(new StorageOptions { BackgroundFlush = false, MaxQueuedOperations = Places });
        FaultTestKit.Put(environment, 0, [0]);
        TestThread[] callers;
        Task[] tasks;
        using (environment.BeginWrite())
        {
            callers = Enumerable.Range(1, Callers).Select(i => new TestThread(() => environment.Write(writing => Put(writing, i)))).ToArray();
            TestWait.Until(() => environment.GetStatistics().QueuedOperations == Callers);
            tasks = Queue(environment, Places, 100);
            environment.Invoking(open => { _ = open.WriteAsync(_ => { }, Cancellation).AsTask(); }).Should().Throw<StorageFullException>();
            environment.GetStatistics().QueuedOperations.Should().Be(Callers + Places);
        }

        await Task.WhenAll(tasks).WaitAsync(TestWait.Limit, Cancellation);
        foreach (var caller in callers)
            caller.Join().Should().BeNull();

        // All places are free again.
        using (environment.BeginWrite())
            tasks = Queue(environment, Places, 200);
        await Task.WhenAll(tasks).WaitAsync(TestWait.Limit, Cancellation);
        FaultTestKit.Get(environment, 200 + Places - 1).Should().NotBeNull();
    }

    private static Task[] Queue(StorageEnvironment environment, int count, int firstKey) => Enumerable.Range(firstKey, count)
        .Select(key => environment.WriteAsync(writing => Put(writing, key), Cancellation).AsTask()).ToArray();

    private static void Put(WriteTransaction writing, int key) => writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(key), [1]);
}
