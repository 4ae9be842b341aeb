using Microsoft.Extensions.Logging.Abstractions;
using Voron.Format;
using Voron.IO;
using Voron.Paging;

namespace Voron.Opening;

/// <summary>
/// The unmodified files of an environment that no process has open for writing: nothing is recovered or changed, and files other than the header
/// may be damaged. The environment's lock is held, shared with readers.
/// </summary>
internal sealed class EnvironmentFiles : IDisposable
{
    private readonly EnvironmentLock _lock;

    private EnvironmentFiles(IDisk disk, EnvironmentLock held, CheckpointHeader header) => (Disk, _lock, Header) = (disk, held, header);

    /// <summary>The directory, opened for reading only.</summary>
    public IDisk Disk { get; }

    /// <summary>The header of the environment.</summary>
    public CheckpointHeader Header { get; }

    /// <summary>Opens the files in a directory.</summary>
    /// <exception cref="EnvironmentNotFoundException">There is no environment.</exception>
    /// <exception cref="EnvironmentInUseException">A process has it open for writing.</exception>
    /// <exception cref="UnsupportedFormatException">The header has a newer format, or belongs to another program.</exception>
    /// <exception cref="CorruptionException">The header is damaged.</exception>
    /// <exception cref="StorageAccessException">The directory or the header cannot be read.</exception>
    public static EnvironmentFiles Open(string directory)
    {
        ArgumentException.ThrowIfNullOrEmpty(directory);
        var options = new StorageOptions { ReadOnly = true };
        IDisk? disk = null;
        EnvironmentLock? held = null;
        try
        {
            disk = FileSystemDisk.Open(directory, readOnly: true, NullLogger.Instance);
            held = EnvironmentLock.Take(disk, options);
            using var checkpoints = HeaderFile.Open(disk);
            return new EnvironmentFiles(disk, held, checkpoints.Current);
        }
        catch (Exception e)
        {
            held?.Dispose();
            disk?.Dispose();
            if (disk == null && e is DiskException { Error: DiskError.NotFound })
                throw EnvironmentLock.NotFound(directory, options, cause: e);
            OpeningFailure.ThrowTranslated(directory, options, e);
            throw;
        }
    }

    public void Dispose()
    {
        _lock.Dispose();
        Disk.Dispose();
    }
}
