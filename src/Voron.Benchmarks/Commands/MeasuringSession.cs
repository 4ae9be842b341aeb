using System.Text.Json;
using Spectre.Console;

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

    /// <summary>Measures rounds, behind one with the number -1 that does not count: it runs code that is still being compiled.</summary>
    public static Task RoundsAsync(int rounds, Func<int, Task> measure) => ShowProgressAsync(rounds + 1, async progress =>
    {
        await Task.Yield();
        for (var round = -1; round < rounds; round++)
        {
            await measure(round).ConfigureAwait(false);
            progress.Increment(1);
        }
    });

    /// <summary>Each way once. Each round begins with another one.</summary>
    public static IEnumerable<T> InTurn<T>(IReadOnlyList<T> ways, int round, CancellationToken stop)
    {
        for (var i = 0; i < ways.Count; i++)
        {
            stop.ThrowIfCancellationRequested();
            yield return ways[(i + round + 1) % ways.Count];
        }
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
    public void Finish(Report report, IReadOnlyList<RunResult> results, IReadOnlyList<SyncCount>? durability = null) =>
        FinishWith(report, new ResultFile(_started, Machine, _rawDevice, results) { Durability = durability });

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

    private static string Describe(ProbeResult probe) =>
        $"raw device, {probe.WriteBytes >> 10} KiB: {probe.MicrosecondsPerWrite:N1} us, {probe.MegabytesPerSecond:N1} MB/s";
}
