using Voron.Format;
using Voron.IO;
using Voron.Primitives;

namespace Voron.Journal;

/// <summary>What is called for each record of the chain, in order.</summary>
internal unsafe interface IRecordVisitor
{
    /// <summary>The record is valid; its memory is, until the call returns.</summary>
    void Visit(RecordHeader* record, string path);
}

/// <summary>Where the chain ended, and why it may.</summary>
/// <param name="End">Behind the last record.</param>
/// <param name="Records">How many records the chain has.</param>
/// <param name="Bytes">Bytes of these records, padding included.</param>
/// <param name="Dropped">What stands behind the end, of writes that were under way; null when nothing does.</param>
/// <param name="Seals">What a new file has to seal: the file where the chain ends, as far as it was read, and all behind it.</param>
/// <param name="Unused">Names of the live files behind the end that have no record, not even one of a write that was under way.</param>
/// <param name="Ends">Of each file, where the last record ends that the chain has in it.</param>
/// <param name="IsDurabilityConfirmed">The last record vouches for all before it, or there is none: then the header that names the start does.</param>
internal sealed record JournalChainEnd(
    JournalPosition End, long Records, long Bytes, DroppedTail? Dropped, JournalSeal[] Seals, IReadOnlyList<string> Unused,
    JournalSeal[] Ends, bool IsDurabilityConfirmed);

/// <summary>Follows the records from where replay starts, over all live files, and judges where they end.</summary>
/// <remarks>
/// The next record stands behind the last one, or first in a later file; sequence and chain say that it is the one. When it
/// is in neither place, nothing is believed that comes later, and what comes later tells why: a record that was submitted
/// when the missing one was already durable proves a loss; records that were not are a write that was under way.
/// Files are told apart by their incarnations. Two may have one life number, where a power cut has brought back a file whose
/// deletion was not durable; that one has no record that counts.
/// </remarks>
internal sealed unsafe class JournalChain : IDisposable
{
    private readonly RecordWindow _window = new();
    private readonly List<JournalFileReader> _files;
    private readonly Dictionary<UInt128, JournalSeal> _seals = [];
    private readonly JournalPosition _start;
    private readonly bool _endsAtStart;
    private DroppedTail? _dropped;
    private bool _isJudged;
    private readonly string _path;

    /// <param name="files">All files whose life has begun, of any life number.</param>
    /// <param name="endsAtStart">The journal ended there when the environment was closed, and nothing has been written behind it.</param>
    public JournalChain(IDisk disk, UInt128 environmentId, IEnumerable<JournalFileInfo> files, in JournalPosition start, bool endsAtStart = false)
    {
        _start = start;
        _endsAtStart = endsAtStart;
        _path = disk.Path;

        // The one where replay starts is the first, whatever else has its life number.
        var live = new List<JournalFileInfo>();
        foreach (var file in files)
        {
            if (IsLive(file, start))
                live.Add(file);
        }

        live.Sort(InOrder);
        _files = new List<JournalFileReader>(live.Count);
        foreach (var file in live)
        {
            _files.Add(new JournalFileReader(disk, file, environmentId, PlantedFault.KeepWindows ? new RecordWindow() : _window));
            foreach (var seal in file.Seals)
                Note(seal);
        }
    }

    /// <summary>Whether replay needs the file, when it starts at that position; the others can be used again.</summary>
    public static bool IsLive(JournalFileInfo file, in JournalPosition start) =>
        file.Header.Epoch > start.Epoch
        || (file.Header.Epoch == start.Epoch && (file.Header.Incarnation == start.Incarnation || PlantedFault.RepeatEpochs));

    /// <summary>How often the environment was opened and written since replay's start: the first file of each opening seals those before.</summary>
    public int Openings => _files.Count(file => file.Info.Seals.Length > 0);

    /// <summary>Goes over the chain once. May be called again, for a second pass over the same bytes.</summary>
    /// <exception cref="CorruptionException">A record is missing that had been durable, or the file where replay starts is.</exception>
    public JournalChainEnd Follow(IRecordVisitor visitor)
    {
        var position = _start;
        var records = 0L;
        var bytes = 0L;
        var index = 0;
        var isDurabilityConfirmed = true;
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
                throw new CorruptionException(
                    $"The journal file where replay starts (life {_start.Epoch}, incarnation {_start.Incarnation:X32}) is not in '{_path}'.");
            }

