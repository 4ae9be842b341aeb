using System.Diagnostics;
using System.Globalization;
using System.Reflection;

namespace Tour.Crash;

/// <summary>The child process, seen by its parent: started, listened to, and killed.</summary>
internal sealed class DoomedChild : IDisposable
{
    /// <summary>The hidden command of the child.</summary>
    public const string CommandName = "commit-until-killed";

    private readonly Process _process;
    private readonly Task<string> _errors;
    private readonly Task _reading;
    private readonly TaskCompletionSource _began = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public DoomedChild(string directory)
    {
        // The program itself, or "dotnet" with the program as its first argument.
        var program = Environment.ProcessPath!;
        var assembly = Assembly.GetExecutingAssembly().Location;
        var start = new ProcessStartInfo(program) { RedirectStandardInput = true, RedirectStandardOutput = true, RedirectStandardError = true };
        if (Path.GetFileNameWithoutExtension(program) != Path.GetFileNameWithoutExtension(assembly))
            start.ArgumentList.Add(assembly);

        // A process that is killed would leave the pipes of the runtime's diagnostics among the temporary files.
        start.Environment["DOTNET_EnableDiagnostics"] = "0";
        start.ArgumentList.Add(CommandName);
        start.ArgumentList.Add(directory);
        _process = Process.Start(start) ?? throw new TourException($"'{program}' could not be started.");
        _errors = _process.StandardError.ReadToEndAsync();
        _reading = ReadAsync();
    }

    /// <summary>The newest commit of each caller that was acknowledged.</summary>
    public int[] Acknowledged { get; } = new int[CommitTrail.Callers];

    /// <summary>The number of lines that the child has written.</summary>
    public int Lines { get; private set; }

    /// <summary>Kills the process some time after its first commit, and reads what it had written until then.</summary>
    public async Task KillAfterAsync(TimeSpan time, CancellationToken stop)
    {
        await Task.WhenAny(_began.Task, _reading).WaitAsync(stop);
        await Task.WhenAny(Task.Delay(time, stop), _reading);
        stop.ThrowIfCancellationRequested();
        if (_reading.IsCompleted)
        {
            await _process.WaitForExitAsync(stop);
            var errors = (await _errors).Trim();
            throw new TourException($"The child process has ended before it was killed, with exit code {_process.ExitCode}: {errors}");
        }

        // SIGKILL on Unix: the process runs no handler, and closes nothing.
        _process.Kill();
        await _process.WaitForExitAsync(stop);
        await _reading;
    }

    public void Dispose()
    {
        try
        {
            _process.Kill();
            _process.WaitForExit();
        }
        catch (InvalidOperationException)
        {
            // It has ended.
        }

        _process.Dispose();
    }

    private async Task ReadAsync()
    {
        while (await _process.StandardOutput.ReadLineAsync() is { } line)
        {
            var space = line.IndexOf(' ', StringComparison.Ordinal);
            var caller = int.Parse(line.AsSpan(0, space), CultureInfo.InvariantCulture);
            Acknowledged[caller] = int.Parse(line.AsSpan(space + 1), CultureInfo.InvariantCulture);
            Lines++;
            _began.TrySetResult();
        }
    }
}
