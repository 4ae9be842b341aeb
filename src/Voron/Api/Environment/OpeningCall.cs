using System.Diagnostics;
using Microsoft.Extensions.Logging;
using Voron.Backup;
using Voron.IO;
using Voron.Opening;
using Voron.Primitives;

namespace Voron;

/// <summary>Opens an environment: waits for its lock, opens its files, begins its work, and reports the outcome.</summary>
/// <typeparam name="T">The environment.</typeparam>
/// <param name="options">Valid options, which do not change.</param>
/// <param name="make">Creates the environment of an opened engine.</param>
/// <param name="begin">Begins the work that needs an environment that can be closed.</param>
internal sealed class OpeningCall<T>(StorageOptions options, Func<OpenedEngine, T> make, Action<T> begin)
    where T : IDisposable
{
    private static readonly TimeSpan LogPatience = TimeSpan.FromSeconds(5);

    private readonly EngineMeter _meter = EngineMeter.Of(options.MeterFactory);
    private readonly ILogger _logger = GuardedLogger.Of(options.LoggerFactory);

    /// <summary>Opens the environment in a directory.</summary>
    public T Run(string directory) => Run(OpenDisk(directory));

    /// <summary>Opens the environment on a disk, which the environment owns and disposes.</summary>
    public T Run(IDisk disk)
    {
        var began = Stopwatch.GetTimestamp();
        try
        {
            var held = LockWait.Take(disk, options, _logger);

            // The reported time of the opening does not include the wait for another process.
            began = Stopwatch.GetTimestamp();
            return Start(disk, held, began);
        }
        catch (Exception e)
        {
            OpeningReport.ReportFailed(disk.Path, options, began, e);
            throw;
        }
        finally
        {
            GuardedLogger.Finish(_logger, LogPatience);
        }
    }

    /// <summary>Opens the environment in a directory. The wait for the lock blocks no thread, and can be cancelled.</summary>
    public async Task<T> RunAsync(string directory, CancellationToken cancellationToken)
    {
        var began = Stopwatch.GetTimestamp();
        try
        {
            var disk = OpenDisk(directory);
            var held = await LockWait.TakeAsync(disk, options, _logger, cancellationToken).ConfigureAwait(false);
            began = Stopwatch.GetTimestamp();
            return Start(disk, held, began);
        }
        catch (Exception e)
        {
            OpeningReport.ReportFailed(directory, options, began, e);
            throw;
        }
        finally
        {
            GuardedLogger.Finish(_logger, LogPatience);
        }
    }

    private IDisk OpenDisk(string directory)
    {
        var creates = !options.ReadOnly && options.OpenMode != OpenMode.OpenExisting;
        try
        {
            return FileSystemDisk.Open(directory, options.ReadOnly, _logger, options.FileMode, creates);
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
    private T Start(IDisk disk, EnvironmentLock held, long began)
    {
        var opened = EngineOpener.Open(disk, held, options, _logger, _meter);
        var environment = Make(opened);
        try
        {
            begin(environment);
            OpeningReport.Report(opened, began);
            return environment;
        }
        catch
        {
            environment.Dispose();
            throw;
        }
    }

    private T Make(OpenedEngine opened)
    {
        try
        {
            return make(opened);
        }
        catch (OutOfMemoryException e)
        {
            opened.Abandon();
            throw OpeningFailure.NoMemory(opened.Engine.Disk.Path, options, e);
        }
        catch
        {
            opened.Abandon();
            throw;
        }
    }
}
