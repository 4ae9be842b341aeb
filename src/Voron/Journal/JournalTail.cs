using System.Diagnostics;
using Voron.Format;
using Voron.IO;
using Voron.Primitives;
using Voron.Testing;

namespace Voron.Journal;

/// <summary>The end of the submitted records: the file and the offset of the next one, and the beginning of the next file.</summary>
/// <remarks>
/// Used under the journal's submission lock. The bytes before the end may not be written yet: the records that will fill them are in the queue.
/// </remarks>
internal sealed unsafe class JournalTail
{
    private readonly EngineLock _submission;
    private readonly JournalFileSet _files;
    private JournalSeal[] _seals;
    private JournalFile? _current;
    private long _offset;

    public JournalTail(EngineLock submission, JournalFileSet files, in JournalStart start)
    {
        _submission = submission;
        _files = files;
        _seals = start.Seals;
        _current = PlantedFault.AppendToReplayedJournal && files.Newest?.Incarnation == start.Position.Incarnation ? files.Newest : null;
        _offset = start.Position.Offset;
    }

    /// <summary>The bytes that the last transaction left free for the next flush.</summary>
    public JournalReserve Reserve { get; private set; }

    /// <summary>True once a file has been begun for the first record since opening; until then the files are as they were found.</summary>
    public bool HasBegun => Volatile.Read(ref _current) != null;

    /// <summary>The end, without the sequence and checksum of the last record; its epoch is 0 until a file has been begun.</summary>
    public JournalPosition Position => new()
    {
        Incarnation = _current?.Incarnation ?? default,
        Epoch = _current?.Epoch ?? 0,
        Offset = _offset,
    };

    /// <summary>
    /// Begins another file if the current one lacks space for a record and the reserve after it, or if the record is the first of a newer format
    /// version. Flush records have the oldest version, so they can use the space that was left for them.
    /// </summary>
    /// <param name="record">The record.</param>
    /// <param name="reserve">The space to leave free after the record; null for a flush record, which may use the space left by transactions.</param>
    /// <exception cref="StorageFullException">There is not enough space for another journal file.</exception>
    /// <exception cref="StorageAccessException">A journal file could not be made.</exception>
    public void EnsureRoom(RecordBuffer record, JournalReserve? reserve)
    {
        _submission.AssertHeld();
        var length = record.Length;
        Reserve = reserve ?? Reserve;
        var kept = reserve == null || PlantedFault.IgnoreReserve ? 0 : Reserve.Bytes;
        if (_current != null && _offset + length + kept <= _current.Length && FitsVersion(record, _current))
            return;

        try
        {
            SchedulePoint.Reach(SchedulePlace.FileBeginning);

            // As much additional space as is kept free; otherwise there would soon be one file per record.
            _current = _files.Begin(length + kept, kept + Reserve.ImageBytes, reserve == null ? null : length, _seals);
        }
        catch (DiskException e)
        {
            if (e.Error == DiskError.NoSpace)
            {
                throw new StorageFullException(
                    $"There is no space for another journal file of {length + kept} bytes: {e.Message} The transaction was not committed.", e);
            }

            throw new StorageAccessException($"A journal file could not be created: {e.Message} The transaction was not committed.", e);
        }

        _seals = [];
        _offset = JournalFormat.FirstRecordOffset;
    }

    /// <summary>Places a record at the end, where it fits.</summary>
    public void Place(RecordBuffer record)
    {
        _submission.AssertHeld();
        var file = _current!;
        Debug.Assert(record.Length > 0 && record.Length % JournalFormat.Block == 0, "a record consists of whole blocks");
        Debug.Assert(_offset >= JournalFormat.FirstRecordOffset && _offset % JournalFormat.Block == 0, "a record begins at a block after the headers");
        Debug.Assert(_offset + record.Length <= file.Length, "a record ends within its file");
        Debug.Assert(file == _files.Newest, "records are appended to the newest file");
        Debug.Assert(FitsVersion(record, file), "a file has no record of a newer version than its own");
        record.File = file;
        record.Offset = _offset;
        _offset += record.Length;
        file.UsedBytes = _offset;
    }

    private static bool FitsVersion(RecordBuffer record, JournalFile file) =>
        (record.Header->Flags & RecordFlags.WholeState) == 0 || file.Version != JournalFormat.Version1
        || PlantedFault.KeepJournalVersion;
}

/// <summary>The position at which a journal continues after an opening.</summary>
/// <param name="Position">The end of the last record.</param>
/// <param name="Seals">The seals for the header of the first new file.</param>
internal readonly record struct JournalStart(JournalPosition Position, JournalSeal[] Seals);

/// <summary>The bytes that a record must leave free after it, for the records of the next flush.</summary>
/// <param name="ListBytes">The size of the flush list of the flush that frees space on a full disk.</param>
/// <param name="ImageBytes">
/// The size of the page images of a flush. The images may need far more space than commits write, so a file with too little space for them is
/// followed by one with space for twice as many.
/// </param>
internal readonly record struct JournalReserve(long ListBytes, long ImageBytes)
{
    /// <summary>The sum of both.</summary>
    public long Bytes => ListBytes + ImageBytes;
}
