namespace Voron.IO;

/// <summary>Temporary files of disks that cannot create a file without a name.</summary>
internal static class TemporaryFile
{
    private const int MaxNames = 1000;

    /// <summary>Returns the name that a temporary file has briefly where unnamed files cannot be created.</summary>
    public static string NameOf(int number) => number == 0 ? "voron.scratch" : $"voron.scratch-{number}";

    /// <summary>Creates a file and deletes its name. A name that exists already belongs to another owner: the next one is tried.</summary>
    public static DiskFile Open(IDisk disk, DiskAccess access)
    {
        for (var number = 0; ; number++)
        {
            var name = NameOf(number);
            DiskFile file;
            try
            {
                file = disk.Open(name, DiskOpen.New, access);
            }
            catch (DiskException e) when (e.Error == DiskError.AlreadyExists && number < MaxNames)
            {
                continue;
            }
            try
            {
                disk.Delete(name);
                return file;
            }
            catch
            {
                file.Dispose();
                throw;
            }
        }
    }
}
