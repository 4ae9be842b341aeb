using Microsoft.Extensions.Logging;
using Voron.Primitives;

namespace Voron.IO;

/// <summary>
/// Creates the temporary files of an environment: in its directory or, if it is open for reading only, where no file may be created in the
/// directory, in the system's directory for temporary files.
/// </summary>
/// <remarks>Several threads may call it concurrently.</remarks>
internal sealed class TemporaryFiles : IDisposable
{
    // Protects the disk of a reader, which is opened when it is first needed. Comes before the locks of the disk.
    private readonly Lock _gate = new();

    private readonly Func<IDisk>? _open;
    private IDisk? _disk;

    /// <param name="disk">The disk of the environment, which is owned by the caller.</param>
    public TemporaryFiles(IDisk disk) => _disk = disk;

    private TemporaryFiles(Func<IDisk> open) => _open = open;

    /// <summary>Creates the temporary files of an environment that is open for reading only.</summary>
    public static TemporaryFiles ForReader(ILogger logger) => new(() => FileSystemDisk.Open(Path.GetTempPath(), readOnly: false, logger));

    /// <summary>Creates a file that vanishes with its handle.</summary>
    /// <exception cref="DiskException">The file cannot be created.</exception>
    public DiskFile Open(DiskAccess access = DiskAccess.Buffered)
    {
        using (Uninterrupted.Hold(_gate))
            _disk ??= _open!();
        return _disk.OpenTemporary(access);
    }

    /// <summary>Returns the exception for data that could not be moved out of memory.</summary>
    /// <param name="what">The data.</param>
    /// <param name="e">The failure of the disk.</param>
    public static VoronException Failure(string what, DiskException e) => e.Error == DiskError.NoSpace
        ? new StorageFullException($"{what} over its limit, and the disk has no space for its spill file: {e.Message}", e)
        : new StorageAccessException($"{what} over its limit, and cannot be moved to a spill file: {e.Message}", e);

    public void Dispose()
    {
        if (_open != null)
            _disk?.Dispose();
    }
}
