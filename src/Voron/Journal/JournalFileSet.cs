using Microsoft.Extensions.Logging;
using Voron.Format;
using Voron.IO;
using Voron.Primitives;
using Voron.Testing;

namespace Voron.Journal;

/// <summary>
/// The journal files of a writable environment: the live files, of which the newest is the current one, a spare prepared in advance, and released
/// files for reuse. Until the first record, there may be a file for it that has no name yet.
/// </summary>
/// <remarks>
/// A file's states: made (perhaps zeroed, synced) or reused -> two header copies with a fresh incarnation -> named -> spare -> current -> full ->
/// released by a checkpoint -> reused, or deleted. A spare that is too small for the next record is passed over; its epoch number is then
/// skipped, and recovery finds the next record by its sequence and chain. The file for the first record since the opening gets its headers before its
/// name, and its name when it becomes current; without a record, it vanishes.
/// <para>
/// Files start small and grow with the bytes written between two flushes: a released file is reused if it is large enough; otherwise a new one is
/// created, four times as long as the longest before it. Closing leaves one small file.
/// </para>
/// <para>
/// A live file is released only by <see cref="ReleaseBefore"/> and <see cref="KeepOnlyLive"/>, which the flusher and the checkpoint mover call when
/// the durable header no longer needs it. Only released files, spares, files whose making failed, and files without an epoch are deleted.
/// </para>
/// </remarks>
internal sealed class JournalFileSet : IDisposable
{
    // Files are zeroed in advance for records from the first length to the second, and for small ones where they cannot write zeros themselves.
    private const int ZeroedFromBytes = 12 << 10;
    private const int ZeroedToBytes = 1 << 20;

    /// <summary>The size in bytes of the file that a closed environment keeps, unless its current file is smaller.</summary>
    private const long LastFileBytes = 64 << 10;

    // A short chain of files leads from the smallest to the largest, so few commits find that the next file is still being made.
    private const int GrowthFactor = 4;

    // A released file so much smaller than the next new one would be full immediately.
    private const int OutgrownPart = GrowthFactor * GrowthFactor;

    // A spare is worth its space once the current file is a quarter full, and contains more than the few records of a barely used environment.
    // Earlier, the next flush may not yet have released a reusable file.
    private const int FullPart = 4;
    private const long SpareFromBytes = 32 << 10;

    private readonly EngineLock _lock = new(LockRank.JournalFiles);
    private readonly IDisk _disk;
    private readonly JournalFileMaker _maker;
    private readonly JournalEpochs _epochs;
    private readonly long _maxFileBytes;
    private readonly List<JournalFile> _live = [];
    private readonly ReleasedFiles _released;
    private readonly FirstJournalFile _first;
    private JournalFile? _spare;
    private long _nextFileBytes;

    // The length requested by the record that began the newest file, including the reserve, and whether the next file is zeroed for such records.
    private long _wantedLength;
    private bool _zeroes;
    private readonly RetryPause _spareRetry = new(TimeSpan.FromSeconds(1), TimeSpan.FromMinutes(1));
    private long _filledBytes;
    private JournalFile? _newest;
    private long _totalBytes;
    private int _liveCount;

    public JournalFileSet(IDisk disk, RandomId environmentId, int pageSize, long firstFileBytes, long maxFileBytes, ILogger logger)
    {
        _disk = disk;
        _maker = new JournalFileMaker(disk, logger);
        _epochs = new JournalEpochs(environmentId, pageSize);
        _nextFileBytes = JournalFormat.AlignUp(firstFileBytes);
        _maxFileBytes = JournalFormat.AlignUp(maxFileBytes);
        _released = new ReleasedFiles(_maker, _maxFileBytes);
        _first = new FirstJournalFile(_maker, _epochs);
    }

    /// <inheritdoc cref="JournalEpochs.Format"/>
    public EnvironmentFormat Format
    {
        get => _epochs.Format;
        init => _epochs.Format = value;
    }

    /// <summary>
    /// The number of record bytes that replay would need, from the replay start of the checkpoint, which may be in the middle of a file.
    /// The space that a file keeps free at its end for the records of a flush does not count: it may exceed all the rest, and no flush
    /// reduces it.
    /// </summary>
    public long LiveRecordBytes => Volatile.Read(ref _filledBytes) + (Newest?.LiveBytes ?? 0);

