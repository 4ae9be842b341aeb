using Voron.IO;
using Voron.Paging;

namespace Voron;

/// <summary>
/// The locks that make a directory this environment's: exclusive for one that may write, shared for readers. Both are on files that every
/// environment has and that are never replaced, the header and the data file, so there is nothing that could be missing or left behind.
/// </summary>
/// <remarks>
/// The header alone would do while nobody touches the files. The data file is locked as well because a copy of the header beside a link to
/// the data file is a way to have two writers.
/// </remarks>
internal sealed class EnvironmentLock : IDisposable
{
    /// <summary>How often an environment may be made, or go away, by another process while this one looks for it.</summary>
    private const int MaxTries = 100;

    private readonly IDisposable _header;
    private IDisposable? _data;

    private EnvironmentLock(IDisposable header) => _header = header;

    /// <summary>Locks the environment in a directory, and makes it first when there is none and it may be made.</summary>
    /// <exception cref="EnvironmentInUseException">It is open already, or just being made.</exception>
    /// <exception cref="CorruptionException">The directory has parts of an environment, and no header.</exception>
    public static EnvironmentLock Take(IDisk disk, StorageOptions options)
    {
        for (var tries = 0; tries < MaxTries; tries++)
        {
            if (TryTake(disk, CheckpointFile.FileName, options.ReadOnly) is { } held)
                return new EnvironmentLock(held);
            if (options.ReadOnly)
            {
                EnvironmentCreator.ThrowIfHeaderIsMissing(disk);
                throw new StorageAccessException($"There is no environment in '{disk.Path}', and one that is opened for reading only is not made.");
            }

            if (EnvironmentCreator.TryCreate(disk, options.PageSize) is { } made)
                return new EnvironmentLock(made);
        }

        throw new EnvironmentInUseException($"The environment in '{disk.Path}' is made and removed by other processes all the time.");
    }

    /// <summary>Locks a file of that name; null when there is none.</summary>
    /// <exception cref="EnvironmentInUseException">The file is locked already.</exception>
    public static IDisposable? TryTake(IDisk disk, string name, bool shared)
    {
        try
        {
            return disk.Lock(name, shared);
        }
        catch (DiskException e) when (e.Error == DiskError.NotFound)
        {
            return null;
        }
        catch (DiskException e) when (e.Error == DiskError.Locked)
        {
            throw new EnvironmentInUseException($"The environment in '{disk.Path}' is open already: {e.Message}{ClosedEnvironments.Describe(disk)}", e);
        }
    }

    /// <summary>Locks the data file too.</summary>
    /// <exception cref="EnvironmentInUseException">Another environment has the same data file open, under another name.</exception>
    public void TakeDataFile(IDisk disk, bool shared) =>
        _data = TryTake(disk, EnvironmentCreator.DataFileName, shared)
            ?? throw new CorruptionException($"'{disk.Path}' has no '{EnvironmentCreator.DataFileName}'.");

    public void Dispose()
    {
        _data?.Dispose();
        _header.Dispose();
    }
}
