using Voron.Format;
using Voron.IO;
using Voron.Journal;
using Voron.Testing;

namespace Voron.Recovery;

/// <summary>Follows the records from the start of replay through all live files, and judges where they end.</summary>
/// <remarks>
/// The next record comes directly after the last one, or first in a later file; its sequence and its place in the chain identify it. When
/// it is in neither place, no later record is trusted, and the later records show the reason: a record that was issued when the missing one
/// was already durable proves a loss; records that were not belong to a write that was in progress. Files are identified by their
/// incarnations. Two files can have the same epoch number if a power cut has brought back a file whose deletion was not durable; the file
/// that was brought back has no record that counts.
/// </remarks>
internal sealed unsafe partial class JournalChain : IDisposable
{
    private readonly RecordWindow _window;
    private readonly List<JournalFileReader> _files;
    private readonly Dictionary<RandomId, JournalSeal> _seals = [];
    private readonly JournalPosition _start;
    private readonly bool _endsAtStart;

    // The records so far whose extents were not synced when they were written, and that no later record declares durable.
    private readonly Queue<(int File, long Offset, long Sequence)> _unsynced = [];
    private DroppedTail? _dropped;
    private bool _isStartMissing;
    private bool _isJudged;

    // The sequence at which the chain ends, because the extents of the next record are torn.
    private long _lastWhole = long.MaxValue;
    private readonly string _path;

    /// <param name="files">All files whose epoch has begun, whatever its number.</param>
    /// <param name="memory">The memory for the records that are read.</param>
    /// <param name="endsAtStart">True if the journal ended there when the environment was closed, and nothing has been written after that
    /// position.</param>
    public JournalChain(
        IDisk disk, RandomId environmentId, IEnumerable<JournalFileInfo> files, in JournalPosition start, BlockMemory memory,
        bool endsAtStart = false)
    {
        _window = new RecordWindow(memory);
        _start = start;
        _endsAtStart = endsAtStart;
        _path = disk.Path;

        // The file where replay starts comes first, even if other files have its epoch number.
        var live = new List<JournalFileInfo>();
        foreach (var file in files)
        {
            if (file.IsLive(start))
                live.Add(file);
        }

        live.Sort(InOrder);
        _files = new List<JournalFileReader>(live.Count);
        foreach (var file in live)
        {
            _files.Add(new JournalFileReader(disk, file, environmentId, PlantedFault.KeepWindows ? new RecordWindow(memory) : _window));
            foreach (var seal in file.Seals)
                Note(seal);
        }
    }

    /// <summary>
    /// The number of times that the environment was opened and written since the start of replay: the first file of each opening seals the
    /// earlier files.
    /// </summary>
    public int Openings => _files.Count(file => file.Info.Seals.Length > 0);

    /// <summary>Follows the chain once. Can be called again for a second pass over the same bytes.</summary>
    /// <exception cref="CorruptionException">A record that was durable is missing, or the file where replay starts is.</exception>
    public JournalChainEnd Follow(IRecordVisitor visitor)
    {
        var position = _start;
        var records = 0L;
        var bytes = 0L;
        var index = 0;
        var isDurabilityConfirmed = true;
        var ends = EndsBeforeFollowing();

        // A process that wrote after the close first began a file of a later epoch. Without such a file there is nothing to look for:
        // neither the next record nor records after a hole.
        var isOver = (_endsAtStart && _files.Count == 1 && _start.Epoch != 0) || _isStartMissing;
        if (!isOver && !_isJudged && _start.Epoch != 0)
            CheckStart(_files[0]);
        while (!isOver && TryNext(position, ref index, out var record))
        {
            if (!TryVisit(visitor, record, _files[index]))
                break;
            if (!_isJudged)
                NoteUnsynced(record, index);
            isDurabilityConfirmed = record->Kind == RecordKind.DurabilityMarker;
            records++;
            bytes += record->AlignedLength;
            position = new JournalPosition
            {
                Incarnation = record->Incarnation,
                Epoch = _files[index].Info.Header.Epoch,
                Offset = record->Offset + record->AlignedLength,
                Sequence = record->Sequence,
                Checksum = record->Checksum,
            };
            (ends[index].LastSequence, ends[index].EndOffset) = (position.Sequence, position.Offset);
        }

        if (!isOver && !_isJudged)
        {
            CheckSealsReached(position);
            _dropped = JudgeWhatFollows(index, position);
        }

        _isJudged = true;

        // Records of files before this one can be followed only by their own successors, and an earlier recovery's seals for them are in a
        // file that lives at least as long. This keeps the number of seals small, however many files are live.
        var first = Math.Max(Math.Min(index, ends.Length), ends.Length - JournalFileHeader.MaxSeals);
        return new JournalChainEnd
        {
            End = position,
            Records = records,
            Bytes = bytes,
            Dropped = _dropped,
            Seals = ends[first..],
            Unused = UnusedAfter(index),
            Ends = ends,
            IsDurabilityConfirmed = isDurabilityConfirmed,
        };
    }

