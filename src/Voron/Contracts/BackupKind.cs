namespace Voron;

/// <summary>Which pages a backup has.</summary>
public enum BackupKind
{
    /// <summary>Those that have changed since the newest backup of the set that it can build on; all of them if there is none.</summary>
    Incremental = 0,

    /// <summary>All pages.</summary>
    Full,
}
