using Voron.Format;
using Voron.FreeSpace;
using Voron.IO;
using Voron.Paging;
using Voron.Testing;

namespace Voron.Backup;

/// <summary>Builds a complete environment in an empty directory, from pages that arrive in any order.</summary>
/// <remarks>
/// <code>
///   empty ─▶ marker, locked and durable ─▶ data file ─▶ pages ─▶ synced ─▶ header in the marker ─▶ verified ─▶ header named ─▶ durable
/// </code>
/// The header gets its final name last, so a kill before that leaves a marker, which every opening refuses. The marker's lock survives the rename,
/// so the environment is never unlocked. A failure before the last step deletes all created files. An object may be used by one thread at a time.
/// </remarks>
internal sealed class EnvironmentCopy : IDisposable
{
    private const string MarkerName = HeaderFile.UnfinishedCopyName;

    /// <summary>The space for the header, in addition to that for the pages, in bytes.</summary>
    private const long HeaderBytes = CheckpointHeader.Slots * JournalFormat.Block;

    private readonly IDisk _disk;
    private readonly int _pageSize;
    private IDisposable? _lock;
    private DiskFile? _data;
    private bool _hasMarker;
    private bool _hasData;
    private bool _mayBeNamed;

    private EnvironmentCopy(IDisk disk, int pageSize)
    {
        _disk = disk;
        _pageSize = pageSize;
    }

    /// <summary>Begins a copy in a directory.</summary>
    /// <param name="disk">The directory, which must be empty. It is not disposed.</param>
    /// <param name="pageSize">The page size in bytes.</param>
    /// <param name="neededPages">The number of pages that need space, if known.</param>
    /// <exception cref="BackupException">The directory is not empty.</exception>
    /// <exception cref="StorageFullException">There is no space for the pages. Nothing was changed.</exception>
    /// <exception cref="StorageAccessException">The directory cannot be written.</exception>
    public static EnvironmentCopy Begin(IDisk disk, int pageSize, long neededPages = 0)
    {
        var copy = new EnvironmentCopy(disk, pageSize);
        try
        {
            copy.Begin(neededPages);
            return copy;
        }
        catch (DiskException e)
        {
            copy.Dispose();
            throw copy.Failure("begun", e);
        }
        catch
        {
            copy.Dispose();
            throw;
        }
    }

    /// <summary>Returns the exception for a directory that is not empty.</summary>
    public static BackupException NotEmpty(string directory, string entry) => new(
        BackupFault.TargetNotEmpty,
        $"'{directory}' contains '{entry}', but an environment is copied or restored only into an empty directory. Nothing was changed. Use another directory, or " +
        "empty this one.");

    /// <summary>
    /// Returns the header of the copy. The copy gets a new lineage, because its later transactions are unrelated to those of the original.
    /// </summary>
    /// <param name="backup">The header of a backup of the original.</param>
    /// <param name="state">The state of the pages.</param>
    public static CheckpointHeader NewHeader(in BackupHeader backup, in EnvironmentState state) => new()
    {
        Version = backup.EnvironmentVersion,
        PageSize = backup.PageSize,
        Features = backup.Features,
        EnvironmentId = backup.EnvironmentId,
        CheckpointNumber = 1,
        State = state,
        Lineage = backup.EnvironmentVersion == JournalFormat.Version1
            ? default
            : new Lineage { Id = RandomId.New(), Parent = backup.Lineage.Id, ForkTransactionId = state.TransactionId },
    };

    /// <summary>Writes adjacent pages, which replace earlier copies.</summary>
    /// <param name="firstPage">The first page.</param>
    /// <param name="pages">The bytes of whole pages, at an address that is a multiple of 4096.</param>
    /// <exception cref="StorageFullException">There is no space.</exception>
    /// <exception cref="StorageAccessException">The pages cannot be written.</exception>
    public void Write(long firstPage, ReadOnlySpan<byte> pages)
    {
        try
        {
            _data!.Write(firstPage * _pageSize, pages);
        }
        catch (DiskException e)
        {
            throw Failure("written", e);
        }
    }

    /// <summary>Makes the copy durable, and the directory an environment.</summary>
    /// <param name="header">The header, whose state defines the number of pages. Pages beyond it are dropped.</param>
    /// <param name="used">A bit for each page of the state: 1 if the state uses it.</param>
    /// <param name="written">
    /// A bit for each page of the state: 1 if the page was written, used or not. Null if exactly the pages that the state uses were written.
    /// </param>
    /// <param name="verify">
    /// Called when everything but the name of the header is durable, with a read-only disk that presents the directory as the future environment.
    /// An exception ends the copy. Null to verify nothing.
    /// </param>
    public void Finish(in CheckpointHeader header, PageBitmap used, PageBitmap? written, Action<IDisk>? verify)
    {
        try
        {
            CompleteData(header.State.PageCount, used, written, isReadAgain: verify != null);
            HeaderFile.Fill(_disk, MarkerName, header);
            _disk.SyncDirectory();
        }
        catch (DiskException e)
        {
            throw Failure("finished", e);
        }

        verify?.Invoke(new RenamedFileDisk(_disk, MarkerName, HeaderFile.FileName));
        try
        {
            _mayBeNamed = true;
            _disk.Rename(MarkerName, HeaderFile.FileName);
            _disk.SyncDirectory();
        }
        catch (DiskException e)
        {
            throw Failure("finished", e);
        }

        _hasMarker = _hasData = false;
        Dispose();
    }

