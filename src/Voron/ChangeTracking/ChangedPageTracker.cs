using Microsoft.Extensions.Logging;
using Voron.Format;
using Voron.IO;
using Voron.Primitives;
using Voron.Testing;

namespace Voron.ChangeTracking;

/// <summary>Finds the pages that have changed between two states, from the change log, the version table and the direct writes.</summary>
/// <remarks>
/// <code>
///   off ──Arm──▶ armed ──Begin──▶ on ──a write, or a reading, fails──▶ off
///   opening: the header names an entry ──▶ on, unread ──first use──▶ on, or off if no file has the entry
/// </code>
/// While it is armed or on, the holder of the writer notes direct writes. While it is on, each flush adds an entry before it moves the checkpoint,
/// and the header names the entry: the log is either complete up to the checkpoint, or not named. A log that cannot be continued ends: that costs
/// the next backup some time, and nothing else depends on it. Neither a flush nor a commit fails because of the log.
/// <para>
/// A file that has grown too large is replaced by one that merges its first half into one pages entry and one points entry. The other entries are
/// the same bytes in both, so the header names an entry of either.
/// </para>
/// </remarks>
internal sealed partial class ChangedPageTracker : IDisposable
{
    /// <summary>The maximum number of entries in a file.</summary>
    private const int MaxEntries = 4096;

    /// <summary>An entry takes at most this part of the log's bytes.</summary>
    private const int PartOfLog = 32;

    /// <summary>A log that cannot be shrunk ends at this many times its limit.</summary>
    private const int MostTimesLimit = 4;

    // Protects everything except the direct writes. Taken by the flusher under its lock, and by callers that ask for changes.
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
    private volatile bool _hasLostWrites;

    /// <param name="disk">The directory of the environment.</param>
    /// <param name="header">The header of the environment.</param>
    /// <param name="format">The format of the environment, which may be upgraded.</param>
    /// <param name="heap">Provides the memory of lists.</param>
    /// <param name="logger">Receives warnings.</param>
    /// <param name="isWanted">False to abandon the log that the header names.</param>
    public ChangedPageTracker(IDisk disk, in CheckpointHeader header, EnvironmentFormat format, NativeHeap heap, ILogger logger, bool isWanted = true)
    {
        _disk = disk;
        _environmentId = header.EnvironmentId;
        _format = format;
        _logger = logger;
        _directWrites = new DirectWrites(heap);
        _pages = new ExtentSet(heap);
        _checkpoint = header.State.TransactionId;
        _snapshotAtOpening = header.JournalSnapshotTransactionId;
        _named = isWanted ? header.ChangeLogEntry : 0;
        _isOn = _notesDirectWrites = _named != 0;
    }

    /// <summary>The number of bytes from which on the log is shrunk by rewriting it.</summary>
    public long LimitBytes { get; set; } = 64 << 20;

    private long MaxPayloadBytes => LimitBytes / PartOfLog;

    /// <summary>The entry that the header file has to name; 0 if there is no log. Read under the flusher's lock.</summary>
    public ulong Named => _named;

