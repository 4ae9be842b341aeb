namespace Voron.Tool.Streams;

/// <summary>Files that only their owner may read, like those of an environment.</summary>
internal static class PrivateFile
{
    /// <summary>Creates a file that must not exist.</summary>
    /// <exception cref="IOException">It exists, or cannot be created.</exception>
    public static FileStream Create(string path, FileOptions options)
    {
        var creation = new FileStreamOptions { Mode = FileMode.CreateNew, Access = FileAccess.ReadWrite, Options = options };
        if (!OperatingSystem.IsWindows())
            creation.UnixCreateMode = UnixFileMode.UserRead | UnixFileMode.UserWrite;
        return new FileStream(path, creation);
    }
}
