using System.Diagnostics;
using System.Globalization;

namespace Voron.Simulation.Harness;

/// <summary>
/// Runs a suite in its own process, which the engine may kill; even then the run that was under way is known. A separate process is also needed
/// because switches of the engine are decided once per process.
/// </summary>
/// <remarks>Process and caller share a directory that also holds the temporary files of the process. It is deleted at the end.</remarks>
internal sealed class SuiteProcess(Suite suite, RunPlan plan)
{
    /// <summary>The exit code of a program of suites after a wrong call.</summary>
    public const int ExitWrongCall = 1;

    private const string ProgressWord = "progress ";
    private const string LedgerName = "ledger.json";
    private const string MarksName = "runs";
    private const string TemporaryName = "temporary";
    private const int TickMilliseconds = 100;
    private const int MaxErrorLines = 12;
    private const int MaxLastCases = 8;

    private volatile Process? _process;
    private double _progress;

    /// <summary>The directory shared with the process, once the process has begun; deleted at the end.</summary>
    public string? SharedDirectory { get; private set; }

    /// <summary>The id of the process, valid while it runs.</summary>
    public int ProcessId => _process!.Id;

    public static string MarksFile(string shared) => Path.Combine(shared, MarksName);

    public static string LedgerFile(string shared) => Path.Combine(shared, LedgerName);

    /// <summary>Reports the progress of this process to its caller.</summary>
    public static void ReportProgress(double done) => Console.Out.WriteLine(ProgressWord + done.ToString("R", CultureInfo.InvariantCulture));

    /// <summary>Ends this process when the process that started it has ended.</summary>
    public static void EndWithCaller()
    {
        var watch = new Thread(() =>
        {
            using var input = Console.OpenStandardInput();
            while (input.ReadByte() >= 0)
            {
            }
            Environment.Exit(ExitWrongCall);
        })
        {
            IsBackground = true,
            Name = "caller",
        };
        watch.Start();
    }

    /// <param name="limit">The time after which the process is killed; normally it ends long before.</param>
    /// <param name="onProgress">Called with the completed fraction, from 0 to 1, a few times a second.</param>
    public SuiteProcessEnd Run(TimeSpan limit, Action<double>? onProgress = null)
    {
        var shared = Directory.CreateTempSubdirectory("voron-suite-").FullName;
        SharedDirectory = shared;
        try
        {
            return Run(shared, limit, onProgress);
        }
        finally
        {
            TemporaryPlace.Delete(shared);
        }
    }

    private SuiteProcessEnd Run(string shared, TimeSpan limit, Action<double>? onProgress)
    {
        var date = DateTimeOffset.UtcNow;
        var started = Stopwatch.GetTimestamp();
        var temporary = Directory.CreateDirectory(Path.Combine(shared, TemporaryName)).FullName;
        var start = StartInfo(Arguments(shared));
        TemporaryPlace.Give(start.Environment, temporary);
        using var process = Process.Start(start) ?? throw new TortureException($"No process can be started for {suite.Name}.");
        _process = process;
        process.OutputDataReceived += (_, line) => Listen(line.Data);
        process.BeginOutputReadLine();
        var errors = process.StandardError.ReadToEndAsync();
        var isOver = false;
        while (!isOver && Stopwatch.GetElapsedTime(started) < limit)
        {
            isOver = process.WaitForExit(TickMilliseconds);
            onProgress?.Invoke(Volatile.Read(ref _progress));
        }
        if (!isOver)
            process.Kill(entireProcessTree: true);
        process.WaitForExit();
        return new SuiteProcessEnd(
            suite, plan, date, Ledger.Load(LedgerFile(shared)) is [.., var last] ? last : null, isOver, process.ExitCode,
            string.Join('\n', errors.Result.Split('\n').Take(MaxErrorLines)).Trim(), RunMarks.Load(MarksFile(shared)), LastCases(temporary),
            Stopwatch.GetElapsedTime(started));
    }

    private List<string> Arguments(string shared)
    {
        var arguments = new List<string>
        {
            "--suite", suite.Name,
            "--seed", Number(plan.Seed),
            "--first", Number(plan.First),
            "--shrink-seconds", plan.ShrinkTime.TotalSeconds.ToString("R", CultureInfo.InvariantCulture),
            "--most-failures", Number(plan.MaxFailures),
            "--failures", plan.FailureDirectory ?? shared,
            "--shared", shared,
        };
        if (plan.Count != RunPlan.Full)
            arguments.AddRange(["--count", Number(plan.Count)]);
        if (plan.TimeLimit is { } limit)
            arguments.AddRange(["--minutes", limit.TotalMinutes.ToString("R", CultureInfo.InvariantCulture)]);
        if (plan.Threads > 0)
            arguments.AddRange(["--threads", Number(plan.Threads)]);
        if (plan.Guard)
            arguments.Add("--guard");
        if (plan.Fault is { } fault)
            arguments.AddRange(["--fault", fault]);
        return arguments;
    }

    private static string Number(long number) => number.ToString(CultureInfo.InvariantCulture);

    private void Listen(string? line)
    {
        if (line?.StartsWith(ProgressWord, StringComparison.Ordinal) == true
            && double.TryParse(line.AsSpan(ProgressWord.Length), CultureInfo.InvariantCulture, out var done))
        {
            Volatile.Write(ref _progress, done);
        }
    }

    // A suite that expects its process to die records each case before trying it.
    private static List<string> LastCases(string temporary) =>
    [
        .. Directory.EnumerateFiles(temporary, "*.last", SearchOption.AllDirectories)
            .Select(LastCase.Load)
            .Where(text => text.Length > 0)
            .Take(MaxLastCases),
    ];

    /// <summary>Returns how to start the program that has the suite; next to the tests, it is not the running program.</summary>
    private ProcessStartInfo StartInfo(List<string> arguments)
    {
        var start = ChildProgram.Of(suite.GetType().Assembly);
        foreach (var argument in arguments)
            start.ArgumentList.Add(argument);
        return start;
    }
}
