using Microsoft.Extensions.Logging;

namespace Voron;

/// <summary>The options of a salvage: <see cref="Salvage"/>.</summary>
public sealed class SalvageOptions
{
    /// <summary>
    /// Takes entries of pages that are free, or whose use is not known, too. They have perhaps been deleted, or are older versions, so they come into
    /// trees of their own, whose names begin with <c>lost+found</c>. The default is false.
    /// </summary>
    public bool IncludeStale { get; set; }

    /// <summary>
    /// Continues behind a hole of the journal: pages that later records have made whole replace older ones, so the trees may mix several states, and
    /// nothing counts as proven. The default is false: the state before the hole.
    /// </summary>
    public bool TakeNewest { get; set; }

    /// <inheritdoc cref="StorageOptions.FileMode"/>
    public UnixFileMode FileMode { get; set; } = UnixFileMode.UserRead | UnixFileMode.UserWrite;

    /// <summary>Makes the loggers of the new environment; null for no logging.</summary>
    public ILoggerFactory? LoggerFactory { get; set; }

    /// <summary>
    /// Receives the progress, about once for each 16 MiB that are written, on the thread that salvages; null for none. The salvage waits for each
    /// call, and an exception ends it.
    /// </summary>
    public IProgress<SalvageProgress>? Progress { get; set; }
}