            (ends[0].LastSequence, ends[0].EndOffset) = (_start.Sequence, _start.Offset);
        }

        // Whoever wrote after the close began a file of a later life first. Without one there is nothing to look for: not the
        // next record, and nothing behind a hole.
        var isOver = _endsAtStart && _files.Count == 1 && _start.Epoch != 0;
        if (!isOver && !_isJudged && _start.Epoch != 0)
            CheckStart(_files[0]);
        while (!isOver && TryNext(position, ref index, out var record))
        {
            CheckRecord(record, _files[index].Path);
            visitor.Visit(record, _files[index].Path);
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
            CheckSealsReached(index, position);
            _dropped = JudgeWhatFollows(index, position);
        }

        _isJudged = true;

        // In files before that one nothing but their own successor can follow, and what an earlier recovery sealed in them
        // stands in a file that lives at least as long. So the seals stay few, however many files are live.
        var first = Math.Max(Math.Min(index, ends.Length), ends.Length - JournalFileHeader.MaxSeals);
        var unused = new List<string>();
        for (var i = index + 1; i < _files.Count; i++)
        {
            if (!_files[i].HasBegun())
                unused.Add(_files[i].Info.Name);
        }

        return new JournalChainEnd(position, records, bytes, _dropped, ends[first..], unused, ends, isDurabilityConfirmed);
    }

    public void Dispose() => _window.Dispose();

    // By life number; two files with the same one differ in their incarnations.
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

    // A copy of the file from before the checkpoint has the right incarnation, and nothing behind the start: it would look like a
    // journal that ends there.
    private void CheckStart(JournalFileReader file)
    {
        if (_start.Offset <= JournalFormat.FirstRecordOffset || PlantedFault.BelieveStart || file.HoldsRecordBefore(_start))
            return;
        throw new CorruptionException(
            $"Record {_start.Sequence}, behind which replay starts, is not in '{file.Path}' before offset {_start.Offset}: the header is newer than " +
            "this journal file. Restore all files of the environment from one copy.");
    }

    private bool TryNext(in JournalPosition position, ref int index, out RecordHeader* record)
    {
        record = null;
        if (index >= _files.Count)
            return false;

        // In the same file, behind the last record, but not behind a seal.
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

    // Its checksum is right: what is wrong with it has been written so.
    private static void CheckRecord(RecordHeader* record, string path)
    {
        if (record->Kind != RecordKind.DurabilityMarker && StateStructure.FindFault(record->State) is { } fault)
            throw RecordPayload.Malformed(record, path, fault);
    }

    private static bool IsNext(RecordHeader* record, in JournalPosition position) =>
        record->Sequence == position.Sequence + 1 && record->PreviousChecksum == position.Checksum;

    /// <summary>Where reading a file ends: at its seal, if it has one.</summary>
    private long EndOf(JournalFileReader file) =>
        _seals.TryGetValue(file.Info.Header.Incarnation, out var seal) ? Math.Min(seal.EndOffset, file.Length) : file.Length;

    // A seal was written by a recovery that had read every record up to it.
    private void CheckSealsReached(int index, in JournalPosition position)
    {
        for (var i = index; i < _files.Count; i++)
        {
            if (_seals.TryGetValue(_files[i].Info.Header.Incarnation, out var seal)
                && seal.EndOffset > JournalFormat.FirstRecordOffset
                && seal.LastSequence > position.Sequence)
            {
                throw new CorruptionException(
                    $"The journal breaks off behind record {position.Sequence}, but '{_files[i].Path}' held records up to {seal.LastSequence} when it was last recovered.");
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

                if (record->DurableSequence > position.Sequence)
                {
                    throw new CorruptionException(
                        $"The journal breaks off behind record {position.Sequence} (offset {position.Offset} of life {position.Epoch}), but record " +
                        $"{record->Sequence} at offset {offset} of '{file.Path}' says that everything up to {record->DurableSequence} had been durable.");
                }

                dropped ??= new DroppedTail(file.Path, offset);
                dropped.Add(record, isWhole: true);
                offset += record->AlignedLength;
            }
        }

        return dropped;
    }

    // The begin of a record of this life in a place that is not its own: nobody writes that, so a device has mixed up blocks. Nothing can
    // be made of it but to tell, since what it says of itself has no checksum any more.
    private static RecordHeader* FindMisplaced(JournalFileReader file, long offset, in JournalPosition position)
    {
        var header = file.Peek(offset);
        return header != null && header->Marker == JournalFormat.RecordMarker && header->Incarnation == file.Info.Header.Incarnation
            && header->Offset != offset && header->Sequence > position.Sequence ? header : null;
    }

    // The record that should come next, where enough of its header is left to tell it from what was there before.
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
