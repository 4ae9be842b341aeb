using Microsoft.Extensions.Logging.Abstractions;
using Voron.Diagnostics;
using Voron.IO;
using Voron.Paging;

namespace Voron.Tool.Running;

/// <summary>An environment that another process may have open: what that process says in its status file, and the lock.</summary>
internal static class RunningEnvironment
{
    /// <summary>Returns the figures of the process that has the environment open for writing; null if it shows none.</summary>
    /// <param name="directory">The environment's directory.</param>
    /// <param name="reason">Why there are none.</param>
    public static StatusReading? TryRead(string directory, out string reason)
    {
        try
        {
            using var disk = FileSystemDisk.Open(directory, readOnly: true, NullLogger.Instance);
            return StatusFile.TryRead(disk, out reason);
        }
        catch (DiskException e)
        {
            reason = e.Message;
            return null;
        }
    }

    /// <summary>
    /// Opens an environment for reading. If another process has it open for writing, and shows its figures, answers with those, and returns null.
    /// </summary>
    /// <param name="directory">The environment's directory.</param>
    /// <param name="output">Receives the figures.</param>
    /// <param name="isWhole">See <see cref="RunningFacts.Write"/>.</param>
    /// <exception cref="EnvironmentInUseException">A process has it open and shows no figures.</exception>
    /// <inheritdoc cref="ToolContext.OpenToRead"/>
    public static StorageEnvironment? OpenOrShow(string directory, ToolOutput output, bool isWhole)
    {
        try
        {
            return ToolContext.OpenToRead(directory);
        }
        catch (EnvironmentInUseException)
        {
            if (TryRead(directory, out _) is not { } reading)
                throw;
            RunningFacts.Write(output, directory, reading, isWhole);
            return null;
        }
    }

    /// <summary>Returns whether a process has the environment open for writing. Holds the lock of a reader for a moment, if it is free.</summary>
    /// <exception cref="ToolException">There is no environment, or it cannot be looked at.</exception>
    public static bool IsOpenForWriting(string directory)
    {
        try
        {
            using var disk = FileSystemDisk.Open(directory, readOnly: true, NullLogger.Instance);
            using var held = disk.Lock(HeaderFile.FileName, shared: true);
            return false;
        }
        catch (DiskException e) when (e.Error == DiskError.Locked)
        {
            return true;
        }
        catch (DiskException e) when (e.Error == DiskError.NotFound)
        {
            throw new ToolException(ExitCode.NothingThere, $"There is no environment in '{directory}'.");
        }
        catch (DiskException e)
        {
            throw new ToolException(ExitCode.NoAccess, e.Message);
        }
    }
}
