using Spectre.Console;

namespace Voron.Tool;

/// <summary>Shows on standard error how far a command has come, if that is a terminal.</summary>
internal sealed class ToolProgress : IProgress<BackupProgress>, IProgress<RestoreProgress>, IProgress<CompactionProgress>, IProgress<SalvageProgress>
{
    private static readonly TimeSpan PatienceWithTerminal = TimeSpan.FromMilliseconds(200);

    private readonly ProgressTask? _shown;

    private ToolProgress(ProgressTask? shown) => _shown = shown;

    /// <summary>Runs a command that reports its progress.</summary>
    public static Task<T> ShowAsync<T>(string what, Func<ToolProgress, Task<T>> run)
    {
        if (Console.IsErrorRedirected)
            return run(new ToolProgress(null));
        var console = AnsiConsole.Create(new AnsiConsoleSettings { Out = new AnsiConsoleOutput(Console.Error) });
        return console.Progress().AutoClear(true)
            .Columns(new TaskDescriptionColumn(), new ProgressBarColumn(), new PercentageColumn(), new ElapsedTimeColumn(), new RemainingTimeColumn())
            .StartAsync(context => run(new ToolProgress(context.AddTask(what))));
    }

    /// <summary>Shows the cursor again, which a bar or a table hides while it changes. For a process that ends in its middle.</summary>
    public static void ShowCursor()
    {
        // A terminal that was stopped takes nothing, and the process is to end all the same.
        var terminal = new AnsiConsoleOutput(Console.IsErrorRedirected ? Console.Out : Console.Error);
        var console = AnsiConsole.Create(new AnsiConsoleSettings { Out = terminal });
        if (!(Console.IsErrorRedirected && Console.IsOutputRedirected) && console.Profile.Capabilities.Ansi)
            Task.Run(() => TryShowCursor(console)).Wait(PatienceWithTerminal);
    }

    private static void TryShowCursor(IAnsiConsole console)
    {
        try
        {
            console.Cursor.Show();
        }
        catch (IOException)
        {
            // The terminal is gone.
        }
    }

    public void Report(BackupProgress value) => Show(value.PagesCopied, value.PagesExpected);

    public void Report(RestoreProgress value) => Show(value.BytesDone, value.BytesTotal);

    public void Report(SalvageProgress value) => Show(value.Bytes, value.SourceBytes);

    public void Report(CompactionProgress value) => Show(value.BytesMoved, value.BytesExpected);

    /// <summary>Shows a part of the work.</summary>
    public void Show(long done, long total)
    {
        if (_shown is null || total <= 0)
            return;
        _shown.MaxValue = total;
        _shown.Value = Math.Min(done, total);
    }
}
