using System.Diagnostics;
using Microsoft.Extensions.Logging;
using Voron.Backup;
using Voron.IO;
using Voron.Opening;
using Voron.Paging;
using Voron.Primitives;

namespace Voron;

// How an environment is opened. The public members copy the options first, so that a change which the caller makes meanwhile has no effect.
public sealed partial class StorageEnvironment
{
    /// <summary>
    /// Opens the environment in a directory. Creates it, and the directory, if they are missing, unless <see cref="StorageOptions.OpenMode"/>
    /// says otherwise.
    /// </summary>
    /// <param name="directory">The path of the directory, which holds this environment alone.</param>
    /// <param name="options">The options, which are copied; null for the defaults.</param>
    /// <exception cref="EnvironmentInUseException">
    /// The environment is already open in this process or another, and <see cref="StorageOptions.LockTimeout"/> is over.
    /// </exception>
    /// <exception cref="EnvironmentNotFoundException">The environment is missing, and was not to be created.</exception>
    /// <exception cref="EnvironmentExistsException">The environment exists, and was to be created.</exception>
    /// <exception cref="UnsupportedFormatException">The files are not Voron files, or come from a newer version.</exception>
    /// <exception cref="CorruptionException">The files are damaged; nothing was changed.</exception>
    /// <exception cref="StorageAccessException">The files cannot be read or written, or the directory is on a network.</exception>
    /// <exception cref="StorageMemoryException">The system does not have enough memory.</exception>
    /// <exception cref="KeyNotFoundException">
    /// The environment was opened for reading only, and lacks one of the <see cref="StorageOptions.Trees"/>.
    /// </exception>
    /// <exception cref="ArgumentException">
    /// The options are not valid, or their <see cref="StorageOptions.PageSize"/> is not that of the existing environment.
    /// </exception>
    public static StorageEnvironment Open(string directory, StorageOptions? options = null)
    {
        ArgumentException.ThrowIfNullOrEmpty(directory);
        options = CopyValid(options);
        var meter = EngineMeter.Of(options.MeterFactory);
        var logger = GuardedLogger.Of(options.LoggerFactory);
        return Open(OpenDisk(directory, options, logger), options, logger, meter);
    }

    /// <summary>
    /// Opens the environment in a directory without blocking the calling thread. The wait for the lock
    /// (<see cref="StorageOptions.LockTimeout"/>) blocks no thread; recovery, which reads and computes, runs on a thread-pool thread.
    /// </summary>
    /// <param name="directory">The path of the directory, which holds this environment alone.</param>
    /// <param name="options">The options, which are copied; null for the defaults.</param>
    /// <param name="cancellationToken">Cancels the wait for the lock. From then on the opening runs to its end.</param>
    /// <exception cref="OperationCanceledException">The call was cancelled before it had the lock. Nothing was changed.</exception>
    /// <inheritdoc cref="Open(string, StorageOptions?)"/>
    public static Task<StorageEnvironment> OpenAsync(
        string directory, StorageOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentException.ThrowIfNullOrEmpty(directory);
        options = CopyValid(options);
        return Task.Run(() => OpenWhenFreeAsync(directory, options, cancellationToken), cancellationToken);
    }

    /// <summary>
    /// Returns true if the directory contains an environment. Opens, locks and creates nothing, so the answer may be outdated when it arrives;
    /// <see cref="StorageOptions.OpenMode"/> decides without a gap.
    /// </summary>
    /// <remarks>
    /// The header decides: a creation writes this file last. Returns false if the directory is missing or cannot be read, if the creation of an
    /// environment was interrupted, and if a copy or a restore was not finished or an environment has lost its header, which
    /// <see cref="Open(string, StorageOptions?)"/> reports as damage. True does not mean that the files are intact.
    /// </remarks>
    /// <param name="directory">The path of the directory.</param>
    /// <exception cref="ArgumentException">The path is empty.</exception>
    public static bool Exists(string directory)
    {
        ArgumentException.ThrowIfNullOrEmpty(directory);
        return File.Exists(System.IO.Path.Combine(directory, CheckpointFile.FileName));
    }

