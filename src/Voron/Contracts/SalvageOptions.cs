using Microsoft.Extensions.Logging;

namespace Voron;

/// <summary>The options of a salvage: <see cref="Salvage"/>.</summary>
public sealed class SalvageOptions
{
    /// <summary>
    /// Whether to salvage entries also from free pages and from pages of unknown use. They may have been deleted, or be older versions, so they are
    /// stored in separate trees, whose names begin with <c>lost+found</c>. The default is false.
    /// </summary>
    public bool IncludeStale { get; set; }

    /// <summary>
    /// Whether to continue after a hole in the journal: a page that later records restore in full replaces the older one, so the trees may mix
    /// several states, and no entry counts as proven. The default is false: the salvage takes the state before the hole.
    /// </summary>
    public bool TakeNewest { get; set; }

    /// <inheritdoc cref="StorageOptions.FileMode"/>
    public UnixFileMode FileMode { get; set; } = UnixFileMode.UserRead | UnixFileMode.UserWrite;

    /// <summary>Creates the loggers of the new environment; null for no logging.</summary>
    public ILoggerFactory? LoggerFactory { get; set; }

    /// <summary>
    /// Receives the progress, about once per 16 MiB written, on the thread that salvages; null for none. The salvage waits for each call, and an
    /// exception from it ends the salvage.
    /// </summary>
    public IProgress<SalvageProgress>? Progress { get; set; }
}

/// <summary>The progress of a salvage: <see cref="SalvageOptions.Progress"/>.</summary>
/// <param name="Entries">The number of entries in the new environment so far.</param>
/// <param name="Bytes">The total size of their keys and values in bytes.</param>
/// <param name="SourceBytes">The length of the damaged data file, in bytes.</param>
public readonly record struct SalvageProgress(long Entries, long Bytes, long SourceBytes);
