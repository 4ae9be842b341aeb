namespace Voron.KillTarget;

/// <summary>Performs one operation that makes something new out of an environment or of its backups, in a process that is killed meanwhile.</summary>
public static class LongOperation
{
    public const string Compact = "compact";
    public const string Salvage = "salvage";
    public const string Merge = "merge";

    /// <summary>The line that the process writes when only the operation is left to do.</summary>
    public const string Ready = "ready";

    /// <summary>The line that the process writes when the operation has returned.</summary>
    public const string Done = "done";

    /// <summary>Waits for a line of input, and performs the operation.</summary>
    /// <param name="what">The operation.</param>
    /// <param name="source">The directory of the environment, or of the backup set.</param>
    /// <param name="target">The directory of the new environment; a merge has none.</param>
    public static void Run(string what, string source, string target, TextReader input, TextWriter output)
    {
        ArgumentNullException.ThrowIfNull(input);
        ArgumentNullException.ThrowIfNull(output);
        using var environment = what == Compact ? StorageEnvironment.Open(source, Options) : null;
        output.WriteLine(Ready);
        output.Flush();
        input.ReadLine();
        switch (what)
        {
            case Compact:
                environment!.CompactToAsync(target).AsTask().GetAwaiter().GetResult();
                break;
            case Salvage:
                Voron.Salvage.RunAsync(source, target).AsTask().GetAwaiter().GetResult();
                break;
            case Merge:
                BackupSet.Open(source).MergeAsync().AsTask().GetAwaiter().GetResult();
                break;
            default:
                throw new ArgumentException($"'{what}' is no operation.", nameof(what));
        }

        output.WriteLine(Done);
        output.Flush();
    }

    /// <summary>Nothing writes to the source but the operation.</summary>
    private static StorageOptions Options => new()
    {
        BackgroundFlush = false,
        ScrubInterval = Timeout.InfiniteTimeSpan,
        StatusInterval = TimeSpan.Zero,
    };
}
