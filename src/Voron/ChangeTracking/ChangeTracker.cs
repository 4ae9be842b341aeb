using Microsoft.Extensions.Logging;
using Voron.Format;
using Voron.IO;
using Voron.Paging;
using Voron.Primitives;
using Voron.Testing;

namespace Voron.ChangeTracking;

/// <summary>Knows which pages have changed between two states: by the change log, the version table and the direct writes.</summary>
/// <remarks>
/// <code>
///   off ──Arm──▶ armed ──Begin──▶ on ──a write, or a reading, fails──▶ off
///   opening: the header names an entry ──▶ on, unread ──first use──▶ on, or off if no file has the entry
/// </code>
/// While it is armed or on, the holder of the writer notes direct writes. While it is on, each flush adds an entry before it moves the
/// checkpoint, and the header names the entry: so the log is either complete up to the checkpoint, or not named. A log that cannot be continued
/// ends: that costs the next backup some time, and nothing else depends on it. So neither a flush nor a commit fails because of the log.
/// <para>
/// A file that grew too large is followed by one that has its first half as a single entry. The other entries are the same bytes in both, so
/// the header names an entry of either.
/// </para>
/// </remarks>
internal sealed class ChangeTracker : IDisposable
{
    /// <summary>The most entries of a file.</summary>
    private const int MaxEntries = 4096;

    /// <summary>An entry has at most this part of the log's bytes.</summary>
    private const int PartOfLog = 8;

    /// <summary>A log that cannot be shrunk ends when it has this many times the bytes that it should have.</summary>
    private const int MostTimesLimit = 4;

    // Protects everything but the direct writes. Taken by the flusher under its lock, and by callers that ask for changes.
    private readonly EngineLock _lock = new(LockRank.ChangeLog);
    private readonly IDisk _disk;
    private readonly RandomId _environmentId;
    private readonly EnvironmentFormat _format;
    private readonly ILogger _logger;
    private readonly DirectWrites _directWrites;
    private readonly ExtentSet _pages;
    private readonly BackupPoints _points = new();
    private ChangeLogFile? _file;
    private long _number;
    private ulong _named;
    private readonly long _snapshotAtOpening;
    private long _checkpoint;
    private int _generation;
    private long _triesToShrinkAt;
    private bool _isOn;
    private volatile bool _notesDirectWrites;

    /// <param name="disk">The directory of the environment.</param>
    /// <param name="header">The header of the environment.</param>
    /// <param name="format">The format of the environment, which may be upgraded.</param>
    /// <param name="heap">Provides the memory of lists.</param>
    /// <param name="logger">Receives warnings.</param>
    public ChangeTracker(IDisk disk, in CheckpointHeader header, EnvironmentFormat format, NativeHeap heap, ILogger logger)
    {
        _disk = disk;
        _environmentId = header.EnvironmentId;
        _format = format;
        _logger = logger;
        _directWrites = new DirectWrites(heap);
        _pages = new ExtentSet(heap);
        _checkpoint = header.State.TransactionId;
        _snapshotAtOpening = header.JournalSnapshotTransactionId;
        _named = header.ChangeLogEntry;
        _isOn = _notesDirectWrites = _named != 0;
    }

    /// <summary>The number of bytes from which on the log is written anew with fewer. Set by tests.</summary>
    public long LimitBytes { get; set; } = 64 << 20;

    private long MaxPayloadBytes => LimitBytes / PartOfLog;

    /// <summary>The entry that the header file has to name; 0 if there is no log. Read under the flusher's lock.</summary>
    public ulong Named => _named;

    /// <summary>True if the log goes on, as far as is known.</summary>
    public bool IsOn
    {
        get
        {
            using (_lock.Enter())
                return _isOn;
        }
    }

    /// <summary>Makes the tracker note the direct writes of all transactions that are submitted from now on. The caller holds the writer.</summary>
    /// <returns>A number for <see cref="TryBegin"/>: it changes when direct writes are forgotten.</returns>
    public int Arm()
    {
        using (_lock.Enter())
        {
            _notesDirectWrites = true;
            return _generation;
        }
    }

