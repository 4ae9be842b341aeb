using System.Globalization;
using System.Text;

namespace Voron.IO.Windows;

/// <summary>A directory of Windows. Its changes are durable by the file system's journal, so that there is nothing to sync.</summary>
internal sealed class WindowsDisk : IDisk
{
    /// <summary>FILE_FLAG_NO_BUFFERING, which the base library passes on without a name for it.</summary>
    private const FileOptions NoBuffering = (FileOptions)0x2000_0000;

    private WindowsDisk(string path, bool readOnly)
    {
        Path = path;
        IsReadOnly = readOnly;
    }

    public string Path { get; }

    public int Alignment => DiskRules.Alignment;

    public bool IsReadOnly { get; }

    public bool IsUnbuffered => true;

    public static WindowsDisk Open(string path, bool readOnly)
    {
        if (!Directory.Exists(path))
            throw new DiskException(DiskError.NotFound, "open", path, "there is no such directory");
        string real = Directory.ResolveLinkTarget(path, returnFinalTarget: true)?.FullName ?? path;
        string? root = System.IO.Path.GetPathRoot(real);
        bool isShare = real.StartsWith(@"\\", StringComparison.Ordinal) && !real.StartsWith(@"\\?\", StringComparison.Ordinal);
        if (isShare || (root is { Length: 3 } && new DriveInfo(root).DriveType == DriveType.Network))
            throw new DiskException(DiskError.NotSupported, "open", real, "it is on a network file system; use a local one");
        return new WindowsDisk(real, readOnly);
    }

    public IReadOnlyList<DiskEntry> List() => SystemErrors.List(Path);

    public DiskFile Open(string name, DiskOpen open, DiskAccess access)
    {
        string path = PathOf(name);
        if (open == DiskOpen.New)
            DiskRules.CheckWritable(IsReadOnly, "create", path);
        try
        {
            var handle = File.OpenHandle(
                path,
                open == DiskOpen.New ? FileMode.CreateNew : FileMode.Open,
                IsReadOnly ? FileAccess.Read : FileAccess.ReadWrite,
                FileShare.ReadWrite | FileShare.Delete,
                access switch
                {
                    DiskAccess.WriteThrough => FileOptions.WriteThrough | NoBuffering,
                    DiskAccess.Unbuffered => NoBuffering,
                    _ => FileOptions.None,
                });
            return new WindowsFile(handle, path, access, IsReadOnly);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw SystemErrors.From(e, open == DiskOpen.New ? "create" : "open", path);
        }
    }

    public void Rename(string source, string target)
    {
        string from = PathOf(source);
        DiskRules.CheckWritable(IsReadOnly, "rename", from);
        try
        {
            File.Move(from, PathOf(target), overwrite: true);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw SystemErrors.From(e, "rename", from);
        }
    }

    public void Delete(string name)
    {
        string path = PathOf(name);
        DiskRules.CheckWritable(IsReadOnly, "delete", path);
        if (!File.Exists(path))
            throw new DiskException(DiskError.NotFound, "delete", path, "there is no such file");
        try
        {
            File.Delete(path);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw SystemErrors.From(e, "delete", path);
        }
    }

    public void SyncDirectory() => DiskRules.CheckWritable(IsReadOnly, "sync", Path);

    /// <summary>
    /// The sharing mode is the lock: an exclusive holder opens for writing and lets others only read, a shared one reads and
    /// lets nobody write.
    /// </summary>
    public IDisposable Lock(string name, bool shared)
    {
        string path = PathOf(name);
        if (IsReadOnly && !File.Exists(path))
            return Stream.Null;
        try
        {
            bool exclusive = !shared && !IsReadOnly;
            var mode = IsReadOnly ? FileMode.Open : FileMode.OpenOrCreate;

            // OpenOrCreate needs write access to create, which a shared holder must not keep.
            if (!exclusive && !IsReadOnly && !File.Exists(path))
                File.OpenHandle(path, mode, FileAccess.Write, FileShare.ReadWrite).Dispose();
            var handle = File.OpenHandle(
                path,
                exclusive ? mode : FileMode.Open,
                exclusive ? FileAccess.ReadWrite : FileAccess.Read,
                shared || exclusive ? FileShare.Read : FileShare.None);
            if (exclusive)
            {
                RandomAccess.SetLength(handle, 0);
                RandomAccess.Write(handle, Encoding.ASCII.GetBytes(Environment.ProcessId.ToString(CultureInfo.InvariantCulture)), 0);
            }
            return handle;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            var error = SystemErrors.From(e, "lock", path);
            throw error.Error == DiskError.Locked
                ? new DiskException(DiskError.Locked, "lock", path, "somebody else holds the lock" + Owner(path), error.NativeError)
                : error;
        }
    }

    public void Dispose()
    {
    }

    private static string Owner(string path)
    {
        try
        {
            using var handle = File.OpenHandle(path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite);
            Span<byte> text = stackalloc byte[20];
            int length = RandomAccess.Read(handle, text, 0);
            return length > 0 ? $"; the last to own it was process {Encoding.ASCII.GetString(text[..length])}" : "";
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return "";
        }
    }

    private string PathOf(string name)
    {
        DiskRules.CheckName(name);
        return System.IO.Path.Combine(Path, name);
    }
}
