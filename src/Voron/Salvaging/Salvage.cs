using System.Diagnostics;
using Microsoft.Extensions.Logging;
using Voron.Backup;
using Voron.IO;
using Voron.Primitives;
using Voron.Salvaging;

namespace Voron;

/// <summary>Salvages the remaining data of a damaged environment to a new one.</summary>
/// <remarks>
/// Use it if an environment cannot be opened, or reports a damaged page, and has no backup. The source is only read. The new environment contains
/// only data with verified checksums; nothing is invented. The report lists the missing data.
/// </remarks>
public static class Salvage
{
    private static readonly TimeSpan LogPatience = TimeSpan.FromSeconds(5);

    /// <summary>Salvages the remaining data of an environment to a new one, and verifies the new one.</summary>
    /// <remarks>
    /// Any file of the source may be missing or damaged: header, data file, journal, catalog. The salvage is all or nothing: a failed or cancelled
    /// call deletes the files that it has made. After a killed process, openings refuse the directory until it is emptied.
    /// </remarks>
    /// <param name="source">The directory of the damaged environment, which no process has open for writing.</param>
    /// <param name="target">The directory of the new one, which is created if it is missing, and otherwise must be empty.</param>
    /// <param name="options">The options; null for the defaults.</param>
    /// <param name="cancellationToken">Cancels the salvage.</param>
    /// <exception cref="ArgumentException">A path is empty, or the target is the source or inside it.</exception>
    /// <exception cref="EnvironmentInUseException">The source is open for writing.</exception>
    /// <exception cref="EnvironmentNotFoundException">The source contains no file of an environment.</exception>
    /// <exception cref="CorruptionException">
    /// Nothing in the source can be read, or the new environment differs from the data written to it.
    /// </exception>
    /// <exception cref="UnsupportedFormatException">The source has a newer format version.</exception>
    /// <exception cref="BackupException">The target is not empty: <see cref="BackupFault.TargetNotEmpty"/>.</exception>
    /// <exception cref="StorageFullException">There is no space for the new environment.</exception>
    /// <exception cref="StorageAccessException">The source directory cannot be listed, or the target cannot be written.</exception>
    /// <exception cref="StorageMemoryException">The system does not have enough memory.</exception>
    /// <exception cref="OperationCanceledException">The call was cancelled.</exception>
    public static async ValueTask<SalvageReport> RunAsync(
        string source, string target, SalvageOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentException.ThrowIfNullOrEmpty(source);
        ArgumentException.ThrowIfNullOrEmpty(target);
        var (from, to) = (Path.GetFullPath(source), Path.GetFullPath(target));
        var place = Real(from) + Path.DirectorySeparatorChar;
        var comparison = OperatingSystem.IsWindows() ? StringComparison.OrdinalIgnoreCase : StringComparison.Ordinal;
        if ((Real(to) + Path.DirectorySeparatorChar).StartsWith(place, comparison))
            throw new ArgumentException($"The target '{to}' is the directory of the damaged environment, or inside it. A salvage writes nothing " +
                "there. Use another directory.", nameof(target));
        options = Copy(options ?? new SalvageOptions());
        try
        {
            return await Task.Run(() => Run(from, to, options, cancellationToken), cancellationToken).ConfigureAwait(false);
        }
        catch (OutOfMemoryException e)
        {
            throw new StorageMemoryException($"There is not enough memory to salvage '{from}': {e.Message} Close other programs, or allow the " +
                "process more memory.", e);
        }
    }