    /// <summary>Notes pages that a transaction has written directly. The caller holds the writer, and has not submitted the record.</summary>
    /// <exception cref="OutOfMemoryException">There is no memory; nothing was noted.</exception>
    public void NoteDirectWrite(long transactionId, long firstPage, long pages)
    {
        if (_notesDirectWrites && !PlantedFault.ForgetDirectWrites)
            _directWrites.Add(transactionId, firstPage, pages);
    }

    /// <summary>
    /// Begins the log, unless there is one. The header must name <see cref="Named"/> before the log is used. The caller holds the flusher's lock.
    /// </summary>
    /// <param name="generation">The result of <see cref="Arm"/>.</param>
    /// <param name="armedAt">The last transaction that was submitted when the tracker was armed; it is durable.</param>
    /// <param name="snapshot">The transaction of the journal snapshot that is in force, or 0.</param>
    /// <returns>False if direct writes have been forgotten since the tracker was armed: arm it again.</returns>
    /// <exception cref="DiskException">The file cannot be written; there is no log.</exception>
    public bool TryBegin(int generation, long armedAt, long snapshot)
    {
        using (_lock.Enter())
        {
            if (TryFind())
                return true;
            if (generation != _generation)
                return false;
            var since = Math.Max(armedAt, Math.Max(_checkpoint, snapshot));
            try
            {
                var numbers = ChangeLogFile.Numbers(_disk);
                _number = numbers.DefaultIfEmpty().Max() + 1;
                _file = ChangeLogFile.Create(_disk, _number, _environmentId);
                _named = _file.Append(NewEntry(ChangeLogEntryKind.Start, since, since) with { Sequence = 1 }, static _ => { });
                _disk.SyncDirectory();
                ChangeLogFile.DeleteOthers(_disk, numbers, _number);
            }
            catch
            {
                var isMade = _file != null;
                TurnOff();
                if (isMade)
                    ChangeLogFile.TryDelete(_disk, _number);
                throw;
            }

            return _isOn = true;
        }
    }

    /// <summary>
    /// Adds an entry for a flush whose pages are durable in the data file, before the checkpoint moves. If that fails, there is no log any more.
    /// The caller holds the flusher's lock.
    /// </summary>
    /// <param name="addChanged">Adds the pages that have changed since the last flush, those with direct writes only excepted.</param>
    /// <param name="to">The transaction that the checkpoint moves to.</param>
    public void AddFlush(Action<ExtentSet> addChanged, long to)
    {
        using (_lock.Enter())
        {
            // Read as of the last checkpoint.
            var isOn = TryFind();
            var from = _checkpoint;
            _checkpoint = to;
            if (!isOn)
                return;
            try
            {
                _pages.Clear();
                AddPending();
                addChanged(_pages);
                _directWrites.CopyTo(_pages, 0, to);
                _named = ChangeLogContent.AppendPages(_file!, NewEntry(ChangeLogEntryKind.Flush, from, to), _pages, MaxPayloadBytes);
                ShrinkIfLarge();
            }
            catch (Exception e) when (e is DiskException or OutOfMemoryException)
            {
                End(e.Message);
            }
        }
    }

    /// <summary>
    /// Adds an entry for the direct writes that a journal snapshot replaces the records of, before the header names the snapshot. If that fails,
    /// there is no log any more. The caller holds the flusher's lock. The entry is added even if there are none: it shows that none is missing.
    /// </summary>
    /// <param name="to">The transaction of the snapshot.</param>
    public void AddDirectWrites(long to)
    {
        using (_lock.Enter())
        {
            if (!TryFind())
                return;
            try
            {
                _pages.Clear();
                _directWrites.CopyTo(_pages, 0, to);
                if (PlantedFault.SnapshotWithoutDirectWrites)
                    _pages.Clear();
                _named = ChangeLogContent.AppendPages(_file!, NewEntry(ChangeLogEntryKind.Direct, _checkpoint, to), _pages, MaxPayloadBytes);
            }
            catch (Exception e) when (e is DiskException or OutOfMemoryException)
            {
                End(e.Message);
            }
        }
    }

