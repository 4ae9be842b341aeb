namespace Voron;

/// <summary>Which pages a backup contains.</summary>
public enum BackupKind
{
    /// <summary>The pages that have changed since the newest backup of the set that it can build on; all pages if there is none.</summary>
    Incremental = 0,

    /// <summary>All pages.</summary>
    Full,
}
