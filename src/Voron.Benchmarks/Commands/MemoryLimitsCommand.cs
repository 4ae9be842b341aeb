using System.CommandLine;
using System.Globalization;
using System.Text.Json;
using Spectre.Console;
using Voron.Benchmarks.Measurement;
using Voron.Benchmarks.Processes;
using Voron.Benchmarks.Reporting;
using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Commands;

/// <summary>
/// Runs puts, updates behind a reader, one large transaction and a recovery in processes whose memory is limited as that of a container is, with
/// default options. Shows whether they survive, the memory they take, and what the limit costs.
/// </summary>
internal static class MemoryLimitsCommand
{
    private const long MiB = 1 << 20;
    private const int SpaceFactor = 8;

    public static Command Create()
    {
        var output = new OutputOptions();
        var limits = new Option<long[]>("--limits")
        {
            Description = "The limits of memory, page cache included, in MiB.",
            DefaultValueFactory = _ => [128, 512, 2048],
            AllowMultipleArgumentsPerToken = true,
            HelpName = "MIB",
        };
        var puts = new Option<long>("--puts")
        {
            Description = "Puts of the first phase; the others do a quarter of that each.",
            DefaultValueFactory = _ => 2_000_000,
        };
        var command = new Command("memory-limits", "Measures what a limit of memory costs, in a memory cgroup for each limit.") { limits, puts };
        output.AddTo(command);
        command.SetAction(async (parsed, cancellationToken) =>
        {
            var items = Math.Max(1, parsed.GetValue(puts));
            using var session = output.Begin(parsed);
            session.CheckDevice(items * (ItemGenerator.KeyBytes + ItemGenerator.ValueBytes) * SpaceFactor);
            long?[] groups = [null, .. parsed.GetRequiredValue(limits).Select(limit => (long?)(limit * MiB))];
            var rows = new List<MemoryLimitRow>();
            foreach (var limit in groups)
                rows.AddRange(await MeasureAsync(session.Area, items, limit, cancellationToken).ConfigureAwait(false));
            session.FinishWith(MemoryLimitsReport.Create(rows), new { session.Machine, rows });
        });
        return command;
    }

    private static async Task<List<MemoryLimitRow>> MeasureAsync(WorkArea area, long items, long? limit, CancellationToken cancellationToken)
    {
        var rows = new List<MemoryLimitRow>();
        var path = area.StorePath("voron", limit is { } bytes ? (bytes / MiB).ToString(CultureInfo.InvariantCulture) : "unlimited");
        foreach (var phase in Enum.GetValues<MemoryPhase>())
        {
            // The journal may come from a larger machine, so it is left without a limit.
            var row = await MeasureAsync(path, phase, items, phase == MemoryPhase.LeaveJournal ? null : limit, cancellationToken)
                .ConfigureAwait(false);
            AnsiConsole.WriteLine(MemoryLimitsReport.Describe(row));
            if (phase != MemoryPhase.LeaveJournal)
                rows.Add(row);
            LinuxCalls.ForgetDirectory(path);
        }

        Directory.Delete(path, recursive: true);
        return rows;
    }

    private static async Task<MemoryLimitRow> MeasureAsync(
        string path, MemoryPhase phase, long items, long? limit, CancellationToken cancellationToken)
    {
        var reason = "";
        using var group = MemoryGroup.TryCreate(limit, text => reason = text) ?? throw new BenchmarkException(reason);
        var start = MeasuringProcess.StartInfo(MemoryRunCommand.Name, phase.ToString(), path, items.ToString(CultureInfo.InvariantCulture));
        var ended = await GroupedProcess.RunAsync(group, start, cancellationToken).ConfigureAwait(false);
        var result = ended.Output.TrimEnd().EndsWith('}') ? JsonSerializer.Deserialize<MemoryPhaseResult>(ended.Output, ResultFile.Json) : null;
        if (result is null && !ended.WasKilled)
            throw new BenchmarkException($"{phase} with {limit / MiB} MiB failed: {ended.Errors.Trim()} (exit code {ended.ExitCode})");
        return new MemoryLimitRow(phase, limit, ended.WasKilled, ended.PeakBytes, ended.AnonymousBytes, result);
    }
}
