using Voron.Format;
using Voron.IO;
using Voron.Journal;
using Voron.Paging;

namespace Voron.Opening;

/// <summary>The files of an environment other than its header: each is created before the header exists, or requires one.</summary>
internal static unsafe class EnvironmentParts
{
    /// <summary>Returns one of these files, identified by its name; null if there is none.</summary>
    public static string? Find(IEnumerable<string> names) => names.FirstOrDefault(IsName);

    /// <summary>Returns the exception for a directory that contains these files, or the marker of an unfinished copy, but no header.</summary>
    /// <returns>
    /// A <see cref="CorruptionException"/> if the content of a file shows that there was an environment; otherwise an
    /// <see cref="UnsupportedFormatException"/>, because files of another program may have these names.
    /// </returns>
    public static VoronException HeaderIsMissing(IDisk disk, string part)
    {
        if (part == HeaderFile.UnfinishedCopyName)
            return CopyIsUnfinished(disk);
        foreach (var name in disk.List().Select(entry => entry.Name).Where(IsName))
        {
            if (IsOurs(disk, name))
            {
                return new CorruptionException(
                    $"'{disk.Path}' contains '{name}', but not the '{HeaderFile.FileName}' that belongs to it: the header of the environment is missing. " +
                    "Nothing was changed. Restore the whole directory from a backup.");
            }
        }

        return new UnsupportedFormatException(
            $"'{disk.Path}' contains '{part}', which has the name of a file of an environment, but not the content of one, and there is no '{HeaderFile.FileName}'. " +
            "Nothing was changed. Move the file elsewhere, or open another directory.");
    }

    /// <summary>Returns the exception for a directory into which an environment has been partly copied or restored.</summary>
    public static CorruptionException CopyIsUnfinished(IDisk disk) => new(
        $"'{disk.Path}' contains '{HeaderFile.UnfinishedCopyName}', but no '{HeaderFile.FileName}': a copy or a restore into this directory was not finished. " +
        "Nothing was changed. Delete the content of the directory, and restore or copy again.");

    private static bool IsName(string name) => name == DataFile.FileName || JournalFile.IndexOf(name) > 0 || JournalFile.UnnamedIndexOf(name) > 0
        || JournalSnapshotFile.NumberOf(name) > 0;

    private static bool IsOurs(IDisk disk, string name)
    {
        using var file = disk.Open(name, DiskOpen.Existing, DiskAccess.Buffered);
        return name == DataFile.FileName ? BeginsWithMap(file) : JournalSign.IsOn(file);
    }

    // The first page of a data file is always a section map. Its checksum cannot be checked without the header.
    private static bool BeginsWithMap(DiskFile file)
    {
        PageHeader page = default;
        if (file.Length < PageHeader.Size)
            return false;
        file.Read(0, new Span<byte>(&page, PageHeader.Size));
        return page is { PageNumber: 0, Kind: PageKind.SectionMap };
    }
}
