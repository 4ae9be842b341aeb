using System.CommandLine;
using System.Text.Json;
using Spectre.Console;

namespace Voron.Benchmarks.Commands;

/// <summary>One phase under one limit.</summary>
/// <param name="LimitBytes">The limit of the group; null for none.</param>
/// <param name="Result">What the process reported; null if it was ended before.</param>
internal sealed record MemoryLimitRow(
    MemoryPhase Phase, long? LimitBytes, bool WasKilled, long PeakBytes, long AnonymousBytes, MemoryPhaseResult? Result)
{
    public double? OperationsPerSecond => Result?.Operations / Result?.Seconds;
}

/// <summary>
/// Runs puts, updates behind a reader, one large transaction and a recovery in processes whose memory is limited as that of a container is, with
/// default options. Shows whether they survive, the memory they take, and what the limit costs.
/// </summary>
internal static class MemoryLimitsCommand
{
    /// <summary>The command that runs one phase in its process.</summary>
    public const string PhaseName = "memory-run";

    private const long MiB = 1 << 20;
    private const int SpaceFactor = 8;

    public static Command Create()
    {
        var limits = new Option<long[]>("--limits")
        {
            Description = "The limits of memory, page cache included, in MiB.",
            DefaultValueFactory = _ => [128, 512, 2048],
            AllowMultipleArgumentsPerToken = true,
            HelpName = "MIB",
        };
        var puts = CommandOptions.Number("--puts", "Puts of the first phase; the others do a quarter of that each.", 2_000_000);
        return CommandOptions.Create(
            "memory-limits", "Measures what a limit of memory costs, in a memory cgroup for each limit.",
            async (parsed, session, stop) =>
            {
                long items = parsed.GetValue(puts);
                session.CheckDevice(items * (ItemGenerator.KeyBytes + ItemGenerator.ValueBytes) * SpaceFactor);
                long?[] groups = [null, .. parsed.GetRequiredValue(limits).Select(limit => (long?)(limit * MiB))];
                var rows = new List<MemoryLimitRow>();
                foreach (var limit in groups)
                    rows.AddRange(await MeasureAsync(session.Area, items, limit, stop).ConfigureAwait(false));
                session.FinishWith(Report(rows), new { session.Machine, rows });
            },
            limits, puts);
    }

    /// <summary>The command that runs one phase in this process. The result goes to standard output as JSON.</summary>
    public static Command CreatePhase()
    {
        var phase = new Argument<MemoryPhase>("phase");
        var directory = new Argument<string>("directory");
        var items = new Argument<long>("items");
        var limit = new Option<long?>("--memory-limit-bytes");
        var command = new Command(PhaseName, "Runs one phase of memory-limits in this process and prints its result as JSON.")
        {
            phase, directory, items, limit,
        };
        command.Hidden = true;
        command.SetAction(parsed =>
        {
            var workload = new MemoryWorkload(parsed.GetRequiredValue(directory), parsed.GetValue(items), parsed.GetValue(limit));
            Print(workload.Run(parsed.GetValue(phase), result =>
            {
                Print(result);

                // Ends by a signal instead of an exit, so that no code of the engine can clean up.
                Process.GetCurrentProcess().Kill();
            }));
        });
        return command;

        static void Print(MemoryPhaseResult result)
        {
            Console.Out.WriteLine(JsonSerializer.Serialize(result, ResultFile.Json));
            Console.Out.Flush();
        }
    }

    private static async Task<List<MemoryLimitRow>> MeasureAsync(WorkArea area, long items, long? limit, CancellationToken stop)
    {
        var rows = new List<MemoryLimitRow>();
        var path = area.StorePath("voron", limit is { } bytes ? (bytes / MiB).ToString(CultureInfo.InvariantCulture) : "unlimited");
        foreach (var phase in Enum.GetValues<MemoryPhase>())
        {
            // The journal may come from a larger machine, so it is left without a limit.
            var row = await MeasureAsync(path, phase, items, phase == MemoryPhase.LeaveJournal ? null : limit, stop).ConfigureAwait(false);
            AnsiConsole.WriteLine(
                $"{Name(phase)}, {LimitOf(row)}: {(row.WasKilled ? "killed" : $"{Figures.Count(row.OperationsPerSecond)} puts/s")}");
            if (phase != MemoryPhase.LeaveJournal)
                rows.Add(row);
            LinuxCalls.ForgetDirectory(path);
        }

        Directory.Delete(path, recursive: true);
        return rows;
    }

    private static async Task<MemoryLimitRow> MeasureAsync(string path, MemoryPhase phase, long items, long? limit, CancellationToken stop)
    {
        var reason = "";
        using var group = MemoryGroup.TryCreate(limit, text => reason = text) ?? throw new BenchmarkException(reason);
        var start = MeasuringProcess.StartInfo(PhaseName, phase.ToString(), path, items.ToString(CultureInfo.InvariantCulture));
        var ended = await group.RunAsync(start, stop).ConfigureAwait(false);
        var result = ended.Output.TrimEnd().EndsWith('}') ? JsonSerializer.Deserialize<MemoryPhaseResult>(ended.Output, ResultFile.Json) : null;
        if (result is null && !ended.WasKilled)
            throw new BenchmarkException($"{phase} with {limit / MiB} MiB failed: {ended.Errors.Trim()} (exit code {ended.ExitCode})");
        return new MemoryLimitRow(phase, limit, ended.WasKilled, ended.PeakBytes, ended.AnonymousBytes, result);
    }

    private static Report Report(List<MemoryLimitRow> rows) => new(
        "Memory limits",
        [
            "Every process has default options, apart from one transaction, which sets MaxTransactionBytes to 2 GiB. Peak includes page cache, which the "
                + "system takes back when it needs memory; anonymous memory includes the runtime and its heap; native is the memory of the environment.",
        ],
        [
            new TableOf<MemoryLimitRow>("Puts, updates, a large transaction and a recovery by the limit of memory", textColumns: 3)
                .Text("work", row => Name(row.Phase)).Text("limit", LimitOf).Text("survived", row => row.WasKilled ? "killed" : "yes")
                .Bytes("peak", row => row.PeakBytes).Bytes("anonymous", row => row.AnonymousBytes)
                .Bytes("native limit", row => row.Result?.LimitBytes).Bytes("native peak", row => row.Result?.NativePeakBytes)
                .Count("puts/s", row => row.OperationsPerSecond)
                .Percent("of unlimited", row => row.OperationsPerSecond / rows.First(other => other.Phase == row.Phase).OperationsPerSecond)
                .Bytes("replayed", row => row.Result?.ReplayedBytes)
                .OfEach(rows),
        ]);

    private static string LimitOf(MemoryLimitRow row) => row.LimitBytes is null ? "none" : $"{row.LimitBytes >> 20} MiB";

    private static string Name(MemoryPhase phase) => phase switch
    {
        MemoryPhase.Put => "random puts, 100 a transaction",
        MemoryPhase.UpdateBehindReader => "random updates behind a reader",
        MemoryPhase.OneTransaction => "one transaction",
        MemoryPhase.LeaveJournal => "puts left in the journal",
        MemoryPhase.Recover => "recovery",
        _ => phase.ToString(),
    };
}
