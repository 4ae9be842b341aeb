using System.Diagnostics.CodeAnalysis;
using Voron.Format;
using Voron.FreeSpace;
using Voron.IO;
using Voron.Paging;
using Voron.Recovery;
using Voron.Testing;

namespace Voron.Opening;

/// <summary>Creates a new environment in a directory that contains none.</summary>
/// <remarks>
/// <para>
/// Header and data file are created under temporary names, and get their final names when they are complete and durable: the data file first, the
/// header last. The creator holds the lock of the unfinished header. The lock survives the rename of the header, so an environment is never
/// unlocked. An opening that finds a header takes no part in the creation.
/// </para>
/// <para>
/// A data file under its final name is therefore never deleted, whatever other files exist. If a matching unfinished header exists, only the last
/// rename is missing, or was lost by the file system; otherwise, the data file is the remainder of an environment.
/// </para>
/// </remarks>
internal static unsafe class EnvironmentCreator
{
    public const string UnfinishedHeaderName = HeaderFile.FileName + ".creating";
    public const string UnfinishedDataName = DataFile.FileName + ".creating";
    private const long NewCheckpointNumber = 1;

    /// <summary>The largest unfinished data file in bytes: earlier versions of the engine created larger ones.</summary>
    private const int LargestUnfinishedBytes = 256 << 10;

    /// <summary>Checks a directory for files that cannot exist without a header.</summary>
    /// <exception cref="CorruptionException">
    /// There are such files, no header, and no sign that an environment was being created; or a copy into the directory was not finished.
    /// </exception>
    public static void ThrowIfHeaderIsMissing(IDisk disk)
    {
        // A header that is renamed while the directory is read may be seen under neither name. The second reading finds it under its final name.
        if (LacksHeader(disk, out _) && LacksHeader(disk, out var part))
            throw EnvironmentParts.HeaderIsMissing(disk, part);
    }

    /// <summary>Describes a creation that was cut short, for an opening that does not complete it; empty if there is none.</summary>
    public static string DescribeUnfinished(IDisk disk) => NamesOf(disk).Contains(UnfinishedHeaderName)
        ? $" The creation of one was cut short, or its header has lost its name: there is a '{UnfinishedHeaderName}'. An opening for writing with " +
            $"{nameof(OpenMode)}.{OpenMode.OpenOrCreate} completes it."
        : "";

    /// <summary>
    /// Creates an environment, or completes one that another process has begun to create, and returns its lock. Returns null if an
    /// environment exists by now.
    /// </summary>
    /// <param name="disk">The directory.</param>
    /// <param name="pageSize">The page size in bytes.</param>
    /// <param name="version">The version of the format.</param>
    /// <param name="mustBeNew">True to refuse an environment that has been used, which is found only if its header has lost its final name.</param>
    /// <param name="hasMadeFiles">True if this call has made its files, rather than completed what another process began.</param>
    /// <exception cref="EnvironmentInUseException">Another process is creating it.</exception>
    /// <exception cref="EnvironmentExistsException">The environment that would be completed has been used.</exception>
    /// <exception cref="CorruptionException">The directory contains parts of an environment, but no header.</exception>
    public static IDisposable? TryCreate(IDisk disk, int pageSize, uint version, bool mustBeNew, out bool hasMadeFiles)
    {
        hasMadeFiles = false;
        ThrowIfHeaderIsMissing(disk);
        try
        {
            disk.Open(UnfinishedHeaderName, DiskOpen.New, DiskAccess.WriteThrough).Dispose();
        }
        catch (DiskException e) when (e.Error == DiskError.AlreadyExists)
        {
            // Another creator is at work, or was.
        }

        // Null: the file is gone, because the header has just got its final name.
        var held = EnvironmentFileLock.TryTake(disk, UnfinishedHeaderName, shared: false);
        if (held == null)
            return null;
        try
        {
            if (TryCreateLocked(disk, pageSize, version, mustBeNew, out hasMadeFiles))
                return held;
        }
        catch
        {
            held.Dispose();
            throw;
        }

        held.Dispose();
        return null;
    }