    /// <summary>Salvages the environment on a disk, which is disposed.</summary>
    internal static SalvageReport Run(IDisk source, string target, SalvageOptions options, CancellationToken stop)
    {
        var began = Stopwatch.GetTimestamp();
        using var damaged = DamagedSource.Open(source, stop);
        using var directory = new NewEnvironmentDirectory(target, options.FileMode);
        SalvageTarget? made = null;
        var isMade = false;
        try
        {
            var run = new SalvageRun(damaged, options, stop);
            var findings = run.Run(pageSize => made = new SalvageTarget(directory.Part, pageSize, options, damaged.DataBytes, stop));
            var report = ToReport(damaged, target, findings, began);
            if (!report.IsProven && report.Trees.Count == 0)
                throw NothingFound(report);
            report = made!.Finish(report, findings);
            made.Dispose();
            isMade = true;
            directory.Complete();
            return report with { Duration = Stopwatch.GetElapsedTime(began) };
        }
        finally
        {
            if (!isMade)
                made?.Abandon();
        }
    }

    private static SalvageReport Run(string source, string target, SalvageOptions options, CancellationToken stop)
    {
        var logger = GuardedLogger.Of(options.LoggerFactory);
        try
        {
            return Run(OpenSource(source, logger), target, options, stop);
        }
        catch (Exception e) when (e is DiskException or IOException or UnauthorizedAccessException)
        {
            throw TargetFailure.Of($"'{source}' cannot be salvaged to '{target}': {e.Message}", e);
        }
        finally
        {
            GuardedLogger.Finish(logger, LogPatience);
        }
    }

    private static IDisk OpenSource(string source, ILogger logger)
    {
        try
        {
            return FileSystemDisk.Open(source, readOnly: true, logger, acceptsNetwork: true);
        }
        catch (DiskException e) when (e.Error == DiskError.NotFound)
        {
            throw new EnvironmentNotFoundException($"The directory '{source}' to salvage does not exist.", e);
        }
    }

    // Returns the path with its links resolved.
    private static string Real(string path)
    {
        var name = Path.GetFileName(Path.TrimEndingDirectorySeparator(path));
        var parent = Path.GetDirectoryName(Path.TrimEndingDirectorySeparator(path));
        if (parent == null)
            return Path.TrimEndingDirectorySeparator(path);
        path = Path.Combine(Real(parent), name);
        try
        {
            return new DirectoryInfo(path).ResolveLinkTarget(returnFinalTarget: true)?.FullName ?? path;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return path;
        }
    }

    // The caller may change the original meanwhile.
    private static SalvageOptions Copy(SalvageOptions options) => new()
    {
        IncludeStale = options.IncludeStale,
        TakeNewest = options.TakeNewest,
        FileMode = options.FileMode,
        LoggerFactory = options.LoggerFactory,
        Progress = options.Progress,
    };

    private static CorruptionException NothingFound(SalvageReport report) => new(
        $"Nothing of the environment in '{report.Source}' can be read, so nothing was salvaged: {(report.Damage.Count > 0 ? report.Damage[0].Message : "it has no pages of trees.")} " +
        "Restore it from a backup.");

    // An entry of the catalog.
    private static SalvageDamage DamageOf(LostValue entry) => new(Paging.DataFile.FileName, null, null, null, null, entry.Reason);

    /// <summary>Describes the findings.</summary>
    internal static SalvageReport ToReport(DamagedSource source, string target, SalvageFindings findings, long began)
    {
        var catalog = findings.Catalog.ToReport();
        return new SalvageReport
        {
            Source = source.Disk.Path,
            Target = target,
            TransactionId = findings.State.TransactionId,
            Time = findings.State.CommitTime == 0 ? null : new DateTimeOffset(findings.State.CommitTime, TimeSpan.Zero),
            Origin = findings.Origin,
            IsProven = findings.IsProven,
            IsJournalWhole = findings.IsJournalWhole,
            Damage = [.. source.Damage.All, .. catalog.LostValues.Select(DamageOf)],
            DamageCount = source.Damage.Count + catalog.LostValues.Count,
            ExpectedTrees = findings.IsProven || findings.State.TransactionId > 0 ? catalog.Expected - findings.TreesLeftBehind : null,
            LostNames = catalog.LostRanges,
            Trees = [.. findings.Trees.Select(tree => tree.ToReport())],
            Duration = Stopwatch.GetElapsedTime(began),
        };
    }
}
