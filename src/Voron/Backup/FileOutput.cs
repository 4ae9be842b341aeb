using Microsoft.Extensions.Logging.Abstractions;
using Voron.Format;
using Voron.IO;

namespace Voron.Backup;

/// <summary>A file for a backup. It has a temporary name and a lock until it is complete and durable.</summary>
/// <remarks>
/// <code>
///   NAME.RANDOM.partial created, locked ─▶ written ─▶ synced ─▶ renamed to NAME ─▶ directory synced
///        └──── cancelled or failed: deleted; killed: left, and deleted by the next backup of that name, or of that set ────┘
/// </code>
/// </remarks>
internal sealed class FileOutput : IFrameOutput
{
    /// <summary>The suffix of the name of an unfinished backup.</summary>
    public const string UnfinishedSuffix = ".partial";

    private const int BufferBytes = 1 << 20;

    private const int MostTries = 8;

    private readonly IDisk _disk;
    private readonly string _name;
    private readonly string _unfinished;
    private readonly DiskFile _file;
    private readonly IDisposable? _lock;
    private readonly AlignedBuffer _buffer = new(BufferBytes);
    private long _offset;
    private int _buffered;
    private bool _isNamed;
    private bool _isFinished;

    private FileOutput(IDisk disk, string name, string unfinished, DiskFile file, IDisposable? held)
    {
        _disk = disk;
        _name = name;
        _unfinished = unfinished;
        _file = file;
        _lock = held;
    }

    /// <summary>Called with the complete file before it gets its name; an exception prevents the rename. Null for no call.</summary>
    public Func<BackupSource, CancellationToken, Task>? Verify { get; set; }

    private string FullName => System.IO.Path.Combine(_disk.Path, _name);

    /// <exception cref="ArgumentException">The path does not name a file.</exception>
    public static void CheckPath(string path, string parameter)
    {
        var full = System.IO.Path.GetFullPath(path);
        if (System.IO.Path.GetDirectoryName(full) == null || System.IO.Path.GetFileName(full).Length == 0)
            throw new ArgumentException($"'{path}' is not the path of a file.", parameter);
    }

    /// <summary>Creates the file of a path.</summary>
    /// <inheritdoc cref="Create"/>
    public static FileOutput Open(string path, UnixFileMode fileMode)
    {
        CheckPath(path, nameof(path));
        var full = System.IO.Path.GetFullPath(path);
        if (Directory.Exists(full))
            throw new BackupException(BackupFault.TargetNotEmpty, $"The backup '{full}' cannot be made: a directory of that name exists.");
        var directory = System.IO.Path.GetDirectoryName(full)!;
        IDisk disk;
        try
        {
            disk = FileSystemDisk.Open(directory, readOnly: false, NullLogger.Instance, fileMode, creates: false, acceptsNetwork: true);
        }
        catch (DiskException e)
        {
            throw new StorageAccessException($"The directory '{directory}' cannot be used for a backup: {e.Message}", e);
        }

        return Create(disk, System.IO.Path.GetFileName(full));
    }

    /// <summary>Creates the file. Owns the disk from then on.</summary>
    /// <param name="disk">The directory.</param>
    /// <param name="name">The name of the backup.</param>
    /// <exception cref="BackupException">A file of that name exists.</exception>
    /// <exception cref="StorageAccessException">The file cannot be created.</exception>
    public static FileOutput Create(IDisk disk, string name)
    {
        try
        {
            return CreateOn(disk, name);
        }
        catch (DiskException e)
        {
            disk.Dispose();
            throw Failure(System.IO.Path.Combine(disk.Path, name), e);
        }
        catch
        {
            disk.Dispose();
            throw;
        }
    }

    /// <inheritdoc/>
    public void Expect(long bytes, bool mayShrink)
    {
        var available = _disk.AvailableBytes;
        if (!mayShrink && bytes > available)
        {
            throw new StorageFullException(
                $"There is no space for the backup '{FullName}', so it was not made: it needs at least {bytes} bytes, but the volume has only " +
                $"{available} free.");
        }
    }

    public Task WriteAsync(ReadOnlyMemory<byte> bytes, CancellationToken stop)
    {
        stop.ThrowIfCancellationRequested();
        var source = bytes.Span;
        while (source.Length > 0)
        {
            var count = Math.Min(source.Length, BufferBytes - _buffered);
            source[..count].CopyTo(_buffer.Memory.Span[_buffered..]);
            source = source[count..];
            _buffered += count;
            if (_buffered == BufferBytes)
                WriteBuffer();
        }

        return Task.CompletedTask;
    }

