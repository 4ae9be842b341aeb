using Voron.Simulation.Memory;
using Voron.Tests.Faults;

namespace Voron.Tests.Transactions;

/// <summary>
/// In the steady state, an operation of a group commit allocates no managed memory of its own, whatever its shape and whatever context flows into it.
/// Alone, because several threads have part in it, and the runtime counts the allocations of all together.
/// </summary>
[Collection(nameof(Alone))]
[Quick]
public sealed class OperationAllocationTests(ITestOutputHelper output)
{
    private const int Rounds = 40;
    private const int OperationsPerRound = 64;

    private static readonly AsyncLocal<string?> Ambient = new();

    private static readonly byte[] Key = FaultTestKit.Key(1);
    private static readonly byte[] Value = FaultTestKit.Value(1, 50);

    private static readonly Action<WriteTransaction> Put = static writing => writing.OpenTree(FaultTestKit.TreeName).Put(Key, Value);

    // The locks of the engine allocate in this process, where a schedule could decide which thread gets them: as much for a transaction of
    // its own as for an operation.
    [Theory]
    [InlineData(true, false)]
    [InlineData(true, true)]
    [InlineData(false, true)]
    public void A_blocking_caller_allocates_no_more_than_a_transaction_of_its_own(bool flows, bool hasValue)
    {
        using var environment = Open(flows);
        Ambient.Value = hasValue ? "value" : null;
        var own = Least(() => CommitFour(environment));
        var least = Least(() =>
        {
            environment.Write(Put);
            environment.Write(static writing => writing.OpenTree(FaultTestKit.TreeName).Count);
            environment.Write(Value, static (writing, value) => writing.OpenTree(FaultTestKit.TreeName).Put(Key, value));
            environment.Write((Key, Value),
                    static (writing, both) => writing.OpenTree(FaultTestKit.TreeName).Insert(both.Key, both.Value));
        });
        output.WriteLine($"{own} bytes for transactions, {least} for operations");
        least.Should().BeLessThanOrEqualTo(own);

        static long Least(Action four)
        {
            var least = long.MaxValue;
            for (var round = 0; round < Rounds; round++)
            {
                var before = GC.GetAllocatedBytesForCurrentThread() - MemoryCase.ManagedBytes;
                for (var i = 0; i < OperationsPerRound; i += 4)
                    four();
                least = Math.Min(least, GC.GetAllocatedBytesForCurrentThread() - MemoryCase.ManagedBytes - before);
            }

            return least;
        }
    }

    [Theory]
    [InlineData(true, false)]
    [InlineData(true, true)]
    [InlineData(false, true)]
    public async Task A_waiting_caller_allocates_no_more_either_on_any_thread(bool flows, bool hasValue)
    {
        using var environment = Open(flows);
        Ambient.Value = hasValue ? "value" : null;
        var (own, least) = (long.MaxValue, long.MaxValue);
        for (var round = 0; round < Rounds; round++)
        {
            var before = GC.GetTotalAllocatedBytes(precise: true);
            for (var i = 0; i < OperationsPerRound; i += 4)
                CommitFour(environment);
            own = Math.Min(own, GC.GetTotalAllocatedBytes(precise: true) - before);
        }

        for (var round = 0; round < Rounds; round++)
        {
            var before = GC.GetTotalAllocatedBytes(precise: true);
            for (var i = 0; i < OperationsPerRound; i += 4)
            {
                await environment.WriteAsync(Put, CancellationToken.None);
                await environment.WriteAsync(static writing => writing.OpenTree(FaultTestKit.TreeName).Count, CancellationToken.None);
                await environment.WriteAsync(
                    Value, static (writing, value) => writing.OpenTree(FaultTestKit.TreeName).Put(Key, value), CancellationToken.None);
                await environment.WriteAsync(
                    (Key, Value),
                    static (writing, both) => writing.OpenTree(FaultTestKit.TreeName).Insert(both.Key, both.Value), CancellationToken.None);
            }

            least = Math.Min(least, GC.GetTotalAllocatedBytes(precise: true) - before);
        }

        output.WriteLine($"{own} bytes for transactions, {least} for operations");

        // Less than a byte for each: the rest of the process is in it.
        least.Should().BeLessThan(own + OperationsPerRound);
    }

    // The measurement itself: a closure must show.
    [Fact]
    public void A_closure_is_seen()
    {
        using var environment = Open(flows: true);
        var value = Value;
        var least = long.MaxValue;
        var without = long.MaxValue;
        for (var round = 0; round < Rounds; round++)
        {
            var own = value;
            var before = GC.GetAllocatedBytesForCurrentThread() - MemoryCase.ManagedBytes;
            environment.Write(writing => writing.OpenTree(FaultTestKit.TreeName).Put(Key, own));
            var between = GC.GetAllocatedBytesForCurrentThread() - MemoryCase.ManagedBytes;
            environment.Write(Put);
            least = Math.Min(least, between - before);
            without = Math.Min(without, GC.GetAllocatedBytesForCurrentThread() - MemoryCase.ManagedBytes - between);
        }

        least.Should().BeGreaterThan(without);
    }

    // The same work as that of the four operations.
    private static void CommitFour(StorageEnvironment environment)
    {
        for (var i = 0; i < 4; i++)
        {
            using var writing = environment.BeginWrite();
            var tree = writing.OpenTree(FaultTestKit.TreeName);
            if (i is 0 or 2)
                tree.Put(Key, Value);
            else
                tree.Insert(Key, Value);
            writing.Commit();
        }
    }

    private static StorageEnvironment Open(bool flows)
    {
        var environment = StorageEnvironment.OpenInMemory(new StorageOptions { BackgroundFlush = false, FlowExecutionContext = flows });
        environment.Write(static writing => writing.CreateTree(FaultTestKit.TreeName).Put(Key, Value));
        return environment;
    }
}
