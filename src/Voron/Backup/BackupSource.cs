using Voron.IO;

namespace Voron.Backup;

/// <summary>The bytes of a backup: a file, or a user's stream.</summary>
internal sealed class BackupSource
{
    private readonly Func<Stream> _open;

    private BackupSource(string name, bool isFile, Func<Stream> open)
    {
        Name = name;
        IsFile = isFile;
        _open = open;
    }

    /// <summary>The name for messages.</summary>
    public string Name { get; }

    /// <summary>
    /// True for a file: it can be read again and at any offset, its failures are storage failures, and its stream is closed after use.
    /// </summary>
    public bool IsFile { get; }

    public static BackupSource OfFile(string path)
    {
        ArgumentException.ThrowIfNullOrEmpty(path);
        var full = Path.GetFullPath(path);
        return new BackupSource(full, isFile: true, () => new FileStream(full, new FileStreamOptions
        {
            Mode = FileMode.Open,
            Access = FileAccess.Read,
            Share = FileShare.ReadWrite | FileShare.Delete,
            BufferSize = 0,
            Options = FileOptions.Asynchronous | FileOptions.SequentialScan,
        }));
    }

    /// <summary>Returns the source for a file on a disk, such as a simulated one.</summary>
    public static BackupSource OfFile(IDisk disk, string name) => new(
        $"{disk.Path}/{name}", isFile: true, () => new DiskFileStream(disk.Open(name, DiskOpen.Existing, DiskAccess.Buffered)));

    /// <summary>Returns the source for a user's stream, which is read from its position and left open.</summary>
    public static BackupSource OfStream(Stream stream)
    {
        ArgumentNullException.ThrowIfNull(stream);
        if (!stream.CanRead)
            throw new ArgumentException("A backup is read from this stream, but it cannot be read.", nameof(stream));
        return new BackupSource(stream is FileStream file ? file.Name : "stream", isFile: false, () => stream);
    }

    /// <exception cref="StorageAccessException">The file cannot be opened.</exception>
    public Stream Open()
    {
        try
        {
            return _open();
        }
        catch (Exception e) when (IsFailure(e))
        {
            throw new StorageAccessException($"The backup '{Name}' cannot be opened: {e.Message}", e);
        }
    }

    /// <summary>Returns true for a storage failure of a file; a failure of the user's stream does not count.</summary>
    public bool IsFailure(Exception e) => IsFile && e is (IOException or UnauthorizedAccessException);
}