    public async Task FinishAsync(CancellationToken stop)
    {
        stop.ThrowIfCancellationRequested();
        WriteBuffer();
        try
        {
            _file.Sync();
            if (Verify is { } verify)
                await verify(BackupSource.OfFile(_disk, _unfinished), stop).ConfigureAwait(false);
            _disk.Rename(_unfinished, _name);
            _isNamed = true;
            _disk.SyncDirectory();
            _isFinished = true;
        }
        catch (DiskException e) when (e.Error == DiskError.AlreadyExists)
        {
            throw IsThere(FullName);
        }
        catch (DiskException e)
        {
            throw Failure(FullName, e);
        }
    }

    public ValueTask DisposeAsync()
    {
        _file.Dispose();

        // The lock is held until then: otherwise, another process would take the file for an abandoned one.
        if (!_isFinished)
            OwnFile.TryDelete(_disk, _isNamed ? _name : _unfinished);
        _lock?.Dispose();
        _disk.Dispose();
        return ValueTask.CompletedTask;
    }

    private static FileOutput CreateOn(IDisk disk, string name)
    {
        var files = disk.List();
        if (files.Any(entry => entry.Name == name))
            throw IsThere(System.IO.Path.Combine(disk.Path, name));
        foreach (var left in files.Where(entry => IsUnfinished(entry.Name, name)))
            TryDeleteLeft(disk, left.Name);

        // Between its creation and its lock, a file looks like one that a killed process left, and another backup may delete it.
        for (var tries = 1; ; tries++)
        {
            if (TryCreateUnfinished(disk, name, isLast: tries == MostTries) is { } output)
                return output;
        }
    }

    // The unique name keeps two backups from writing to the same file. Returns null if another backup took the file for an abandoned one.
    private static FileOutput? TryCreateUnfinished(IDisk disk, string name, bool isLast)
    {
        var unfinished = $"{name}.{RandomId.New()}{UnfinishedSuffix}";
        var file = disk.Open(unfinished, DiskOpen.New, DiskAccess.Unbuffered);
        IDisposable? held = null;
        try
        {
            held = TryLock(disk, unfinished);
            if (held == null || isLast || disk.List().Any(entry => entry.Name == unfinished))
                return new FileOutput(disk, name, unfinished, file, held);
        }
        catch (DiskException e) when (e.Error is DiskError.Locked or DiskError.NotFound && !isLast)
        {
            // The other backup holds it, or has deleted it.
        }
        catch
        {
            file.Dispose();
            OwnFile.TryDelete(disk, unfinished);
            held?.Dispose();
            throw;
        }

        file.Dispose();
        held?.Dispose();
        return null;
    }

    // Returns true for an unfinished backup of a name. Each backup of a set has a different name, so a set checks for any name that a set generates.
    private static bool IsUnfinished(string file, string name)
    {
        var length = file.Length - UnfinishedSuffix.Length - 2 * RandomId.Size - 1;
        if (length <= 0 || file[length] != '.' || !file.EndsWith(UnfinishedSuffix, StringComparison.Ordinal)
            || !file.Substring(length + 1, 2 * RandomId.Size).All(char.IsAsciiHexDigitUpper))
        {
            return false;
        }

        var other = file[..length];
        return other == name || (BackupShelf.IsOwnName(name) && BackupShelf.IsOwnName(other));
    }

    // A killed process leaves an unfinished backup. A locked one is being written, and one that cannot be locked may be.
    private static void TryDeleteLeft(IDisk disk, string unfinished)
    {
        try
        {
            using var held = TryLock(disk, unfinished);
            if (held != null)
                disk.Delete(unfinished);
        }
        catch (DiskException)
        {
            // It does no harm.
        }
    }

    // Some network file systems do not support locks.
    private static IDisposable? TryLock(IDisk disk, string unfinished)
    {
        try
        {
            return disk.Lock(unfinished, shared: false);
        }
        catch (DiskException e) when (e.Error == DiskError.NotSupported)
        {
            return null;
        }
    }

    private void WriteBuffer()
    {
        if (_buffered == 0)
            return;
        try
        {
            _file.Write(_offset, _buffer.Memory.Span[.._buffered]);
        }
        catch (DiskException e)
        {
            throw Failure(FullName, e);
        }

        _offset += _buffered;
        _buffered = 0;
    }

    private static BackupException IsThere(string path) => new(
        BackupFault.TargetNotEmpty, $"The backup '{path}' cannot be made: a file of that name exists. A backup never replaces a file.");

    private static Exception Failure(string path, DiskException failure) => failure.Error == DiskError.NoSpace
        ? new StorageFullException($"There is no space for the backup '{path}', so it was not made: {failure.Message}", failure)
        : new StorageAccessException($"The backup '{path}' could not be written: {failure.Message}", failure);
}