    /// <summary>Ends the chain before the first record whose extents were lost. Called after the first pass.</summary>
    /// <returns>False if there is none; otherwise the chain is shorter than in the first pass, which must be repeated.</returns>
    /// <remarks>
    /// Records up to the last seal count in any case: the recovery that wrote the seal had read them, and had made their extents durable.
    /// </remarks>
    /// <inheritdoc cref="UnsyncedExtents.AreWhole"/>
    public bool TryCut(UnsyncedExtents extents)
    {
        var sealedSequence = _files.SelectMany(file => file.Info.Seals).Select(seal => seal.LastSequence).DefaultIfEmpty().Max();
        while (_unsynced.TryDequeue(out var place))
        {
            var file = _files[place.File];
            if (place.Sequence <= sealedSequence)
                continue;
            var record = file.TryRead(place.Offset);
            if (record != null && (PlantedFault.BelieveUnsyncedExtents || extents.AreWhole(record, file.Path)))
                continue;
            _lastWhole = place.Sequence - 1;
            _isJudged = false;
            _unsynced.Clear();
            return true;
        }

        return false;
    }

    public void Dispose() => _window.Dispose();

    // The end of each file before its first record is read: the start of replay in the file that contains it.
    private JournalSeal[] EndsBeforeFollowing()
    {
        var ends = new JournalSeal[_files.Count];
        for (var i = 0; i < ends.Length; i++)
        {
            var header = _files[i].Info.Header;
            ends[i] = new JournalSeal
            {
                Incarnation = header.Incarnation,
                Epoch = header.Epoch,
                EndOffset = JournalFormat.FirstRecordOffset,
            };
        }

        if (_start.Epoch != 0)
        {
            if (_files.Count == 0 || _files[0].Info.Header.Incarnation != _start.Incarnation)
            {
                _isStartMissing = true;
                Fail(
                    $"Replay starts in the journal file of epoch {_start.Epoch} (incarnation {_start.Incarnation}), which is missing from '{_path}'. " +
                    "Restore all files of the environment from one copy.");
                return ends;
            }

            (ends[0].LastSequence, ends[0].EndOffset) = (_start.Sequence, _start.Offset);
        }
        else
        {
            CheckFirstEpoch();
        }

        return ends;
    }

    // Before the first checkpoint, no file has been released. The first file of an environment has epoch 1; one that a later opening begins has
    // seals, which show what came before. Any other is preceded by a file with records, even if it has none itself.
    private void CheckFirstEpoch()
    {
        if (_files.Count == 0 || _files[0].Info is { Header.Epoch: 1 } or { Seals.Length: > 0 })
            return;
        _isStartMissing = true;
        Fail(
            $"The header of the environment in '{_path}' is from before the first flush, but the oldest journal file, '{_files[0].Path}', is of epoch " +
            $"{_files[0].Info.Header.Epoch}, and those before it are missing: the header is older than the journal. Restore all files of the environment from one copy.");
    }