    /// <summary>Deletes an unfinished copy, and releases the lock. The disk stays open.</summary>
    public void Dispose()
    {
        _data?.Dispose();
        _data = null;
        if (_hasMarker)
            DeleteAll();
        _hasMarker = _hasData = false;
        _lock?.Dispose();
        _lock = null;
    }

    private void Begin(long neededPages)
    {
        if (_disk.List() is [var first, ..])
            throw NotEmpty(_disk.Path, first.Name);
        CheckRoom(neededPages);
        try
        {
            _disk.Open(MarkerName, DiskOpen.New, DiskAccess.WriteThrough).Dispose();
        }
        catch (DiskException e) when (e.Error == DiskError.AlreadyExists)
        {
            throw NotEmpty(_disk.Path, MarkerName);
        }

        _hasMarker = true;
        _lock = _disk.Lock(MarkerName, shared: false);

        // If another process has begun to create an environment meanwhile, it is detected here, or its creator detects the marker.
        foreach (var entry in _disk.List())
        {
            if (entry.Name != MarkerName)
                throw NotEmpty(_disk.Path, entry.Name);
        }

        _disk.SyncDirectory();
        _data = _disk.Open(DataFile.FileName, DiskOpen.New, DiskAccess.Unbuffered);
        _hasData = true;
    }

    /// <summary>Checks that there is space for the pages to be written.</summary>
    /// <param name="neededPages">Their number; 0 if it is not known.</param>
    /// <exception cref="StorageFullException">There is no space.</exception>
    public void CheckRoom(long neededPages)
    {
        var needed = neededPages * _pageSize + HeaderBytes;
        var available = _disk.AvailableBytes;
        if (neededPages > 0 && needed > available)
        {
            throw new StorageFullException(
                $"'{_disk.Path}' has no space for the environment: {needed} bytes are needed, and {available} are available. Nothing was " +
                "changed. Free some space, or use a directory of another volume.");
        }
    }

    private void CompleteData(long pageCount, PageBitmap used, PageBitmap? written, bool isReadAgain)
    {
        var length = pageCount * _pageSize;
        if (_data!.Length != length)
            _data.SetLength(length);
        FitFreeRanges(pageCount, used, written);
        _data.Sync();
        if (isReadAgain)
            _data.DropCache();
        _data.Dispose();
        _data = null;
    }

    // The engine assumes that a page has blocks, unless it belongs to a run of free pages in one section that is long enough to have been returned
    // to the file system (PossibleHoles). Short runs between the same two holes are allocated by one call. A long run returns the blocks that an
    // earlier backup of the chain has filled.
    private void FitFreeRanges(long pageCount, PageBitmap used, PageBitmap? written)
    {
        var pagesPerSection = SectionMapLayout.SectionBytes / _pageSize;
        var shortest = PossibleHoles.MinBytes / _pageSize;
        var from = 0L;
        var to = 0L;
        for (var page = FindFree(used, 0, pageCount); page < pageCount; page = FindFree(used, page, pageCount))
        {
            var sectionEnd = Math.Min(pageCount, (page / pagesPerSection + 1) * pagesPerSection);
            var end = used.FindSet(page, sectionEnd) is var found && found >= 0 ? found : sectionEnd;
            if (end - page < shortest)
            {
                from = from == to ? page : from;
                to = end;
            }
            else
            {
                Allocate(from, to);
                from = to = end;
                if (written is { } pages && pages.FindSet(page, end) >= 0 && !PlantedFault.KeepRestoredBlocks)
                    _data!.TryPunchHole(page * _pageSize, (end - page) * _pageSize);
            }

            page = end;
        }

        Allocate(from, to);
    }

    private void Allocate(long from, long to)
    {
        if (from < to)
            _data!.Allocate(from * _pageSize, (to - from) * _pageSize);
    }

    private static long FindFree(PageBitmap used, long page, long pageCount)
    {
        while (page < pageCount && used.IsSet(page))
            page++;
        return page;
    }

    // The marker is deleted last: while another file exists, an opening finds the marker, and knows that the copy is unfinished.
    private void DeleteAll()
    {
        try
        {
            if (_mayBeNamed && _disk.List().Any(entry => entry.Name == HeaderFile.FileName))
                _disk.Rename(HeaderFile.FileName, MarkerName);
            if (_hasData)
            {
                _disk.Delete(DataFile.FileName);
                _disk.SyncDirectory();
            }

            _disk.Delete(MarkerName);
            _disk.SyncDirectory();
        }
        catch (DiskException)
        {
            // Openings and copies refuse the remaining files, and name the remedy.
        }
    }

    private VoronException Failure(string what, DiskException failure) => failure.Error == DiskError.NoSpace
        ? new StorageFullException(
            $"The copy of the environment in '{_disk.Path}' could not be {what} for lack of space: {failure.Message} The copied files are " +
            "deleted.", failure)
        : new StorageAccessException(
            $"The copy of the environment in '{_disk.Path}' could not be {what}: {failure.Message} The copied files are deleted.", failure);
}