    /// <summary>Forgets the direct writes up to the checkpoint, which an entry has. The caller holds the flusher's lock.</summary>
    public void ReleaseDirectWrites(long checkpoint) => _directWrites.Release(checkpoint);

    /// <summary>
    /// Adds a backup that later ones can build on: durably if the checkpoint has reached its state, otherwise with the flush that reaches it. So a
    /// recovery never ends before the state of a point. The caller holds the flusher's lock: an entry behind that of a flush would be lost with it
    /// if the power failed before the header named it.
    /// </summary>
    /// <param name="point">The backup.</param>
    /// <returns>False if there is no log that reaches back to its state.</returns>
    /// <exception cref="DiskException">The entry could not be written.</exception>
    public bool TryAddPoint(BackupPoint point)
    {
        using (_lock.Enter())
        {
            if (!TryFind() || point.TransactionId < Since)
                return false;
            _points.EnsureRoom();
            var isReached = point.TransactionId <= _checkpoint;
            if (isReached)
                ChangeLogContent.AppendPoints(_file!, NewEntry(ChangeLogEntryKind.Points, _checkpoint, _checkpoint), [point]);
            _points.Add(point, isReached);
            return true;
        }
    }

    /// <summary>Returns whether a backup that was added is durable as one that later ones can build on.</summary>
    public bool IsDurable(RandomId backupId)
    {
        using (_lock.Enter())
            return TryFind() && _points.IsDurable(backupId);
    }

    /// <summary>Returns the backup with an id, if later ones can build on it.</summary>
    public BackupPoint? FindPoint(RandomId backupId)
    {
        using (_lock.Enter())
        {
            return TryFind() && _points.Find(backupId) is { } point && point.TransactionId >= Since ? point : null;
        }
    }

    /// <summary>Adds all pages that differ between two states to a set, and perhaps more.</summary>
    /// <remarks>
    /// Called while a snapshot of the newer state is registered, which keeps each flush at or before it. The order matters: a flush adds its entry
    /// before it releases direct writes and detaches versions, so what a look at the first two misses is in the log by then.
    /// </remarks>
    /// <param name="versions">The version table.</param>
    /// <param name="since">The older state.</param>
    /// <param name="state">The newer state.</param>
    /// <param name="changed">The set, which has room for all pages of the newer state.</param>
    /// <returns>False if there is no log that reaches back to the older state.</returns>
    public bool TryCollect(VersionTable versions, long since, in EnvironmentState state, ChangedPages changed)
    {
        int generation;
        using (_lock.Enter())
            generation = TryFind() && since >= Since ? _generation : -1;
        if (generation < 0 || (PlantedFault.LookAtLogFirst && !TryAddLogged(generation, since, changed)))
            return false;
        SchedulePoint.Reach(SchedulePlace.CollectingChanges);
        changed.AddVersions(versions, since, state);
        SchedulePoint.Reach(SchedulePlace.VersionsCollected);
        var direct = changed.Scratch;
        direct.Clear();
        _directWrites.CopyTo(direct, since, state.TransactionId);
        changed.Add(direct.Extents);
        SchedulePoint.Reach(SchedulePlace.DirectWritesCollected);
        return PlantedFault.LookAtLogFirst || TryAddLogged(generation, since, changed);
    }

    public void Dispose()
    {
        using (_lock.Enter())
        {
            _isOn = false;
            _file?.Dispose();
            _file = null;
        }
    }

    // The oldest state since which the log has all changes.
    private long Since => PlantedFault.CoverGap ? 0 : _file!.Entries[0].Header.From;

    // One entry at a time, so that a flush waits for one at most. If entries were merged meanwhile, the merged one has the pages of all of them.
    private bool TryAddLogged(int generation, long since, ChangedPages changed)
    {
        for (var sequence = 0L; sequence >= 0;)
        {
            using (_lock.Enter())
            {
                if (!_isOn || generation != _generation || !TryAddNext(since, ref sequence, changed))
                    return false;
            }
        }

        return true;
    }

