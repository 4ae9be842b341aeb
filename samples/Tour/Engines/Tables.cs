namespace Tour.Engines;

/// <summary>The trees of Voron, and the tables of SQLite.</summary>
internal static class Tables
{
    /// <summary>The data set, as it was loaded, and then with revised texts.</summary>
    public const string Members = "members";

    /// <summary>What was committed one at a time.</summary>
    public const string Commits = "commits";

    /// <summary>What was loaded for the measurement.</summary>
    public const string Load = "load";

    /// <summary>What concurrent callers put.</summary>
    public const string Callers = "callers";

    /// <summary>What concurrent callers put with a group commit of their own.</summary>
    public const string Queue = "queue";

    public static readonly string[] All = [Members, Commits, Load, Callers, Queue];
}
