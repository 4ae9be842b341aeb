using System.Globalization;
using System.Text.Json;
using Spectre.Console;
using Voron.Benchmarks.Measurement;
using Voron.Benchmarks.Processes;
using Voron.Benchmarks.Reporting;
using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Commands;

/// <summary>One run of a measuring command: its directory, the machine, the bare device, and the files that keep the results.</summary>
internal sealed class MeasuringSession : IDisposable
{
    private readonly DateTimeOffset _started = DateTimeOffset.UtcNow;
    private readonly List<ProbeResult> _rawDevice = [];
    private readonly string? _json;
    private readonly string? _markdown;
    private readonly string _commandLine;

    /// <exception cref="BenchmarkException">The directory cannot hold stores.</exception>
    public MeasuringSession(string directory, string? json, string? markdown, string commandLine)
    {
        _json = json;
        _markdown = markdown;
        _commandLine = commandLine;
        Area = new WorkArea(directory);
        Machine = MachineSummary.Describe(Area.Path);
        AnsiConsole.WriteLine(Machine.ToString());
    }

    public WorkArea Area { get; }

    public MachineSummary Machine { get; }

    /// <summary>Begins to measure on a device that has room for the stores.</summary>
    /// <exception cref="BenchmarkException">The device has less free space.</exception>
    public void CheckDevice(long neededBytes)
    {
        DiskUsage.RequireFreeSpace(Area.Path, neededBytes);
        ProbeRawDevice();
    }

    /// <summary>Probes the bare device and prints what it does. Only warns where it cannot be probed.</summary>
    public void ProbeRawDevice()
    {
        try
        {
            var results = RawDeviceProbe.Run(Area.Path);
            _rawDevice.AddRange(results);
            foreach (var result in results)
                AnsiConsole.WriteLine(Describe(result));
        }
        catch (BenchmarkException error)
        {
            AnsiConsole.MarkupLineInterpolated($"[yellow]{error.Message}[/]");
        }
    }

    /// <summary>Shows a progress bar and the time left while <paramref name="work"/> runs.</summary>
    public static async Task ShowProgressAsync(double total, Func<ProgressTask, Task> work) => await AnsiConsole.Progress()
        .AutoClear(true)
        .Columns(new TaskDescriptionColumn(), new ProgressBarColumn(), new PercentageColumn(), new RemainingTimeColumn())
        .StartAsync(context => work(context.AddTask("starting", maxValue: total)))
        .ConfigureAwait(false);

    /// <summary>Measures each way once. Each round begins with another one.</summary>
    /// <param name="ways">The ways.</param>
    /// <param name="round">The number of the round; -1 for the first one, which does not count.</param>
    /// <param name="measure">Measures a way.</param>
    /// <param name="name">The name of the way of a run.</param>
    /// <param name="checksum">The checksum of the answers of a run.</param>
    /// <param name="stop">Cancels the round between two ways.</param>
    /// <exception cref="BenchmarkException">The answers differ.</exception>
    public static List<TRun> MeasureInTurn<TWay, TRun>(
        IReadOnlyList<TWay> ways, int round, Func<TWay, TRun> measure, Func<TRun, string> name, Func<TRun, string> checksum,
        CancellationToken stop)
    {
        var runs = new List<TRun>();
        for (var i = 0; i < ways.Count; i++)
        {
            stop.ThrowIfCancellationRequested();
            runs.Add(measure(ways[(i + round + 1) % ways.Count]));
        }

        RequireEqualAnswers(runs, name, checksum);
        return runs;
    }

    /// <exception cref="BenchmarkException">The answers of the runs differ.</exception>
    public static void RequireEqualAnswers<TRun>(IReadOnlyCollection<TRun> runs, Func<TRun, string> name, Func<TRun, string> checksum)
    {
        if (runs.Select(checksum).Distinct().Count() > 1)
            throw new BenchmarkException("The answers differ: " + string.Join("; ", runs.Select(run => $"{name(run)}: {checksum(run)}")));
    }

    /// <summary>Runs a workload in a process of its own, which takes up <paramref name="share"/> of the progress bar.</summary>
    public static async Task<RunResult> RunAsync(RunRequest request, ProgressTask progress, double share, CancellationToken cancellationToken)
    {
        var before = progress.Value;
        var result = await MeasuringProcess
            .RunAsync(request, fraction => progress.Value = before + (fraction * share), cancellationToken)
            .ConfigureAwait(false);
        progress.Value = before + share;
        return result;
    }

    /// <summary>Prints a report and writes the files that the command line asks for.</summary>
    public void Finish(Report report, IReadOnlyList<RunResult> results) =>
        FinishWith(report, new ResultFile(_started, Machine, _rawDevice, results));

    /// <summary>Does the same as <see cref="Finish"/>, with JSON of another form.</summary>
    public void FinishWith<T>(Report report, T json)
    {
        report.Write(AnsiConsole.Console);
        if (_json is not null)
            File.WriteAllText(_json, JsonSerializer.Serialize(json, ResultFile.Json));
        if (_markdown is not null)
            File.WriteAllText(_markdown, report.ToMarkdown(_commandLine, _started, Machine, _rawDevice.Select(Describe)));
    }

    public void Dispose() => Area.Dispose();

    private static string Describe(ProbeResult probe) => string.Create(
        CultureInfo.InvariantCulture,
        $"raw device, {probe.WriteBytes >> 10} KiB: {probe.MicrosecondsPerWrite:N1} us, {probe.MegabytesPerSecond:N1} MB/s");
}
