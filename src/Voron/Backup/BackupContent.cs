using System.Text;
using Voron.Format;
using Voron.FreeSpace;
using Voron.Paging;

namespace Voron.Backup;

/// <summary>The content of a backup so far, and the frames that may follow.</summary>
/// <remarks>
/// <code>
///   header ─▶ note? ─▶ pages, index ... ─▶ state ─▶ used pages, index ... ─▶ padding? ─▶ trailer
/// </code>
/// The checksums of all frames have been checked; this class checks the values, which may be forged.
/// </remarks>
internal sealed unsafe class BackupContent : IDisposable
{
    private static readonly UTF8Encoding StrictText = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    private readonly BackupHeader _header;
    private readonly SectionMapLayout _layout;
    private readonly PageBitmap _used;
    private Progress _progress;
    private long _describedPages;
    private long _usedPages;
    private long _copiedPages;
    private long _indexOffset;
    private long _indexEntries;

    public BackupContent(in BackupHeader header)
    {
        _header = header;
        _layout = new SectionMapLayout((int)header.PageSize);
        _used = new PageBitmap(_layout.MaxPageCount);
    }

    private enum Progress
    {
        Pages,
        UsedPages,
        Padded,
        Complete,
    }

    public EnvironmentState State { get; private set; }

    public BackupTrailer Trailer { get; private set; }

    public string? Note { get; private set; }

    /// <summary>A bit for each page of the state: 1 if the state uses it. Usable when the backup is complete.</summary>
    public PageBitmap Used => _used;

    /// <summary>True after the trailer.</summary>
    public bool IsComplete => _progress == Progress.Complete;

    /// <summary>Adds a frame whose limits, length and checksum have been checked.</summary>
    /// <param name="frame">The header of the frame.</param>
    /// <param name="payload">The payload, uncompressed.</param>
    /// <param name="place">The place of the frame.</param>
    /// <exception cref="BackupException">The frame is not allowed at this position, or its values are impossible.</exception>
    public void Add(in BackupFrame frame, byte* payload, BackupPlace place)
    {
        if (!IsExpected(frame.Kind, place.Sequence))
            throw place.Damaged($"is of kind {frame.Kind}, which cannot follow there ({Describe()})");
        switch (frame.Kind)
        {
            case BackupFrameKind.Pages:
                CheckExtents(frame, (BackupExtent*)payload, place);
                break;
            case BackupFrameKind.State:
                AddState(*(EnvironmentState*)payload, place);
                break;
            case BackupFrameKind.UsedPages:
                AddUsedPages(frame, payload, place);
                break;
            case BackupFrameKind.Index:
                AddIndex(frame, (BackupIndexEntry*)payload, place);
                break;
            case BackupFrameKind.Note:
                Note = ReadNote(payload, frame.RawBytes, place);
                break;
            case BackupFrameKind.Padding:
                if (new ReadOnlySpan<byte>(payload, frame.RawBytes).ContainsAnyExcept((byte)0))
                    throw place.Damaged("is padding, but contains nonzero bytes");
                _progress = Progress.Padded;
                break;
            default:
                AddTrailer(payload, place);
                break;
        }
    }

    public void Dispose() => _used.Dispose();

    /// <summary>Returns the text of a note.</summary>
    /// <exception cref="BackupException">The bytes are not UTF-8.</exception>
    public static string ReadNote(byte* payload, int bytes, BackupPlace place)
    {
        try
        {
            return StrictText.GetString(payload, bytes);
        }
        catch (DecoderFallbackException e)
        {
            throw place.Damaged($"is a note, but is not valid UTF-8: {e.Message}");
        }
    }

    private bool IsExpected(BackupFrameKind kind, long sequence) => kind switch
    {
        BackupFrameKind.Note => sequence == 1,
        BackupFrameKind.Pages or BackupFrameKind.State => _progress == Progress.Pages,
        BackupFrameKind.UsedPages => _progress == Progress.UsedPages && _describedPages < State.PageCount,
        BackupFrameKind.Index => _progress is Progress.Pages or Progress.UsedPages,
        BackupFrameKind.Padding => _progress == Progress.UsedPages && _describedPages == State.PageCount,
        BackupFrameKind.Trailer => _progress is Progress.UsedPages or Progress.Padded && _describedPages == State.PageCount,
        _ => false,
    };

    private string Describe() => _progress switch
    {
        Progress.Pages => "before the state",
        Progress.UsedPages => $"after the state, with {_describedPages} of {State.PageCount} pages in the bitmap",
        Progress.Padded => "after the padding",
        _ => "after the trailer",
    };

