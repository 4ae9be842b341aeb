using Microsoft.Extensions.Logging.Abstractions;
using Voron.IO;
using Voron.Paging;

namespace Voron.Backup;

/// <summary>An empty directory in which an environment is being made: it appears there completely or not at all.</summary>
/// <remarks>
/// <code>
///   empty ─▶ marker durable ─▶ environment made in a directory below ─▶ closed
///         ─▶ files moved up, the header last ─▶ marker deleted
/// </code>
/// While the marker exists and the header does not, every opening refuses the directory.
/// </remarks>
internal sealed class NewEnvironmentDirectory : IDisposable
{
    private const string PartName = "voron.compacted.partial";

    private readonly string _directory;
    private readonly IDisk _disk;

    // The files that this object has made in the directory, the marker first.
    private readonly List<string> _made = [];

    /// <summary>Reserves the directory, and creates it if it is missing.</summary>
    /// <exception cref="BackupException">The directory is not empty.</exception>
    /// <exception cref="StorageFullException">There is no space in the directory.</exception>
    /// <exception cref="StorageAccessException">The directory cannot be read, created or written.</exception>
    public NewEnvironmentDirectory(string directory, UnixFileMode fileMode)
    {
        _directory = directory;
        _disk = EmptyDirectory.Open(directory, fileMode, NullLogger.Instance);
        try
        {
            Begin();
        }
        catch (Exception e)
        {
            Dispose();
            if (e is IOException or UnauthorizedAccessException)
                throw TargetFailure.Of($"No environment can be made in '{directory}': {e.Message}", e);
            throw;
        }
    }

    /// <summary>The directory in which the environment is made.</summary>
    public string Part => PathIn(PartName);

    /// <summary>Moves the closed environment to its final place.</summary>
    /// <exception cref="IOException">The files cannot be moved.</exception>
    /// <exception cref="UnauthorizedAccessException">The files may not be moved.</exception>
    public void Complete()
    {
        foreach (var file in Directory.GetFiles(Part))
        {
            var name = Path.GetFileName(file);
            if (name == HeaderFile.FileName)
                continue;
            File.Move(file, PathIn(name));
            _made.Add(PathIn(name));
        }

        // The header is moved last: until then, the directory contains no environment. From then on, another caller may use the files.
        _disk.SyncDirectory();
        File.Move(Path.Combine(Part, HeaderFile.FileName), PathIn(HeaderFile.FileName));
        var marker = _made[0];
        _made.Clear();
        _disk.SyncDirectory();
        DeleteTraces(marker);
    }

    /// <summary>Deletes the files made so far, and nothing else, unless the environment is complete.</summary>
    public void Dispose()
    {
        if (_made.Count > 0)
            CleanUp();
        _made.Clear();
        _disk.Dispose();
    }

    private string PathIn(string name) => Path.Combine(_directory, name);

    // If another thread or process begins an environment in the same directory at this moment, it sees the marker, or is detected here.
    private void Begin()
    {
        var marker = PathIn(HeaderFile.UnfinishedCopyName);
        using (new FileStream(marker, FileMode.CreateNew))
            _made.Add(marker);
        if (Directory.EnumerateFileSystemEntries(_directory).FirstOrDefault(entry => entry != marker) is { } other)
            throw EnvironmentCopy.NotEmpty(_directory, Path.GetFileName(other));
        _disk.SyncDirectory();
    }

    // The environment exists, and is durable: leftover files next to it do no harm.
    private void DeleteTraces(string marker)
    {
        try
        {
            Directory.Delete(Part);
            File.Delete(marker);
            _disk.SyncDirectory();
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or DiskException)
        {
            // The next call that requires an empty directory names the leftover.
        }
    }

    private void CleanUp()
    {
        try
        {
            if (Directory.Exists(Part))
                Directory.Delete(Part, recursive: true);
            _made.Reverse();
            foreach (var file in _made)
                File.Delete(file);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // The marker remains: the next opening says what to do.
        }
    }
}
