namespace Voron.Tool.Shell;

/// <summary>
/// What Ctrl-C cancels: the running line of the shell, and otherwise the command of the tool. When either was cancelled before, and has not ended
/// yet, the system ends the process.
/// </summary>
internal sealed class Interrupts(CancellationTokenSource stop)
{
    private volatile CancellationTokenSource? _line;

    /// <summary>Handles a Ctrl-C, on a thread of its own. Returns false to let the system end the process.</summary>
    public bool Press()
    {
        if (_line is { } line)
            return !line.IsCancellationRequested && TryCancel(line);
        return !stop.IsCancellationRequested && TryCancel(stop);
    }

    /// <summary>Begins a line of the shell, which the next Ctrl-C cancels. To be disposed at its end.</summary>
    /// <param name="stop">Cancels the line, too.</param>
    public Line BeginLine(CancellationToken stop)
    {
        var line = CancellationTokenSource.CreateLinkedTokenSource(stop);
        _line = line;
        return new Line(this, line);
    }

    // One that has ended this moment needs no cancelling.
    private static bool TryCancel(CancellationTokenSource source)
    {
        try
        {
            source.Cancel();
        }
        catch (ObjectDisposedException)
        {
        }

        return true;
    }

    /// <summary>A running line of the shell.</summary>
    internal readonly struct Line(Interrupts owner, CancellationTokenSource source) : IDisposable
    {
        public CancellationToken Token => source.Token;

        public void Dispose()
        {
            owner._line = null;
            source.Dispose();
        }
    }
}