    private void CheckExtents(in BackupFrame frame, BackupExtent* extents, BackupPlace place)
    {
        var pages = 0L;
        for (var i = 0; i < (int)frame.Count; i++)
        {
            CheckExtent(extents[i].FirstPage, extents[i].Pages, ((uint*)(extents + i))[3], place);
            pages += extents[i].Pages;
        }

        // Each number is below 2^31, and there are few: the sum does not overflow.
        var bytes = frame.Count * BackupExtent.Size + pages * _header.PageSize;
        if (bytes != frame.RawBytes)
            throw place.Damaged($"has extents of {pages} pages, which take {bytes} bytes, but the frame has {frame.RawBytes}");
        _copiedPages += pages;
    }

    private void CheckExtent(long first, int pages, uint spare, BackupPlace place)
    {
        if (pages <= 0 || first < 0 || first > _layout.MaxPageCount - pages || spare != 0)
        {
            throw place.Damaged(
                $"has an impossible extent: {pages} pages from page {first} on, in an environment of at most {_layout.MaxPageCount} pages");
        }
    }

    private void AddState(in EnvironmentState state, BackupPlace place)
    {
        if (StateStructure.FindFault(state) is { } fault)
            throw place.Damaged($"is the state, and has {fault}");
        if (state.PageCount > _layout.MaxPageCount)
            throw place.Damaged($"is the state, and has {state.PageCount} pages, but an environment has at most {_layout.MaxPageCount}");
        State = state;
        _used.EnsureCommitted(state.PageCount);
        _progress = Progress.UsedPages;
    }

    private void AddUsedPages(in BackupFrame frame, byte* bits, BackupPlace place)
    {
        var count = (int)frame.Count;
        if (frame.Link != _describedPages || frame.Link % 64 != 0 || count > State.PageCount - frame.Link)
        {
            throw place.Damaged(
                $"has the bits of {count} pages from page {frame.Link} on, but those from page {_describedPages} to {State.PageCount} are missing");
        }

        if (count % 8 != 0 && bits[count / 8] >> (count % 8) != 0)
            throw place.Damaged($"has set bits after those of its {count} pages");
        for (var bit = FindSet(bits, count, 0); bit >= 0; bit = FindSet(bits, count, bit))
        {
            var end = Bitmap.FindClear(bits, count, bit);
            if (end < 0)
                end = count;
            _used.Set(frame.Link + bit, end - bit);
            _usedPages += end - bit;
            bit = end;
        }

        _describedPages += count;
    }

    private static int FindSet(byte* bits, int count, int from) => from < count ? Bitmap.FindSet(bits, count, from) : -1;

    private void AddIndex(in BackupFrame frame, BackupIndexEntry* entries, BackupPlace place)
    {
        if (frame.Link != _indexOffset)
            throw place.Damaged($"gives offset {frame.Link} for the previous index frame, which is at offset {_indexOffset}");
        for (var i = 0; i < (int)frame.Count; i++)
        {
            CheckExtent(entries[i].FirstPage, entries[i].Pages, ((uint*)(entries + i))[3], place);
            if (entries[i].FrameOffset < BackupHeader.BlockBytes || entries[i].FrameOffset >= place.Offset)
                throw place.Damaged($"gives offset {entries[i].FrameOffset} for pages, but pages are stored between the header and this frame");
        }

        _indexOffset = place.Offset;
        _indexEntries += frame.Count;
    }

    private void AddTrailer(byte* payload, BackupPlace place)
    {
        var trailer = BackupTrailerCheck.Read(payload, _header, place.Offset + BackupHeader.BlockBytes, place);
        BackupTrailerCheck.Expect(place, "transaction", trailer.TransactionId, State.TransactionId);
        BackupTrailerCheck.Expect(place, "commit time", trailer.CommitTime, State.CommitTime);
        BackupTrailerCheck.Expect(place, "number of pages", trailer.PageCount, State.PageCount);
        BackupTrailerCheck.Expect(place, "number of used pages", trailer.UsedPages, _usedPages);
        BackupTrailerCheck.Expect(place, "number of copied pages", trailer.CopiedPages, _copiedPages);
        BackupTrailerCheck.Expect(place, "index offset", trailer.IndexOffset, _indexOffset);
        BackupTrailerCheck.Expect(place, "number of index entries", trailer.IndexEntries, _indexEntries);
        Trailer = trailer;
        _progress = Progress.Complete;
    }
}
