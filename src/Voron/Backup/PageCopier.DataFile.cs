using Voron.Format;
using Voron.IO;
using Voron.Paging;
using Voron.Testing;

namespace Voron.Backup;

/// <content>Copies pages from the data file, and extents longer than a batch.</content>
internal sealed unsafe partial class PageCopier
{
    private enum StretchEnd
    {
        /// <summary>The batch is full.</summary>
        Room,

        /// <summary>The next page is not used, or has a version: no extent continues there.</summary>
        Blocked,

        /// <summary>The next page is not pending.</summary>
        NotPending,
    }

    // Returns false if the batch must be empty for the next pages.
    private bool TryCopyFromFile(long page, PageBatch batch)
    {
        // Counted before the file is read, because a version may be written to the file, and detached, at any time.
        var count = Gather(page, batch.Room, out var end);
        SchedulePoint.Reach(SchedulePlace.BackupReading);
        var target = batch.Next;
        Read(page, target, count);
        var at = 0;
        while (at < count)
        {
            var bytes = target + (long)at * _pageSize;
            var pages = ClaimedPages(page + at, bytes);
            if (at + pages <= count && IsSound(page + at, bytes, pages))
            {
                NoteSound(page + at, bytes, pages);
                at += (int)pages;
                continue;
            }

            if (at + pages > count && end != StretchEnd.Blocked && page + at >= _noLongExtentBefore)
                return TryCopyExtent(page, at, pages, end, batch);
            _marks.NoteUnsound(page + at, 1);
            at++;
        }

        Add(batch, page, count);
        return true;
    }

    // An extent has more pages than were read; the pages before it have been copied.
    private bool TryCopyExtent(long page, int at, long pages, StretchEnd end, PageBatch batch)
    {
        if (at > 0)
            Add(batch, page, at);
        if (end == StretchEnd.NotPending)
        {
            // The whole extent is copied again, because it can be checked only as a whole.
            Pending.AddUnchanged(page + at, pages);
            return true;
        }

        if (at > 0 || batch.Pages > 0)
            return false;
        _long = new LongExtent(page, pages);
        return true;
    }

    // Returns the number of adjacent pages that one read can cover; the first page is always included.
    private int Gather(long page, int room, out StretchEnd end)
    {
        for (var count = 1; count < room; count++)
        {
            var next = page + count;
            if (!_used!.Contains(next) || HasVersion(next))
            {
                end = StretchEnd.Blocked;
                return count;
            }

            if (!_isSweep && !Pending.Contains(next))
            {
                end = StretchEnd.NotPending;
                return count;
            }
        }

        end = StretchEnd.Room;
        return room;
    }

    private void Read(long page, byte* target, int pages)
    {
        try
        {
            // A sweep leaves the page cache to the environment's readers. Recently changed pages are in the cache anyway.
            var file = _isSweep && _file.Unbuffered is { } unbuffered ? unbuffered : _file.File;
            file.Read(page * _pageSize, new Span<byte>(target, pages * _pageSize));
            if (page == 0)
                ((PageHeader*)target)->Stamp = 0;
        }
        catch (DiskException e)
        {
            throw new StorageAccessException($"Pages {page} to {page + pages - 1} cannot be read: {e.Message}", e);
        }
    }

    // Returns the number of pages that an extent header claims; 1 if the page has no such header.
    private long ClaimedPages(long page, byte* bytes)
    {
        var header = (PageHeader*)bytes;
        if (header->Kind != PageKind.Overflow || header->PageNumber != page || _marks.IsClaimed(page))
            return 1;
        long pages = header->ExtentPages;
        return pages > 1 && pages <= _snapshot!.PageCount - page && PageStructure.FindFault(bytes, pages, page, _pageSize) == null ? pages : 1;
    }

    private bool IsSound(long page, byte* bytes, long pages) =>
        (((PageHeader*)bytes)->Checksum == _file.ComputeChecksum(page, bytes, pages * _pageSize) || PlantedFault.BelieveCopies)
        && !PageHeader.HasSpareBytes(bytes, page, !_engine.Format.IsVersion1) && PageStructure.FindFault(bytes, pages, page, _pageSize) == null;

    private void ContinueLongExtent(PageBatch batch)
    {
        var page = _long.Next;
        var pages = (int)Math.Min(batch.Room, _long.End - page);
        var target = batch.Next;
        if (_engine.Versions.Find(_long.First, _snapshot!.Id, out var version) && version.Frame != null)
        {
            CopyFrame(version, target, page, pages);
        }
        else
        {
            // From here on, a page of an extent that began in memory is read from the file only if a flush has written all of them.
            if (GatherExtent(page, pages) < pages)
            {
                GiveUpLongExtent();
                return;
            }

            Read(page, target, pages);
        }

        _long.Add(target, pages, _pageSize, !_engine.Format.IsVersion1);
        _marks.NoteUnsound(page, pages);
        batch.Add(page, pages);
        Copied += pages;
        Pending.Remove(page, pages);
        if (_long.Next == _long.End)
            FinishLongExtent();
    }

    private int GatherExtent(long page, int pages)
    {
        for (var count = 0; count < pages; count++)
        {
            if (!_used!.Contains(page + count) || HasVersion(page + count))
                return count;
        }

        return pages;
    }

    // A version inside an extent does not count, because versions are detached page by page: if the extent's first page no longer has a version,
    // the extent has been flushed, and all of it is valid in the file.
    private bool HasVersion(long page) => _engine.Versions.Find(page, _snapshot!.Id, out var version)
        && (version.Flags & VersionFlags.InsideExtent) == 0 && !PlantedFault.CopyWithoutVersions;

    private void CopyFrame(in PageVersion version, byte* target, long page, int pages)
    {
        var bytes = (long)pages * _pageSize;
        Buffer.MemoryCopy(version.Frame + (page - _long.First) * _pageSize, target, bytes, bytes);
        if (page != _long.First)
            return;

        // The checksum covers all pages. It is computed from the frame, whose first bytes the flusher may be writing; it does not cover these.
        PageHeader.SetDiskBytes(target, page, _engine.Format.IsVersion1 ? 0 : version.TransactionId);
        ((PageHeader*)target)->Checksum = _file.ComputeChecksum(page, version.Frame, (long)version.Pages * _pageSize);
    }

    private void FinishLongExtent()
    {
        if (!_long.IsSound(_file.Seed(_long.First)))
        {
            GiveUpLongExtent();
            return;
        }

        _marks.NoteSound(_long.First, _long.Pages);
        _at = Math.Max(_at, _long.End);
        _long = default;
    }

    // The extent has changed meanwhile, and is pending; or it is not an extent, but value bytes that look like one; or it is damaged. The pages
    // after the first one may belong to others: they are copied again individually. Without the limit, a value in which each page looks like the
    // start of a long extent would be read over and over.
    private void GiveUpLongExtent()
    {
        var next = _long.First + 1;
        if (_isSweep)
            _at = next;
        else
            Pending.AddUnchanged(next, _long.End - next);
        _noLongExtentBefore = Math.Max(_noLongExtentBefore, _long.End);
        _long = default;
    }
}
