using System.Runtime.InteropServices;

namespace Tour;

/// <summary>Cancels the tour at Ctrl+C or SIGTERM, so that it cleans up. A second signal ends the process at once.</summary>
internal sealed class Interruption : IDisposable
{
    /// <summary>The exit code of a tour that was cancelled.</summary>
    public const int ExitCode = 130;

    private readonly CancellationTokenSource _stop = new();
    private readonly PosixSignalRegistration _interrupt;
    private readonly PosixSignalRegistration _terminate;

    public Interruption()
    {
        _interrupt = PosixSignalRegistration.Create(PosixSignal.SIGINT, Cancel);
        _terminate = PosixSignalRegistration.Create(PosixSignal.SIGTERM, Cancel);
    }

    public CancellationToken Token => _stop.Token;

    // The source is not disposed: a signal may be on its way.
    public void Dispose()
    {
        _interrupt.Dispose();
        _terminate.Dispose();
    }

    private void Cancel(PosixSignalContext signal)
    {
        signal.Cancel = !_stop.IsCancellationRequested;
        _stop.Cancel();
    }
}