    /// <summary>The live file of the latest epoch, to which records are appended; null while replay would need no file.</summary>
    public JournalFile? Newest => Volatile.Read(ref _newest);

    /// <summary>The number of files that replay would need.</summary>
    public int LiveCount => Volatile.Read(ref _liveCount);

    /// <summary>The total size of all files in bytes, including the spare and released files.</summary>
    public long TotalBytes => Volatile.Read(ref _totalBytes);

    /// <summary>True when the next file should be prepared now. Until a few records have been written, it would only take space.</summary>
    public bool WantsSpare =>
        Volatile.Read(ref _spare) == null && !_disk.IsVolatile && Newest is { } file
        && file.UsedBytes >= Math.Max(SpareFromBytes, file.Length / FullPart);

    /// <summary>Adopts the existing files: those that replay needs become live, and the others can be reused.</summary>
    /// <param name="files">All files that have an epoch.</param>
    /// <param name="withoutEpoch">The files that have none; they are deleted.</param>
    /// <param name="start">The position where replay starts.</param>
    /// <param name="unused">Files in which no record counts, and which can therefore be reused.</param>
    /// <param name="ends">The end of the last record that was read in each file; no record was read in a file that is not listed.</param>
    public void Adopt(
        IEnumerable<JournalFileInfo> files, IEnumerable<string> withoutEpoch, in JournalPosition start, IReadOnlyCollection<string> unused,
        ReadOnlySpan<JournalSeal> ends)
    {
        using (_lock.Enter())
        {
            // A sorting query would load an assembly and compile code during the first opening in a process: 2 ms of 4.5.
            var infos = new List<JournalFileInfo>(files);
            infos.Sort(static (left, right) => left.Header.Epoch.CompareTo(right.Header.Epoch));
            foreach (var info in infos)
                _maker.SkipName(info.Name);
            foreach (var name in withoutEpoch)
                _maker.SkipName(name);
            foreach (var info in _maker.GiveNames(infos))
            {
                var length = info.FileLength & -JournalFormat.Block;
                var file = new JournalFile(_disk, info.Name, length)
                {
                    Incarnation = info.Header.Incarnation,
                    Epoch = info.Header.Epoch,
                    UsedBytes = EndOf(ends, info.Header.Incarnation),
                    WrittenBytes = EndOf(ends, info.Header.Incarnation),
                    HasBothHeaders = info.HasBothHeaders,
                    Version = info.Header.Version,
                };
                if (file.Incarnation == start.Incarnation)
                    file.StartOffset = start.Offset;
                if (info.IsLive(start) && !unused.Contains(info.Name))
                    _live.Add(file);
                else
                    _released.Add(file);
                _epochs.SkipTo(file.Epoch);
                _nextFileBytes = Math.Max(_nextFileBytes, Math.Min(_maxFileBytes, file.Length));
            }

            _epochs.SkipTo(start.Epoch);
            foreach (var name in withoutEpoch)
                _disk.Delete(name);
            Count();
        }
    }

    private static long EndOf(ReadOnlySpan<JournalSeal> ends, RandomId incarnation)
    {
        foreach (ref readonly var end in ends)
        {
            if (end.Incarnation == incarnation)
                return end.EndOffset;
        }

        return JournalFormat.FirstRecordOffset;
    }

    /// <summary>Makes the spare the current file, or a file prepared now.</summary>
    /// <param name="minLength">The number of bytes that the file must provide for records.</param>
    /// <param name="more">The number of additional bytes that it should provide, so that more than one record fits; fewer on a full disk.</param>
    /// <param name="recordBytes">The size of the first record in bytes; null for a record of a flush, which does not show the size of others.</param>
    /// <param name="seals">Seals for earlier files; only the first file after an opening has any.</param>
    /// <exception cref="DiskException">There is not enough space for a file; nothing has changed.</exception>
    public JournalFile Begin(long minLength, long more, long? recordBytes, ReadOnlySpan<JournalSeal> seals)
    {
        using (_lock.Enter())
        {
            var file = _spare;
            _spare = PlantedFault.UseSpareTwice ? file : null;
            if (file != null
                && (file.Length < minLength + more + JournalFormat.FirstRecordOffset || seals.Length > 0 || file.Version != Format.Version))
            {
                _released.Add(file);
                file = null;
            }

            _wantedLength = minLength + more;
            if (recordBytes is { } bytes)
                _zeroes = bytes < ZeroedToBytes && (bytes >= ZeroedFromBytes || !_disk.GathersWrites);
            file ??= TakeFirst(minLength + more) ?? Prepare(minLength, more, seals, isSpare: false);
            _first.End();
            file.UsedBytes = file.StartOffset = JournalFormat.FirstRecordOffset;
            _live.Add(file);
            Count();
            return file;
        }
    }

