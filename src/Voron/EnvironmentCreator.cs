using System.Runtime.InteropServices;
using System.Security.Cryptography;
using Voron.Format;
using Voron.FreeSpace;
using Voron.IO;
using Voron.Journal;
using Voron.Paging;

namespace Voron;

/// <summary>Makes a new environment in a directory that has none.</summary>
/// <remarks>
/// The header is made first, under another name, and renamed last: while it has that name, whatever else is there is
/// unfinished and may be made anew; once it has its own, everything is there.
/// </remarks>
internal static unsafe class EnvironmentCreator
{
    public const string DataFileName = "voron.data";

    private const string UnfinishedHeaderName = CheckpointFile.FileName + ".creating";
    private const int InitialBytes = 256 << 10;

    /// <summary>True when the directory has an environment that is complete.</summary>
    /// <exception cref="CorruptionException">It has parts of one, and no header.</exception>
    public static bool Exists(IDisk disk)
    {
        var names = disk.List().Select(entry => entry.Name).ToHashSet();
        if (names.Contains(CheckpointFile.FileName))
            return true;
        if (names.Contains(UnfinishedHeaderName))
            return false;
        var part = names.FirstOrDefault(name => name == DataFileName || JournalFile.IndexOf(name) >= 0);
        if (part != null)
            throw new CorruptionException($"'{disk.Path}' has '{part}', and no '{CheckpointFile.FileName}': the header of the environment is missing.");
        return false;
    }

    public static void Create(IDisk disk, int pageSize)
    {
        // While there is an unfinished header the data file may be deleted; alone, it would look like what is left of an environment.
        DeleteIfThere(disk, DataFileName);
        disk.SyncDirectory();
        DeleteIfThere(disk, UnfinishedHeaderName);
        var header = new CheckpointHeader
        {
            PageSize = (uint)pageSize,
            EnvironmentId = NewEnvironmentId(),
            CheckpointNumber = 1,
            State = new EnvironmentState { PageCount = InitialPages.Count, NextTreeId = 1 },
        };
        CheckpointFile.Create(disk, UnfinishedHeaderName, header);
        disk.SyncDirectory();
        CreateDataFile(disk, header);
        disk.SyncDirectory();
        disk.Rename(UnfinishedHeaderName, CheckpointFile.FileName);
        disk.SyncDirectory();
    }

    private static void CreateDataFile(IDisk disk, in CheckpointHeader header)
    {
        var layout = new SectionMapLayout((int)header.PageSize);
        using var pages = new InitialPages(layout);
        using var file = disk.Open(DataFileName, DiskOpen.New, DiskAccess.Buffered);
        file.Allocate(0, Math.Max(InitialBytes, InitialPages.Count * layout.PageSize));
        for (var page = 0L; page < InitialPages.Count; page++)
        {
            pages.Header(page)->Checksum = Checksum.Compute(
                pages.ReadPage(page) + PageHeader.UnjournaledBytes,
                (nuint)(layout.PageSize - PageHeader.UnjournaledBytes),
                Checksum.Seed(header.EnvironmentId, page));
        }

        file.Write(0, pages.Bytes);
        file.Sync();
    }

    private static void DeleteIfThere(IDisk disk, string name)
    {
        if (disk.List().Any(entry => entry.Name == name))
            disk.Delete(name);
    }

    private static UInt128 NewEnvironmentId()
    {
        Span<byte> bytes = stackalloc byte[16];
        RandomNumberGenerator.Fill(bytes);
        return MemoryMarshal.Read<UInt128>(bytes);
    }
}