    private List<string> UnusedAfter(int index)
    {
        var unused = new List<string>();
        for (var i = index + 1; i < _files.Count; i++)
        {
            if (!_files[i].HasBegun())
                unused.Add(_files[i].Info.Name);
        }

        return unused;
    }

    private void NoteUnsynced(RecordHeader* record, int file)
    {
        while (_unsynced.TryPeek(out var first) && first.Sequence <= record->DurableSequence)
            _unsynced.Dequeue();
        if ((record->Flags & RecordFlags.ExtentsUnsynced) != 0)
            _unsynced.Enqueue((file, record->Offset, record->Sequence));
    }

    // By epoch number; files with the same number are ordered by their incarnations.
    private static int InOrder(JournalFileInfo one, JournalFileInfo other)
    {
        var byEpoch = one.Header.Epoch.CompareTo(other.Header.Epoch);
        return byEpoch != 0 ? byEpoch : one.Header.Incarnation.CompareTo(other.Header.Incarnation);
    }

    private void Note(in JournalSeal seal)
    {
        if (!_seals.TryGetValue(seal.Incarnation, out var other) || seal.EndOffset < other.EndOffset)
            _seals[seal.Incarnation] = seal;
    }

    // A copy of the file from before the checkpoint has the right incarnation and nothing after the start. It would look like a journal
    // that ends there.
    private void CheckStart(JournalFileReader file)
    {
        if (_start.Offset <= JournalFormat.FirstRecordOffset || PlantedFault.BelieveStart || file.HoldsRecordBefore(_start))
            return;
        Fail(
            $"Record {_start.Sequence}, after which replay starts, is missing from '{file.Path}' before offset {_start.Offset}: the header is newer than " +
            "this journal file. Restore all files of the environment from one copy.");
    }

    private bool TryNext(in JournalPosition position, ref int index, out RecordHeader* record)
    {
        record = null;
        if (index >= _files.Count || position.Sequence >= _lastWhole)
            return false;

        // In the same file, after the last record, but not beyond a seal.
        var file = _files[index];
        var inFile = position.Incarnation == file.Info.Header.Incarnation;
        if (inFile && position.Offset < EndOf(file))
        {
            record = file.TryRead(position.Offset);
            if (record != null && IsNext(record, position))
                return true;
            for (var at = position.Offset; PlantedFault.BelieveBehindHole && at < EndOf(file); at += JournalFormat.Block)
            {
                record = file.TryRead(at);
                if (record != null && record->Sequence > position.Sequence)
                    return true;
            }
        }

        for (var i = inFile ? index + 1 : index; i < _files.Count && !(inFile && PlantedFault.StopAtFileEnd); i++)
        {
            if (EndOf(_files[i]) <= JournalFormat.FirstRecordOffset)
                continue;
            record = _files[i].TryRead(JournalFormat.FirstRecordOffset);
            if (record != null && IsNext(record, position))
            {
                index = i;
                return true;
            }
        }

        record = null;
        return false;
    }

    private static void CheckRecord(RecordHeader* record, JournalFileReader file)
    {
        RecordPayload.CheckHeader(record, file.Path);
        if ((record->Flags & RecordFlags.WholeState) != 0 && file.Info.Header.Version == JournalFormat.Version1)
            throw RecordPayload.Malformed(record, file.Path, "a state of version 2 in a file of version 1");
    }

    private static bool IsNext(RecordHeader* record, in JournalPosition position) =>
        record->Sequence == position.Sequence + 1 && record->PreviousChecksum == position.Checksum;

    /// <summary>Returns the offset where reading a file ends: at its seal, if it has one.</summary>
    private long EndOf(JournalFileReader file) =>
        _seals.TryGetValue(file.Info.Header.Incarnation, out var seal) ? Math.Min(seal.EndOffset, file.Length) : file.Length;