    /// <summary>
    /// Prepares the file for the first record since the opening, and changes nothing that can be seen in the directory: the file has no name. Where a
    /// released file will be used again, makes earlier deletions durable, for which that record would wait. Does nothing after the first record.
    /// </summary>
    /// <param name="seals">The seals for the header of that file.</param>
    /// <exception cref="DiskException">The file cannot be made; nothing has changed.</exception>
    /// <exception cref="OutOfMemoryException">There is no memory; nothing has changed.</exception>
    public void PrepareFirst(ReadOnlySpan<JournalSeal> seals)
    {
        using (_lock.Enter())
        {
            if (!_first.IsWanted)
                return;
            if (_released.Count > 0)
                _maker.MakeDeletionsDurable();
            else
                _first.Prepare(_nextFileBytes, seals);
        }
    }

    /// <summary>
    /// Prepares a spare when there is none, so that the next file switch costs the commit nothing. Deletes no released file to free space. After a
    /// failure, does nothing for a pause that grows with each further failure, or until files have been released.
    /// </summary>
    /// <exception cref="DiskException">There is not enough space for a file; nothing has changed.</exception>
    /// <exception cref="OutOfMemoryException">There is no memory; nothing has changed.</exception>
    public void PrepareSpare()
    {
        using (_lock.Enter())
        {
            if (_spare != null || !_spareRetry.IsOver)
                return;

            // Requested lengths grow: a request slightly larger than the last one should still find a file that fits.
            var wanted = _wantedLength + _wantedLength / 8;
            try
            {
                _spare = Prepare(wanted <= _released.LargestKeptBytes ? wanted : 0, 0, default, isSpare: true);
                _spareRetry.Clear();
            }
            catch (Exception e) when (e is DiskException or OutOfMemoryException)
            {
                _spareRetry.Failed();
                throw;
            }

            Count();
        }
    }

    /// <summary>Releases the files before the one where replay starts. A durable checkpoint now allows that.</summary>
    public void ReleaseBefore(in JournalPosition start)
    {
        using (_lock.Enter())
        {
            ReleaseLive(start);

            _spareRetry.Clear();
            _released.Trim(_nextFileBytes / OutgrownPart);
            Count();
        }
    }

    /// <summary>
    /// Begins a small file, to which no record will be written, if the current one is larger. The header of a closed environment can name the
    /// start of this file, which follows the last record, as the place where replay starts, and then needs no other file.
    /// </summary>
    /// <remarks>
    /// First deletes the files that no header needs, to free space. A power cut afterwards leaves the same files as one in an open environment:
    /// the live ones, and perhaps a file without records.
    /// </remarks>
    /// <returns>The file; null if the current file is no larger.</returns>
    /// <exception cref="DiskException">The file could not be made. The live files are as before.</exception>
    /// <exception cref="OutOfMemoryException">There is no memory. The live files are as before.</exception>
    public JournalFile? TryBeginLast()
    {
        using (_lock.Enter())
        {
            if (_live.Count > 0 && _live[^1].Length <= LastFileBytes)
                return null;
            DeleteUnneeded(least: LastFileBytes + 1);
            var file = _spare;
            _spare = null;
            _nextFileBytes = LastFileBytes;
            file ??= Prepare(0, 0, default, isSpare: true);
            file.UsedBytes = file.StartOffset = JournalFormat.FirstRecordOffset;
            _live.Add(file);
            Count();
            return file;
        }
    }

