using Voron.IO;

namespace Voron.Opening;

/// <summary>Locks one file of an environment.</summary>
internal static class EnvironmentFileLock
{
    /// <summary>Locks the file with the given name; returns null if there is none.</summary>
    /// <exception cref="EnvironmentInUseException">The file is already locked.</exception>
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
            throw new EnvironmentInUseException($"The environment in '{disk.Path}' is already open: {e.Message}{ClosedEnvironments.Describe(disk)}", e);
        }
    }
}