    private static bool LacksHeader(IDisk disk, [NotNullWhen(true)] out string? part)
    {
        var names = NamesOf(disk);
        part = names.Contains(HeaderFile.FileName) ? null
            : names.Contains(HeaderFile.UnfinishedCopyName) ? HeaderFile.UnfinishedCopyName
            : names.Contains(UnfinishedHeaderName) ? null
            : EnvironmentParts.Find(names);
        return part != null;
    }

    private static bool TryCreateLocked(IDisk disk, int pageSize, uint version, bool mustBeNew, out bool hasMadeFiles)
    {
        hasMadeFiles = false;
        // Only the holder of this lock gives a header its final name: a header that is missing now will not appear.
        var names = NamesOf(disk);
        if (names.Contains(HeaderFile.FileName))
        {
            DeleteIfEmpty(disk, UnfinishedHeaderName);
            return false;
        }

        // A copy that begins in the same directory at this moment sees the unfinished header, or is detected here.
        if (names.Contains(HeaderFile.UnfinishedCopyName))
        {
            DeleteIfEmpty(disk, UnfinishedHeaderName);
            throw EnvironmentParts.CopyIsUnfinished(disk);
        }

        var header = TryReadHeader(disk);
        if (EnvironmentParts.Find(names) is { } part && !PlantedFault.RemakeDataFile)
        {
            if (header is not { } unfinished || !names.Contains(DataFile.FileName) || !Fits(disk, unfinished))
                throw EnvironmentParts.HeaderIsMissing(disk, part);
            if (mustBeNew && IsUsed(disk, unfinished))
            {
                throw new EnvironmentExistsException(
                    $"'{disk.Path}' contains an environment whose header is named '{UnfinishedHeaderName}', so " +
                    $"{nameof(OpenMode)}.{OpenMode.CreateNew} cannot create one. Use another directory, or open it with " +
                    $"{nameof(OpenMode)}.{OpenMode.OpenOrCreate}, which restores the name.");
            }
        }
        else
        {
            MakeFiles(disk, NewHeader(pageSize, version));
            disk.Rename(UnfinishedDataName, DataFile.FileName);
            hasMadeFiles = true;
        }

        // Also needed if a process got this far and was killed: its visible work is not necessarily durable.
        disk.SyncDirectory();
        disk.Rename(UnfinishedHeaderName, HeaderFile.FileName);
        disk.SyncDirectory();
        return true;
    }

    // Without enough space, an allocation may leave a file of any length, which the next opening would take for a foreign one. If files cannot be
    // mapped, no opening would use the files.
    private static void MakeFiles(IDisk disk, in CheckpointHeader made)
    {
        var hasData = false;
        try
        {
            HeaderFile.Fill(disk, UnfinishedHeaderName, made);
            disk.SyncDirectory();
            CreateDataFile(disk, made, ref hasData);
        }
        catch (DiskException e) when (e.Error is DiskError.NoSpace or DiskError.NotSupported)
        {
            if (hasData)
                OwnFile.TryDelete(disk, UnfinishedDataName);
            OwnFile.TryDelete(disk, UnfinishedHeaderName);
            throw;
        }
    }

    /// <summary>Returns the unfinished header if it is complete; null if it was never written, or only in part.</summary>
    private static CheckpointHeader? TryReadHeader(IDisk disk)
    {
        try
        {
            using var file = HeaderFile.Open(disk, UnfinishedHeaderName);
            return file.Current;
        }
        catch (Exception e) when (e is CorruptionException or UnsupportedFormatException)
        {
            // A header that was being written when the power failed may contain anything, but is no larger than a header.
            using var file = disk.Open(UnfinishedHeaderName, DiskOpen.Existing, DiskAccess.Buffered);
            if (e is UnsupportedFormatException && HeaderFile.BeginsLikeHeader(file))
                throw;
            if (file.Length % JournalFormat.Block == 0 && file.Length <= CheckpointHeader.Slots * JournalFormat.Block)
                return null;
            throw new UnsupportedFormatException(
                $"'{file.Path}' has the name of an unfinished header, but is not one. Nothing was changed. Move the file elsewhere, then try again.");
        }
    }

