namespace Tour;

/// <summary>The directory of the stores. A temporary one is removed at the end, also after an error or Ctrl+C.</summary>
internal sealed class Workplace : IDisposable
{
    // Four times what a tour has needed on a device of 200 MB/s.
    private const double FreeBytes = 1e9;
    private const double FreeBytesPerSecond = 1e9;
    private static readonly string[] FileSystemsInMemory = ["tmpfs", "ramfs"];

    private Workplace(string path, bool isKept)
    {
        Root = path;
        IsKept = isKept;
    }

    public string Root { get; }

    /// <summary>True if the user has named it.</summary>
    public bool IsKept { get; }

    /// <summary>Its file system and free space, and what that means for the rates.</summary>
    public string Description
    {
        get
        {
            var drive = new DriveInfo(Root);
            var memory = IsInMemory(Root) ? ", WHICH IS NO DISK: the rates of commits are those of memory" : "";
            return $"{Root} on {drive.DriveFormat}, {drive.AvailableFreeSpace / 1e9:N0} GB free{memory}";
        }
    }

    /// <param name="directory">A new or an empty directory; null for a temporary one.</param>
    /// <param name="time">How long each engine runs in each measurement.</param>
    public static Workplace Create(string? directory, TimeSpan time)
    {
        if (directory != null && (File.Exists(directory) || (Directory.Exists(directory) && Directory.EnumerateFileSystemEntries(directory).Any())))
            throw new TourException($"'{directory}' is not an empty directory. --directory needs a new or an empty one.");
        var path = directory == null
            ? Path.Combine(ChooseParent(), $"voron-tour-{Path.GetRandomFileName()}")
            : Path.GetFullPath(directory);
        try
        {
            if (OperatingSystem.IsWindows())
                Directory.CreateDirectory(path);
            else
                Directory.CreateDirectory(path, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new TourException($"The directory '{path}' cannot be made: {e.Message} --directory names another one.", e);
        }

        var workplace = new Workplace(path, isKept: directory != null);
        var (free, needed) = (new DriveInfo(path).AvailableFreeSpace, FreeBytes + FreeBytesPerSecond * time.TotalSeconds);
        if (free < needed)
        {
            workplace.Dispose();
            throw new TourException(
                $"'{path}' has {free / 1e9:F1} GB of free space, and the tour needs {needed / 1e9:F1}. --directory names another place.");
        }

        return workplace;
    }

    /// <summary>Returns the path of a file or directory in it.</summary>
    public string PathOf(string name) => Path.Combine(Root, name);

    public void Dispose()
    {
        if (IsKept)
            return;
        try
        {
            Directory.Delete(Root, recursive: true);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            Console.Error.WriteLine($"'{Root}' is left, and can be deleted: {e.Message}");
        }
    }

    // Rates of durable commits mean something on a disk only, and some systems keep temporary files in memory.
    private static string ChooseParent()
    {
        var temporary = Path.GetTempPath();
        string[] candidates = [temporary, "/var/tmp", Environment.GetFolderPath(Environment.SpecialFolder.LocalApplicationData)];
        return candidates.FirstOrDefault(static path => Directory.Exists(path) && !IsInMemory(path)) ?? temporary;
    }

    private static bool IsInMemory(string path) => FileSystemsInMemory.Contains(new DriveInfo(path).DriveFormat);
}
