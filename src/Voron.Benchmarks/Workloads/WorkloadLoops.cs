using Voron.Benchmarks.Engines;

namespace Voron.Benchmarks.Workloads;

/// <summary>Runs the loop of each kind of workload.</summary>
internal static class WorkloadLoops
{
    /// <param name="engine">The open engine to measure.</param>
    /// <param name="request">The workload and its parameters.</param>
    /// <param name="run">Receives the figures.</param>
    /// <param name="afterTransaction">Called between measured transactions with the number of transactions done.</param>
    public static void Run(BenchmarkEngine engine, RunRequest request, TimedRun run, Action<long>? afterTransaction = null)
    {
        switch (request.Workload.Kind)
        {
            case WorkloadKind.ConcurrentInsert:
                ConcurrentLoop.Run(engine, request, run);
                break;
            case WorkloadKind.UpdateWhileReading:
                MixedLoop.Run(engine, request, run);
                break;
            case WorkloadKind.Get when request.Workload.Callers > 1:
                ReadLoop.RunThreads(engine, request, run);
                break;
            case WorkloadKind.Get or WorkloadKind.GetInOrder or WorkloadKind.GetMany or WorkloadKind.Open:
                ReadLoop.Run(engine, request, run);
                break;
            case WorkloadKind.ScanForward or WorkloadKind.ScanBackward:
                ScanLoop.Run(engine, request.Operations, request.Workload.Kind == WorkloadKind.ScanBackward, run);
                break;
            default:
                WriteLoop.Run(engine, request, run, afterTransaction);
                break;
        }
    }
}