    /// <summary>True if the log continues, as far as is known.</summary>
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
        // Without the lock, which may be held for long. Turning off changes the number last, so a number that was read here before is stale then.
        var generation = Volatile.Read(ref _generation);
        _notesDirectWrites = true;
        return generation;
    }

    /// <summary>Notes pages that a transaction has written directly. The caller holds the writer, and has not submitted the record.</summary>
    public void NoteDirectWrite(long transactionId, long firstPage, long pages)
    {
        if (!_notesDirectWrites || PlantedFault.ForgetDirectWrites)
            return;
        try
        {
            _directWrites.Add(transactionId, firstPage, pages);
        }
        catch (OutOfMemoryException)
        {
            // The transaction continues, and the log ends at its next use.
            _hasLostWrites = true;
        }
    }

    /// <summary>Forgets the direct writes of a transaction that was not submitted. The caller holds the writer.</summary>
    public void WithdrawDirectWrites(long transactionId) => _directWrites.Withdraw(transactionId);

    /// <summary>
    /// Begins the log, unless one exists. The header must name <see cref="Named"/> before the log is used. The caller holds the flusher's lock.
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
            if (_hasLostWrites)
                TurnOff();
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
    /// Adds an entry for a flush whose pages are durable in the data file, before the checkpoint moves. If that fails, the log ends. The caller
    /// holds the flusher's lock.
    /// </summary>
    /// <param name="addChanged">Adds the pages that have changed since the last flush, except those with direct writes only.</param>
    /// <param name="to">The transaction that the checkpoint moves to.</param>
    public void AddFlush(Action<ExtentSet> addChanged, long to)
    {
        using (_lock.Enter())
        {
            // Read as of the last checkpoint.
            var isOn = TryFind();
            var from = _checkpoint;
            _checkpoint = to;
            if (isOn)
                AddPages(ChangeLogEntryKind.Flush, from, to, addChanged);
        }
    }

    /// <summary>
    /// Adds an entry for the direct writes whose records a journal snapshot replaces, before the header names the snapshot. If that fails, the log
    /// ends. The caller holds the flusher's lock. The entry is added even if there are none: it shows that none is missing.
    /// </summary>
    /// <param name="to">The transaction of the snapshot.</param>
    public void AddDirectWrites(long to)
    {
        using (_lock.Enter())
        {
            if (TryFind())
                AddPages(ChangeLogEntryKind.Direct, _checkpoint, to, static _ => { });
        }
    }

    /// <summary>
    /// Notes that the header names the last entry of a flush or a journal snapshot, which contains all direct writes up to there. The caller holds
    /// the flusher's lock.
    /// </summary>
    /// <param name="upTo">The transaction of the flush or the snapshot.</param>
    public void NoteHeaderMoved(long upTo)
    {
        _directWrites.Release(upTo);
        using (_lock.Enter())
        {
            if (!_isOn || _file == null)
                return;
            _points.NoteDurable(_checkpoint);
            ShrinkIfLarge();
        }
    }

    /// <summary>
    /// Adds a backup that later ones can build on: durably if the checkpoint has reached its state, otherwise with the flush that reaches it. A
    /// recovery therefore never ends before the state of a point. The caller holds the flusher's lock: an entry after that of a flush would be
    /// lost with it if the power failed before the header named it.
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
            ShrinkIfLarge();
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

    public void Dispose()
    {
        using (_lock.Enter())
        {
            _isOn = false;
            _file?.Dispose();
            _file = null;
        }
    }

    // The oldest state since which the log contains all changes.
    private long Since => PlantedFault.CoverGap ? 0 : _file!.Entries[0].Header.From;

    // Returns whether there is a log. It is read at its first use.
    private bool TryFind()
    {
        if (_isOn && _hasLostWrites)
            End("Out of memory while recording the pages written by a transaction.");
        if (!_isOn || _file != null)
            return _isOn;
        try
        {
            var target = new ChangeLogTarget(_named, _checkpoint, _snapshotAtOpening, _format.Lineage.Id);
            _file = ChangeLogFile.Find(_disk, _environmentId, target, out _number);
            if (_file != null)
                ReadPoints(_file);
            else
                End("No file contains the entry that the header names.");
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

    // Called when the header names the last entry of a flush or a snapshot. A log that cannot be rewritten grows for a while, and then ends.
    private void ShrinkIfLarge()
    {
        var file = _file!;
        if (file.End > MostTimesLimit * LimitBytes)
        {
            End($"'{file.Path}' has {file.End} bytes, and could not be written anew in fewer.");
            return;
        }

        if ((file.End <= LimitBytes && file.Entries.Count <= MaxEntries) || file.End < _triesToShrinkAt)
            return;
        var shrinking = new ChangeLogShrinking(file, _named, MaxPayloadBytes, _pages);
        if (!shrinking.IsWorthwhile)
            return;
        ChangeLogFile? smaller = null;
        var isFinishing = false;
        try
        {
            smaller = ChangeLogFile.CreateUnfinished(_disk, _number + 1, _environmentId);
            if (!shrinking.TryWriteTo(smaller))
                throw new DiskException(DiskError.Failed, "read", file.Path, "an entry is damaged");
            isFinishing = true;
            smaller.Finish(_disk, _number + 1);
            (_file, smaller) = (smaller, null);
            file.Dispose();
            ChangeLogFile.TryDelete(_disk, _number++);
            _triesToShrinkAt = 0;
            _points.Remove(shrinking.Dropped);
        }
        catch (Exception e) when (e is DiskException or OutOfMemoryException)
        {
            _triesToShrinkAt = file.End + LimitBytes / PartOfLog;
            ChangeLogMessages.StaysLarge(_logger, _disk.Path, e.Message);
            ChangeLogFile.TryDeleteUnfinished(_disk, _number + 1);

            // With two files that contain the named entry, an opening could take the one that lacks the next entries.
            if (isFinishing)
            {
                ChangeLogFile.TryDelete(_disk, _number + 1);
                End(e.Message);
            }
        }
        finally
        {
            smaller?.Dispose();
            _pages.Clear();
        }
    }

    // Adds an entry with pages and all direct writes up to its end, or ends the log.
    private void AddPages(ChangeLogEntryKind kind, long from, long to, Action<ExtentSet> addChanged)
    {
        try
        {
            _pages.Clear();
            if (kind == ChangeLogEntryKind.Flush)
                AddPending();
            addChanged(_pages);
            if (kind == ChangeLogEntryKind.Flush || !PlantedFault.SnapshotWithoutDirectWrites)
                _directWrites.CopyTo(_pages, 0, to);
            _named = ChangeLogContent.AppendPages(_file!, NewEntry(kind, from, to), _pages, MaxPayloadBytes);
        }
        catch (Exception e) when (e is DiskException or OutOfMemoryException)
        {
            End(e.Message);
        }
        finally
        {
            _pages.Clear();
        }
    }

    // Points whose state the flush reaches are written before its entry, so that they count exactly when that does.
    private void AddPending()
    {
        var reached = _points.Reached(_checkpoint);
        if (reached.Length == 0)
            return;
        ChangeLogContent.AppendPoints(_file!, NewEntry(ChangeLogEntryKind.Points, 0, 0), reached);
    }

    private ChangeLogEntry NewEntry(ChangeLogEntryKind kind, long from, long to) =>
        new() { Kind = kind, Lineage = _format.Lineage.Id, From = from, To = to, Checkpoint = _checkpoint };

    // The header on the disk may still name the log: without its file, it is off after a crash, too.
    private void End(string reason)
    {
        ChangeLogMessages.Ended(_logger, _disk.Path, reason);
        var isFound = _file != null;
        TurnOff();
        if (isFound)
            ChangeLogFile.TryDelete(_disk, _number);
    }

    private void TurnOff()
    {
        _hasLostWrites = false;
        _isOn = _notesDirectWrites = false;
        _named = 0;
        _directWrites.Clear();
        _points.Clear();
        _file?.Dispose();
        _file = null;
        Interlocked.Increment(ref _generation);
    }
}