    /// <summary>Opens the environment on a disk, which the environment owns and disposes.</summary>
    internal static StorageEnvironment Open(IDisk disk, StorageOptions options) =>
        Open(disk, options, GuardedLogger.Of(options.LoggerFactory), EngineMeter.Of(options.MeterFactory));

    private static StorageEnvironment Open(IDisk disk, StorageOptions options, ILogger logger, EngineMeter meter)
    {
        var began = Stopwatch.GetTimestamp();
        try
        {
            var held = LockWait.Take(disk, options, logger);

            // What is reported as the time of the opening has no wait for another process in it.
            began = Stopwatch.GetTimestamp();
            return Start(disk, held, options, logger, meter, began);
        }
        catch (Exception e)
        {
            OpeningReport.ReportFailed(disk.Path, options, began, e);
            throw;
        }
        finally
        {
            GuardedLogger.Finish(logger, LogPatience);
        }
    }

    private static async Task<StorageEnvironment> OpenWhenFreeAsync(
        string directory, StorageOptions options, CancellationToken cancellationToken)
    {
        var logger = GuardedLogger.Of(options.LoggerFactory);
        var meter = EngineMeter.Of(options.MeterFactory);
        var began = Stopwatch.GetTimestamp();
        try
        {
            var disk = OpenDisk(directory, options, logger);
            var held = await LockWait.TakeAsync(disk, options, logger, cancellationToken).ConfigureAwait(false);
            began = Stopwatch.GetTimestamp();
            return Start(disk, held, options, logger, meter, began);
        }
        catch (Exception e)
        {
            OpeningReport.ReportFailed(directory, options, began, e);
            throw;
        }
        finally
        {
            GuardedLogger.Finish(logger, LogPatience);
        }
    }

    private static StorageOptions CopyValid(StorageOptions? options)
    {
        var copy = options == null ? new StorageOptions() : new StorageOptions(options);
        copy.Validate(nameof(options));
        return copy;
    }

    private static IDisk OpenDisk(string directory, StorageOptions options, ILogger logger)
    {
        var creates = !options.ReadOnly && options.OpenMode != OpenMode.OpenExisting;
        try
        {
            return FileSystemDisk.Open(directory, options.ReadOnly, logger, options.FileMode, creates);
        }
        catch (DiskException e) when (e.Error == DiskError.NotFound && !creates)
        {
            throw EnvironmentLock.NotFound(directory, options, cause: e);
        }
        catch (DiskException e)
        {
            throw TargetFailure.Of($"The directory '{directory}' cannot be used: {e.Message}", e);
        }
    }

    // The disk and the lock belong to the environment from here on.
    private static StorageEnvironment Start(
        IDisk disk, EnvironmentLock held, StorageOptions options, ILogger logger, EngineMeter meter, long began)
    {
        var parts = EngineOpener.Open(disk, held, options, logger, meter);
        StorageEnvironment environment;
        try
        {
            environment = new StorageEnvironment(parts);
        }
        catch (OutOfMemoryException e)
        {
            parts.CloseWriting();
            parts.Release();
            throw OpeningFailure.NoMemory(disk.Path, options, e);
        }
        catch
        {
            parts.CloseWriting();
            parts.Release();
            throw;
        }

        try
        {
            environment.BeginMeasuring();
            environment.BeginStatus();
            environment.CreateDeclaredTrees();
            environment._drops?.ResumeAtOpening();
            OpeningReport.Report(parts, began);
            return environment;
        }
        catch
        {
            environment.Dispose();
            throw;
        }
    }

    private void CreateDeclaredTrees()
    {
        if (Options.Trees.Count == 0)
            return;
        List<string> missing;
        using (var reading = BeginRead())
            missing = [.. Options.Trees.Except(reading.GetTreeNames())];
        if (missing.Count == 0)
            return;
        if (_writing == null)
        {
            throw new KeyNotFoundException(
                $"The environment in '{Path}' has no tree '{missing[0]}', which {nameof(StorageOptions)}.{nameof(StorageOptions.Trees)} declares, and " +
                "an opening for reading only cannot create it. Open the environment for writing first.");
        }

        using var writing = BeginWrite();
        writing.Durability = Durability.Durable;
        foreach (var name in missing)
            writing.CreateTree(name);
        writing.Commit();
    }
}
