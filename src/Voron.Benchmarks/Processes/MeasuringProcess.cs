using System.Text;
using System.Text.Json;

namespace Voron.Benchmarks.Processes;

/// <summary>
/// Runs a workload in a new process of this program, so that no engine inherits another's heap, compiled code or page tables, and the
/// progress bar costs the measured process nothing.
/// </summary>
internal static class MeasuringProcess
{
    private const string CallCountingDelay = "DOTNET_TC_CallCountingDelayMs";

    /// <exception cref="BenchmarkException">The process failed. The message includes its own.</exception>
    public static async Task<RunResult> RunAsync(RunRequest request, Action<double>? onProgress, CancellationToken cancellationToken)
    {
        using var process = new Process { StartInfo = StartInfo(request) };
        var errors = new StringBuilder();
        process.ErrorDataReceived += (_, line) =>
        {
            if (line.Data is null)
                return;
            if (ProgressSignal.TryParse(line.Data, out var fractionDone))
                onProgress?.Invoke(fractionDone);
            else
                errors.AppendLine(line.Data);
        };
        var started = Stopwatch.GetTimestamp();
        process.Start();
        process.BeginErrorReadLine();
        try
        {
            var output = await process.StandardOutput.ReadToEndAsync(cancellationToken).ConfigureAwait(false);
            await process.WaitForExitAsync(cancellationToken).ConfigureAwait(false);
            var hasResult = output.TrimEnd().EndsWith('}');
            if (process.ExitCode != 0 && !(request.Workload.EndsInCrash && hasResult))
                throw Failure(request, $"{errors.ToString().Trim()} (exit code {process.ExitCode})");
            var result = JsonSerializer.Deserialize<RunResult>(output, ResultFile.Json)
                ?? throw Failure(request, "the process printed no result");
            if (request.Workload.IsFirstSecond && EngineCatalog.Find(request.Engine).IsOurs)
                result = PackagedEngine.Describe(result);
            return result with { ProcessSeconds = Stopwatch.GetElapsedTime(started).TotalSeconds };
        }
        catch (OperationCanceledException)
        {
            process.Kill(entireProcessTree: true);
            await process.WaitForExitAsync(CancellationToken.None).ConfigureAwait(false);
            throw;
        }
    }

    private static BenchmarkException Failure(RunRequest request, string reason) => new($"{request.Engine}, {request.Workload.Title}: {reason}");

    private static ProcessStartInfo StartInfo(RunRequest request)
    {
        var start = StartInfo(
            "run-one",
            "--engine", request.Engine,
            "--workload", request.Workload.Name,
            "--directory", request.Directory,
            "--items", request.Items.ToString(CultureInfo.InvariantCulture),
            "--operations", request.Operations.ToString(CultureInfo.InvariantCulture),
            "--round", request.Round.ToString(CultureInfo.InvariantCulture),
            "--limit", request.Limit.TotalSeconds.ToString(CultureInfo.InvariantCulture));

        // The first second of a process is that of users, who have the runtime's own settings and the package.
        if (request.Workload.IsFirstSecond)
        {
            start.Environment.Remove(CallCountingDelay);
            PackagedEngine.Use(start);
        }
        if (request.Trace is { } file)
            SyncCounter.Trace(start, file);
        return start;
    }

    /// <summary>Starts this program with other arguments.</summary>
    public static ProcessStartInfo StartInfo(params ReadOnlySpan<string> arguments)
    {
        var program = Environment.ProcessPath ?? throw new BenchmarkException("Cannot start a process for the run: the path of this program is unknown.");
        var start = new ProcessStartInfo(program) { RedirectStandardOutput = true, RedirectStandardError = true, UseShellExecute = false };

        // Later tiers of compilation wait until the first tier has paused for 100 ms, which takes long in a process that goes from one
        // loop to the next. Without that wait, the warm-up is long enough.
        start.Environment[CallCountingDelay] = "0";

        // If this process was started as "dotnet Voron.Benchmarks.dll", the program is dotnet, whose first argument is the assembly.
        if (Path.GetFileNameWithoutExtension(program).Equals("dotnet", StringComparison.OrdinalIgnoreCase))
            start.ArgumentList.Add(Environment.GetCommandLineArgs()[0]);
        foreach (var argument in arguments)
            start.ArgumentList.Add(argument);
        return start;
    }
}