    // A seal was written by a recovery that had read every record up to it and had made them durable. The sealed file itself may be gone: the
    // close after a checkpoint deletes it.
    private void CheckSealsReached(in JournalPosition position)
    {
        foreach (var file in _files)
        {
            foreach (var seal in file.Info.Seals)
            {
                if (seal.LastSequence > position.Sequence)
                {
                    Fail(
                        $"The journal breaks off after record {position.Sequence}, but '{file.Path}' was begun after record {seal.LastSequence} had been " +
                        "recovered: a journal file is damaged, or some files are older than others. Restore all files of the environment from one copy.");
                }
            }
        }
    }

    private DroppedTail? JudgeWhatFollows(int index, in JournalPosition position)
    {
        var dropped = FindBroken(index, position);
        for (var i = index; i < _files.Count; i++)
        {
            var file = _files[i];
            var end = EndOf(file);
            var offset = position.Incarnation == file.Info.Header.Incarnation ? position.Offset : JournalFormat.FirstRecordOffset;
            while (offset < end)
            {
                var record = file.TryRead(offset);
                var misplaced = record == null && dropped?.Offset != offset ? FindMisplaced(file, offset, position) : null;
                if (misplaced != null)
                {
                    dropped ??= new DroppedTail(file.Path, offset);
                    dropped.Add(misplaced, isWhole: false);
                }

                if (record == null || record->Sequence <= position.Sequence)
                {
                    offset += JournalFormat.Block;
                    continue;
                }

                if (record->DurableSequence > position.Sequence && !PlantedFault.TakeLossForHole)
                {
                    Fail(
                        $"The journal breaks off after record {position.Sequence} (offset {position.Offset} of epoch {position.Epoch}), but record " +
                        $"{record->Sequence} at offset {offset} of '{file.Path}' says that all records up to {record->DurableSequence} were durable.");
                    return dropped;
                }

                dropped ??= new DroppedTail(file.Path, offset);
                dropped.Add(record, isWhole: record->Sequence != _lastWhole + 1);
                offset += record->AlignedLength;
            }
        }

        return dropped;
    }

    // The beginning of a record of this epoch in the wrong place. The engine never writes that, so a device has mixed up blocks. It can
    // only be reported, because its fields are no longer covered by a valid checksum.
    private static RecordHeader* FindMisplaced(JournalFileReader file, long offset, in JournalPosition position)
    {
        var header = file.Peek(offset);
        return header != null && header->Marker == JournalFormat.RecordMarker && header->Incarnation == file.Info.Header.Incarnation
            && header->Offset != offset && header->Sequence > position.Sequence ? header : null;
    }

    // The record that should come next, if enough of its header is left to distinguish it from the earlier content.
    private DroppedTail? FindBroken(int index, in JournalPosition position)
    {
        for (var i = index; i < _files.Count; i++)
        {
            var file = _files[i];
            var offset = position.Incarnation == file.Info.Header.Incarnation ? position.Offset : JournalFormat.FirstRecordOffset;
            if (offset >= EndOf(file) || file.TryRead(offset) != null)
                continue;
            var header = file.Peek(offset);
            if (header == null)
                continue;
            var signs = (header->Marker == JournalFormat.RecordMarker ? 1 : 0) + (header->Incarnation == file.Info.Header.Incarnation ? 1 : 0)
                + (header->Offset == offset ? 1 : 0) + (header->Sequence == position.Sequence + 1 ? 1 : 0);
            if (signs < 3 || header->Incarnation != file.Info.Header.Incarnation && header->Sequence != position.Sequence + 1)
                continue;
            var dropped = new DroppedTail(file.Path, offset);
            dropped.Add(header, isWhole: false);
            return dropped;
        }

        return null;
    }
}

/// <summary>Receives each record of the chain, in order.</summary>
internal unsafe interface IRecordVisitor
{
    /// <summary>Receives a valid record, whose memory remains valid until the call returns.</summary>
    void Visit(RecordHeader* record, string path);
}
