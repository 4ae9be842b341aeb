using System.Diagnostics;
using Voron.Tests.Faults;

namespace Voron.Tests.Transactions;

/// <summary>
/// An operation sees the execution context of its own caller, whichever thread runs it, and leaves no trace in that of any other.
/// </summary>
[Quick]
public sealed class OperationContextTests
{
    private static readonly AsyncLocal<string?> Ambient = new();

    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    private static StorageOptions Options(bool flows = true) => new()
    {
        BackgroundFlush = false,
        FlowExecutionContext = flows,
        MaxGroupCommitDuration = TimeSpan.FromMinutes(1),
    };

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Each_operation_of_a_batch_sees_the_values_of_its_own_caller(bool flows)
    {
        using var environment = StorageEnvironment.OpenInMemory(Options(flows));
        var seen = new string?[6];
        var activities = new string?[6];
        var threads = new int[6];
        var tasks = new List<Task>();
        TestThread leader;
        using (environment.BeginWrite())
        {
            // This caller blocks, and runs the operations of the others.
            leader = new TestThread(() =>
            {
                Ambient.Value = "leader";
                environment.Write(_ => Note(0));
                Ambient.Value.Should().Be("leader");
                Activity.Current.Should().BeNull();
            });
            TestWait.Until(() => environment.GetStatistics().QueuedOperations == 1);
            for (var i = 1; i < seen.Length; i++)
                tasks.Add(Queue(i));
        }

        leader.Join().Should().BeNull();
        await Task.WhenAll(tasks).WaitAsync(TestWait.Limit, Cancellation);
        threads.Distinct().Should().ContainSingle("the test is about operations that run on the thread of another caller");
        seen.Should().Equal(flows ? ["leader", "caller 1", "caller 2", "caller 3", "caller 4", "caller 5"] : new string?[6]);
        activities.Should().Equal(flows ? [null, "activity 1", "activity 2", "activity 3", "activity 4", "activity 5"] : new string?[6]);

        void Note(int i)
        {
            seen[i] = Ambient.Value;
            activities[i] = Activity.Current?.OperationName;
            threads[i] = Environment.CurrentManagedThreadId;

            // Neither the next operation nor the thread may see this.
            Ambient.Value = "left behind";
            Activity.Current = new Activity("left behind").Start();
        }

        async Task Queue(int i)
        {
            using var activity = new Activity($"activity {i}").Start();
            Ambient.Value = $"caller {i}";
            await environment.WriteAsync(_ => Note(i), Cancellation);
            Ambient.Value.Should().Be($"caller {i}", "an operation changes nothing in the context of its caller either");
            Activity.Current.Should().BeSameAs(activity);
        }
    }

    [Fact]
    public async Task A_caller_that_suppresses_the_flow_passes_nothing_on()
    {
        using var environment = StorageEnvironment.OpenInMemory(Options());
        var seen = new string?[] { "not run", "not run" };
        Task task;
        TestThread leader;
        using (environment.BeginWrite())
        {
            leader = new TestThread(() =>
            {
                Ambient.Value = "leader";
                environment.Write(_ => seen[0] = Ambient.Value);
            });
            TestWait.Until(() => environment.GetStatistics().QueuedOperations == 1);
            Ambient.Value = "caller";
            using (ExecutionContext.SuppressFlow())
            {
                task = environment.WriteAsync(
                    _ =>
                    {
                        seen[1] = Ambient.Value;
                        Ambient.Value = "left behind";
                        ExecutionContext.IsFlowSuppressed().Should().BeFalse();
                    },
                    Cancellation).AsTask();
            }
        }

        leader.Join().Should().BeNull();
        await task.WaitAsync(TestWait.Limit, Cancellation);
        seen.Should().Equal("leader", null);
        Ambient.Value.Should().Be("caller");
    }

    [Fact]
    public void A_thread_that_blocks_keeps_its_own_values_and_its_suppressed_flow()
    {
        using var environment = StorageEnvironment.OpenInMemory(Options());
        Ambient.Value = "before";
        environment.Write(_ => Ambient.Value = "inside");
        Ambient.Value.Should().Be("before");
        environment.Invoking(open => open.Write(_ =>
        {
            Ambient.Value = "inside";
            throw new InvalidDataException();
        })).Should().Throw<InvalidDataException>();
        Ambient.Value.Should().Be("before");
        using (ExecutionContext.SuppressFlow())
        {
            environment.Write(_ => Ambient.Value.Should().BeNull());
            ExecutionContext.IsFlowSuppressed().Should().BeTrue();
        }

        Ambient.Value.Should().Be("before");
    }

    [Fact]
    public async Task An_operation_that_runs_again_starts_with_the_values_of_its_caller()
    {
        using var environment = StorageEnvironment.OpenInMemory(new StorageOptions
        {
            BackgroundFlush = false,
            MaxTransactionBytes = 1 << 20,
            MaxGroupCommitDuration = TimeSpan.FromMinutes(1),
        });
        var seen = new List<string?>();
        Ambient.Value = "caller";
        var tasks = GroupCommitTests.QueueTogether(environment, 2, (writing, i) =>
        {
            if (i == 1)
                seen.Add(Ambient.Value);
            Ambient.Value = $"changed by {i}";
            var tree = writing.CreateTree(FaultTestKit.TreeName);
            for (var key = 0; key < 280; key++)
                tree.Put(FaultTestKit.Key((1000 * i) + key), FaultTestKit.Value(key, 2000));
        });
        foreach (var task in tasks)
            await task.WaitAsync(TestWait.Limit, Cancellation);
        seen.Should().Equal(["caller", "caller"], "beside the first operation it found no room, and ran again alone");
    }
}
