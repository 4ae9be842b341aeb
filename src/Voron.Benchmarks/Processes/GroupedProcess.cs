using System.Diagnostics;

namespace Voron.Benchmarks.Processes;

/// <summary>Runs a process inside a memory group to its end.</summary>
internal static class GroupedProcess
{
    private static readonly TimeSpan SamplePause = TimeSpan.FromMilliseconds(20);

    /// <summary>Runs a process, and watches the memory of its group meanwhile.</summary>
    /// <param name="group">The group, which has had no process yet.</param>
    /// <param name="start">The process, with its output and errors redirected.</param>
    /// <param name="cancellationToken">Ends the process.</param>
    public static async Task<GroupedResult> RunAsync(MemoryGroup group, ProcessStartInfo start, CancellationToken cancellationToken)
    {
        group.Enclose(start);
        using var process = Process.Start(start) ?? throw new BenchmarkException($"'{start.FileName}' cannot be started.");
        var output = process.StandardOutput.ReadToEndAsync(CancellationToken.None);
        var errors = process.StandardError.ReadToEndAsync(CancellationToken.None);
        var ended = process.WaitForExitAsync(CancellationToken.None);
        var anonymous = 0L;
        try
        {
            while (!ended.IsCompleted)
            {
                anonymous = Math.Max(anonymous, group.AnonymousBytes);
                await Task.WhenAny(ended, Task.Delay(SamplePause, cancellationToken)).ConfigureAwait(false);
                cancellationToken.ThrowIfCancellationRequested();
            }
        }
        catch (OperationCanceledException)
        {
            process.Kill();
            await ended.ConfigureAwait(false);
            throw;
        }

        return new GroupedResult(
            process.ExitCode, await output.ConfigureAwait(false), await errors.ConfigureAwait(false), group.PeakBytes, anonymous, group.Kills > 0);
    }
}

/// <summary>The end of a process, and the memory that its group has had.</summary>
/// <param name="ExitCode">Its exit code.</param>
/// <param name="Output">Its standard output.</param>
/// <param name="Errors">Its standard error.</param>
/// <param name="PeakBytes">The most bytes at a time, page cache included.</param>
/// <param name="AnonymousBytes">The most bytes of anonymous memory that samples have found.</param>
/// <param name="WasKilled">Whether the system ended it for lack of memory.</param>
internal sealed record GroupedResult(int ExitCode, string Output, string Errors, long PeakBytes, long AnonymousBytes, bool WasKilled);