    /// <summary>
    /// Deletes all files that replay does not need. Nothing more will be written. The next opening then finds no file that could have
    /// records after the end, and need not look for any.
    /// </summary>
    /// <param name="start">The position where replay starts, according to the durable header.</param>
    public void KeepOnlyLive(in JournalPosition start)
    {
        using (_lock.Enter())
        {
            ReleaseLive(start);
            DeleteUnneeded(least: 0);
            Count();
        }
    }

    public void Dispose()
    {
        using (_lock.Enter())
        {
            foreach (var file in _live)
                file.Close();
            _spare?.Close();
            _first.End();
            _live.Clear();
            _spare = null;
        }
    }

    private void ReleaseLive(in JournalPosition start)
    {
        while (_live.Count > 1 && _live[0].Epoch < start.Epoch)
        {
            _released.Add(_live[0]);
            _live.RemoveAt(0);
        }

        if (_live.Count > 0 && _live[0].Epoch <= start.Epoch)
            _live[0].StartOffset = _live[0].Epoch == start.Epoch ? start.Offset : _live[0].Length;
    }

    private void DeleteUnneeded(long least)
    {
        _released.DeleteFrom(least);
        if (_spare != null && _spare.Length >= least)
        {
            _maker.Delete(_spare);
            _spare = null;
        }
    }

    // Kept separately from the lists, because readers must not wait while a file is being zeroed. Loops rather than queries: a query would
    // load an assembly during the first opening in a process.
    private void Count()
    {
        Volatile.Write(ref _liveCount, _live.Count);
        var newest = _live.Count > 0 ? _live[^1] : null;
        var filled = 0L;
        var total = (_spare?.Length ?? 0) + _released.Bytes;
        foreach (var file in _live)
        {
            filled += file == newest ? 0 : file.LiveBytes;
            total += file.Length;
        }

        Volatile.Write(ref _filledBytes, filled);
        Volatile.Write(ref _newest, newest);
        Volatile.Write(ref _totalBytes, total);
    }

    private JournalFile Prepare(long minLength, long more, ReadOnlySpan<JournalSeal> seals, bool isSpare)
    {
        var file = TakeOrMake(minLength, more, isSpare, out var isTaken);
        try
        {
            if (isTaken)
                _maker.MakeDeletionsDurable();
            _epochs.Begin(file, seals, isNew: !isTaken);
            if (!isTaken)
                _maker.GiveName(file);
        }
        catch
        {
            if (isTaken)
                _released.Add(file);
            else
                _maker.Delete(file);
            throw;
        }

        GrowAfter(file);
        return file;
    }

    private JournalFile? TakeFirst(long minLength)
    {
        var file = _first.TryTake(minLength);
        if (file != null)
            GrowAfter(file);
        return file;
    }

    private void GrowAfter(JournalFile file)
    {
        if (file.Length >= _nextFileBytes)
            _nextFileBytes = Math.Min(_maxFileBytes, file.Length * GrowthFactor);
    }

    // Takes a released file with space for the whole request, or creates a new one. If the disk has no space for the whole request, a released
    // file that is long enough for the record suffices, or a shorter new one. Released files too short for the record are deleted as a last
    // resort. A spare is not worth any of this, because it may be too short for the next record.
    private JournalFile TakeOrMake(long minLength, long more, bool isSpare, out bool isTaken)
    {
        isTaken = true;
        if (_released.TryTake(minLength + more) is { } roomy)
            return roomy;
        var least = JournalFormat.AlignUp(minLength) + JournalFormat.FirstRecordOffset;
        var length = Math.Max(_nextFileBytes, JournalFormat.AlignUp(minLength + more) + JournalFormat.FirstRecordOffset);
        while (true)
        {
            try
            {
                isTaken = false;
                return _maker.Make(length, _zeroes);
            }
            catch (DiskException e) when (e.Error == DiskError.NoSpace && !isSpare)
            {
                isTaken = true;
                if (_released.TryTake(minLength) is { } shorter)
                    return shorter;
                if (length > least)
                    length = Math.Max(least, JournalFormat.AlignUp(length / 2));
                else if (_released.Count > 0)
                    _released.DeleteLongest();
                else
                    throw;
            }
        }
    }
}