    /// <summary>Returns whether data file and journals belong to a header that lacks only its final name.</summary>
    private static bool Fits(IDisk disk, in CheckpointHeader header)
    {
        var layout = new SectionMapLayout((int)header.PageSize);
        using var file = disk.Open(DataFile.FileName, DiskOpen.Existing, DiskAccess.Buffered);
        if (file.Length < header.State.PageCount * layout.PageSize)
            return false;
        var journals = JournalInventory.Read(disk, header);
        return journals.Files.Count > 0 || IsFirstPage(file, header);
    }

    // The first opening that writes begins a journal file, and only a later checkpoint releases that.
    private static bool IsUsed(IDisk disk, in CheckpointHeader header) =>
        header.CheckpointNumber != NewCheckpointNumber || JournalInventory.Read(disk, header).Files.Count > 0;

    private static bool IsFirstPage(DiskFile file, in CheckpointHeader header)
    {
        var page = (byte*)EngineMemory.AllocateAligned(header.PageSize, JournalFormat.Block);
        try
        {
            file.Read(0, new Span<byte>(page, (int)header.PageSize));
            return ((PageHeader*)page)->Checksum == ChecksumOf(page, 0, (int)header.PageSize, header.EnvironmentId);
        }
        finally
        {
            EngineMemory.FreeAligned(page);
        }
    }

    private static CheckpointHeader NewHeader(int pageSize, uint version)
    {
        return new CheckpointHeader
        {
            Version = version,
            PageSize = (uint)pageSize,
            EnvironmentId = RandomId.New(),
            Lineage = version == JournalFormat.Version1 ? default : new Lineage { Id = RandomId.New() },
            CheckpointNumber = NewCheckpointNumber,
            State = new EnvironmentState { PageCount = InitialPages.Count, NextTreeId = 1 },
        };
    }

    private static void CreateDataFile(IDisk disk, in CheckpointHeader header, ref bool isMade)
    {
        DeleteUnfinishedData(disk);
        var layout = new SectionMapLayout((int)header.PageSize);
        using var pages = new InitialPages(layout);
        using var file = disk.Open(UnfinishedDataName, DiskOpen.New, DiskAccess.Buffered);
        isMade = true;
        file.Allocate(0, Math.Max(GrowthPolicy.InitialBytes, InitialPages.Count * layout.PageSize));
        for (var page = 0L; page < InitialPages.Count; page++)
            pages.Header(page)->Checksum = ChecksumOf(pages.ReadPage(page), page, layout.PageSize, header.EnvironmentId);
        file.Write(0, pages.Bytes);
        file.Map(InitialPages.Count * layout.PageSize).Dispose();
        file.Sync();
    }

    private static ulong ChecksumOf(byte* bytes, long page, int pageSize, RandomId environmentId) => Checksum.Compute(
        bytes + PageHeader.UnjournaledBytes, (nuint)(pageSize - PageHeader.UnjournaledBytes), Checksum.Seed(environmentId, page));

    /// <summary>
    /// Deletes an unfinished data file left by an aborted attempt. A file that cannot be the remainder of one stays, and makes the creation fail.
    /// </summary>
    private static void DeleteUnfinishedData(IDisk disk)
    {
        foreach (var entry in disk.List())
        {
            if (entry.Name == UnfinishedDataName && entry.Length <= LargestUnfinishedBytes && entry.Length % JournalFormat.Block == 0)
                disk.Delete(UnfinishedDataName);
        }
    }

    private static void DeleteIfEmpty(IDisk disk, string name)
    {
        if (disk.List().Any(entry => entry.Name == name && entry.Length == 0))
            disk.Delete(name);
    }

    private static HashSet<string> NamesOf(IDisk disk) => disk.List().Select(entry => entry.Name).ToHashSet();
}