    private bool TryAddNext(long since, ref long sequence, ChangedPages changed)
    {
        foreach (var place in _file!.Entries)
        {
            var header = place.Header;
            if (header.Sequence <= sequence || header.To <= since || header.Kind == ChangeLogEntryKind.Points)
                continue;
            sequence = header.Sequence;
            _pages.Clear();
            try
            {
                if (!ChangeLogContent.TryAddPages(_file, place, _pages))
                {
                    End($"The entry at offset {place.Offset} of '{_file.Path}' is damaged.");
                    return false;
                }
            }
            catch (DiskException e)
            {
                End(e.Message);
                return false;
            }

            changed.Add(_pages.Extents);
            return true;
        }

        sequence = -1;
        return true;
    }

    // Returns whether there is a log. It is read at its first use.
    private bool TryFind()
    {
        if (!_isOn || _file != null)
            return _isOn;
        try
        {
            var target = new ChangeLogTarget(_named, _checkpoint, _snapshotAtOpening, _format.Lineage.Id);
            _file = ChangeLogFile.Find(_disk, _environmentId, target, out _number);
            if (_file != null)
                ReadPoints(_file);
            else
                End("No file has the entry that the header names.");
        }
        catch (Exception e) when (e is DiskException or OutOfMemoryException)
        {
            End(e.Message);
        }

        return _isOn;
    }

    private void ReadPoints(ChangeLogFile file)
    {
        foreach (var place in file.Entries)
        {
            foreach (var point in ChangeLogContent.PointsIn(file, place))
                _points.Add(point, isDurable: true);
        }

        ChangeLogFile.DeleteOthers(_disk, ChangeLogFile.Numbers(_disk), _number);
    }

    // A log that cannot be written anew grows for a while, and ends if that goes on.
    private void ShrinkIfLarge()
    {
        var file = _file!;
        if ((file.End <= LimitBytes && file.Entries.Count <= MaxEntries) || file.End < _triesToShrinkAt)
            return;
        var shrinking = new ChangeLogShrinking(file, _named, MaxPayloadBytes, _pages);
        if (!shrinking.IsWorthwhile)
            return;
        ChangeLogFile? smaller = null;
        try
        {
            smaller = ChangeLogFile.Create(_disk, _number + 1, _environmentId);
            if (!shrinking.TryWriteTo(smaller))
            {
                End($"An entry of '{file.Path}' is damaged.");
                smaller.Dispose();
                return;
            }

            smaller.Sync();
            _disk.SyncDirectory();
        }
        catch (Exception e) when (e is DiskException or OutOfMemoryException)
        {
            if (smaller != null)
            {
                smaller.Dispose();
                ChangeLogFile.TryDelete(_disk, _number + 1);
            }

            ChangeLogMessages.StaysLarge(_logger, _disk.Path, e.Message);
            _triesToShrinkAt = file.End + LimitBytes / PartOfLog;
            if (file.End > MostTimesLimit * LimitBytes)
                End($"It could not be written anew: {e.Message}");
            return;
        }

        _file = smaller;
        _triesToShrinkAt = 0;
        file.Dispose();
        ChangeLogFile.TryDelete(_disk, _number++);
    }

    // Points whose state the flush reaches stand before its entry, so that they count just when that does.
    private void AddPending()
    {
        var reached = _points.Reached(_checkpoint);
        if (reached.Length == 0)
            return;
        ChangeLogContent.AppendPoints(_file!, NewEntry(ChangeLogEntryKind.Points, 0, 0), reached);
        _points.NoteDurable(_checkpoint);
    }

    private ChangeLogEntry NewEntry(ChangeLogEntryKind kind, long from, long to) =>
        new() { Kind = kind, Lineage = _format.Lineage.Id, From = from, To = to, Checkpoint = _checkpoint };

    private void End(string reason)
    {
        ChangeLogMessages.Ended(_logger, _disk.Path, reason);
        TurnOff();
    }

    private void TurnOff()
    {
        _isOn = _notesDirectWrites = false;
        _generation++;
        _named = 0;
        _directWrites.Clear();
        _points.Clear();
        _file?.Dispose();
        _file = null;
    }
}
