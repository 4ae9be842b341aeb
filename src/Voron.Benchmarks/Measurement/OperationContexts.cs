using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using Voron.Benchmarks.Reporting;

namespace Voron.Benchmarks.Measurement;

/// <summary>
/// Measures operations of group commits with and without the flow of the caller's execution context into them. Both run in one process, on
/// environments in memory, and in turn: the difference is smaller than that of two runs one after the other.
/// </summary>
[SuppressMessage("Reliability", "CA2012", Justification = "Each task is awaited once, after all operations are waiting.")]
internal sealed class OperationContexts : IDisposable
{
    /// <summary>The operations of one measurement, of which many share a transaction.</summary>
    public const int Operations = 1_000;

    private const int WarmRounds = 200;

    private const string TreeName = "items";

    private static readonly AsyncLocal<string?> Ambient = new();

    private static readonly Action<WriteTransaction> Put = static writing => writing.OpenTree(TreeName).Put("key"u8, "value"u8);

    private readonly ValueTask[] _tasks = new ValueTask[Operations];
    private readonly StorageEnvironment _flowing = Open(flows: true);
    private readonly StorageEnvironment _separate = Open(flows: false);

    /// <summary>Measures every call with every context of the caller.</summary>
    /// <param name="rounds">The number of measurements of each.</param>
    public async Task<List<OperationContextRow>> MeasureAsync(int rounds)
    {
        // The runtime compiles the code in tiers while it runs first.
        await MeasureAllAsync(Math.Min(rounds, WarmRounds)).ConfigureAwait(false);
        return await MeasureAllAsync(rounds).ConfigureAwait(false);
    }

    public void Dispose()
    {
        _flowing.Dispose();
        _separate.Dispose();
    }

    private static StorageEnvironment Open(bool flows)
    {
        var environment = StorageEnvironment.OpenInMemory(new InMemoryOptions { FlowExecutionContext = flows });
        environment.Write(static writing => { writing.CreateTree(TreeName); });
        return environment;
    }

    private async Task<List<OperationContextRow>> MeasureAllAsync(int rounds)
    {
        var rows = new List<OperationContextRow>();
        foreach (var context in Enum.GetValues<CallerContext>())
        {
            rows.Add(await MeasureAsync("WriteAsync", context, rounds, QueueAll).ConfigureAwait(false));
            rows.Add(await MeasureAsync("WriteAsync, state", context, rounds, QueueAllWithState).ConfigureAwait(false));
            rows.Add(await MeasureAsync("Write", context, rounds, WriteAll).ConfigureAwait(false));
        }

        return rows;
    }

    private async Task<OperationContextRow> MeasureAsync(string call, CallerContext context, int rounds, Action<StorageEnvironment> begin)
    {
        var flowing = new List<OperationCost>();
        var separate = new List<OperationCost>();
        for (var round = 0; round < rounds; round++)
        {
            // The one that comes second finds the caches as the first has left them.
            var flowsFirst = round % 2 == 0;
            var first = await RunAsync(flowsFirst ? _flowing : _separate, context, begin).ConfigureAwait(false);
            var second = await RunAsync(flowsFirst ? _separate : _flowing, context, begin).ConfigureAwait(false);
            (flowsFirst ? flowing : separate).Add(first);
            (flowsFirst ? separate : flowing).Add(second);
        }

        return new OperationContextRow(call, context, Medians(flowing), Medians(separate));

        static OperationCost Medians(List<OperationCost> costs) => new(
            Figures.Median(costs.Select(cost => cost.Nanoseconds)), Figures.Median(costs.Select(cost => cost.AllocatedBytes)));
    }

    private async Task<OperationCost> RunAsync(StorageEnvironment environment, CallerContext context, Action<StorageEnvironment> begin)
    {
        var before = GC.GetTotalAllocatedBytes(precise: true);
        var started = Stopwatch.GetTimestamp();
        RunIn(context, begin, environment);
        foreach (var task in _tasks)
            await task.ConfigureAwait(false);
        var ended = Stopwatch.GetTimestamp();
        var allocated = GC.GetTotalAllocatedBytes(precise: true) - before;

        // Otherwise a flush would begin in the midst of a measurement at times.
        environment.Flush();
        return new OperationCost(Clock.Nanoseconds(started, ended) / (double)Operations, allocated / (double)Operations);
    }

    private static void RunIn(CallerContext context, Action<StorageEnvironment> begin, StorageEnvironment environment)
    {
        switch (context)
        {
            case CallerContext.AsyncLocal:
                Ambient.Value = "value";
                begin(environment);
                Ambient.Value = null;
                break;
            case CallerContext.Activity:
                using (new Activity("caller").Start())
                    begin(environment);
                break;
            case CallerContext.Suppressed:
                using (ExecutionContext.SuppressFlow())
                    begin(environment);
                break;
            default:
                begin(environment);
                break;
        }
    }

    private void QueueAll(StorageEnvironment environment)
    {
        for (var i = 0; i < _tasks.Length; i++)
            _tasks[i] = environment.WriteAsync(Put);
    }

    private void QueueAllWithState(StorageEnvironment environment)
    {
        for (var i = 0; i < _tasks.Length; i++)
            _tasks[i] = environment.WriteAsync((byte)i, static (writing, value) => writing.OpenTree(TreeName).Put("key"u8, [value]));
    }

    private void WriteAll(StorageEnvironment environment)
    {
        for (var i = 0; i < _tasks.Length; i++)
        {
            environment.Write(Put);
            _tasks[i] = default;
        }
    }
}

/// <summary>What a caller has set that may flow into its operations.</summary>
internal enum CallerContext
{
    /// <summary>Nothing.</summary>
    Default,

    /// <summary>An <see cref="AsyncLocal{T}"/> has a value.</summary>
    AsyncLocal,

    /// <summary>There is a current activity.</summary>
    Activity,

    /// <summary>The caller has suppressed the flow.</summary>
    Suppressed,
}

/// <summary>The cost of an operation.</summary>
/// <param name="Nanoseconds">The time.</param>
/// <param name="AllocatedBytes">The managed memory that all threads allocate.</param>
internal sealed record OperationCost(double Nanoseconds, double AllocatedBytes);

/// <summary>The figures of one call in one context.</summary>
/// <param name="Call">The call.</param>
/// <param name="Context">The context of its caller.</param>
/// <param name="Flowing">The medians with the flow.</param>
/// <param name="Separate">The medians without it.</param>
internal sealed record OperationContextRow(string Call, CallerContext Context, OperationCost Flowing, OperationCost Separate);
