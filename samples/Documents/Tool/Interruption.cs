using System.Diagnostics;
using System.Runtime.InteropServices;

namespace Voron.Documents.Tool;

/// <summary>
/// Cancels a command at Ctrl+C or SIGTERM. A later one ends the process at once, as if there were no handler: a store that is not closed loses
/// nothing.
/// </summary>
internal sealed class Interruption : IDisposable
{
    /// <summary>The exit code of a command that was cancelled.</summary>
    public const int ExitCode = 130;

    // A terminal and a script may both pass on the same Ctrl+C.
    private static readonly TimeSpan Together = TimeSpan.FromSeconds(1);

    private readonly CancellationTokenSource _stop = new();
    private readonly PosixSignalRegistration _interrupt;
    private readonly PosixSignalRegistration _terminate;
    private long _first;

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
        var now = Stopwatch.GetTimestamp();
        var first = Interlocked.CompareExchange(ref _first, now, 0);
        signal.Cancel = first == 0 || Stopwatch.GetElapsedTime(first, now) < Together;
        _stop.Cancel();
    }
}
