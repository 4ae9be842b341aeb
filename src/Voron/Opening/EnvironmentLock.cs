using Voron.IO;
using Voron.Paging;

namespace Voron.Opening;

/// <summary>
/// The locks that reserve a directory for this environment: exclusive for an environment that may write, shared for read-only ones. They are
/// on the header and the data file, which every environment has and which are never replaced, so no lock file can be missing or left behind.
/// </summary>
/// <remarks>
/// Locking the header alone would suffice as long as the files are not tampered with. The data file is locked as well because a copy of the header
/// next to a link to the data file would allow two writers.
/// </remarks>
internal sealed class EnvironmentLock : IDisposable
{
    /// <summary>The number of times that other processes may create or remove the environment while this one looks for it.</summary>
    private const int MaxTries = 100;

    private readonly IDisposable _header;
    private IDisposable? _data;

    private EnvironmentLock(IDisposable header) => _header = header;

    /// <summary>True if the files of the environment were made when the lock was taken.</summary>
    public bool HasMadeFiles { get; private init; }

    /// <summary>Locks the environment in a directory; creates it first if there is none and the options allow it.</summary>
    /// <exception cref="EnvironmentInUseException">The environment is already open, or is just being created.</exception>
    /// <exception cref="EnvironmentNotFoundException">There is none, and the options do not allow creating it.</exception>
    /// <exception cref="EnvironmentExistsException">There is one, and the options want a new one.</exception>
    /// <exception cref="CorruptionException">The directory contains parts of an environment, but no header.</exception>
    public static EnvironmentLock Take(IDisk disk, StorageOptions options)
    {
        for (var tries = 0; tries < MaxTries; tries++)
        {
            // A new environment has no header yet that could be locked.
            if (options.OpenMode == OpenMode.CreateNew)
                ThrowIfExists(disk);
            else if (EnvironmentFileLock.TryTake(disk, HeaderFile.FileName, options.ReadOnly) is { } held)
                return new EnvironmentLock(held);
            if (options.ReadOnly || options.OpenMode == OpenMode.OpenExisting)
            {
                EnvironmentCreator.ThrowIfHeaderIsMissing(disk);
                throw NotFound(disk.Path, options, EnvironmentCreator.DescribeUnfinished(disk));
            }

            var mustBeNew = options.OpenMode == OpenMode.CreateNew;
            var version = (uint)options.FormatVersion;
            if (EnvironmentCreator.TryCreate(disk, options.PageSizeOrDefault, version, mustBeNew, out var hasMadeFiles) is { } made)
                return new EnvironmentLock(made) { HasMadeFiles = hasMadeFiles };
        }

        throw new EnvironmentInUseException($"Other processes keep creating and removing the environment in '{disk.Path}'. Stop them, then open it again.");
    }

    /// <summary>Returns the exception for an opening that finds no environment and must not create one.</summary>
    /// <param name="path">The directory.</param>
    /// <param name="options">The options.</param>
    /// <param name="found">The content found instead, as a sentence that begins with a space; or empty.</param>
    /// <param name="cause">The failure, or null.</param>
    public static EnvironmentNotFoundException NotFound(string path, StorageOptions options, string found = "", Exception? cause = null)
    {
        var reason = options.ReadOnly
            ? $"opening it for reading only ({nameof(StorageOptions.ReadOnly)})"
            : $"{nameof(StorageOptions.OpenMode)}.{options.OpenMode}";
        return new EnvironmentNotFoundException($"There is no environment in '{path}', and {reason} does not create one.{found}", cause);
    }

    /// <summary>Locks the data file too.</summary>
    /// <exception cref="EnvironmentInUseException">Another environment has the same data file open under another name.</exception>
    public void TakeDataFile(IDisk disk, bool shared) =>
        _data = EnvironmentFileLock.TryTake(disk, DataFile.FileName, shared)
            ?? throw new CorruptionException($"The data file '{DataFile.FileName}' is missing from '{disk.Path}'. Restore the whole directory from a backup.");

    // A header that is renamed while the directory is read may be missed. Then the creation finds it, and fails.
    private static void ThrowIfExists(IDisk disk)
    {
        if (disk.List().Any(entry => entry.Name == HeaderFile.FileName))
        {
            throw new EnvironmentExistsException(
                $"'{disk.Path}' already contains an environment, so {nameof(OpenMode)}.{OpenMode.CreateNew} cannot create one. " +
                $"Use another directory, or open it with {nameof(OpenMode)}.{OpenMode.OpenOrCreate}.");
        }
    }

    public void Dispose()
    {
        _data?.Dispose();
        _header.Dispose();
    }
}
