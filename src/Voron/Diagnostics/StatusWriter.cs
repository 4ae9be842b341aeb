using System.Runtime.InteropServices;
using Voron.Format;
using Voron.IO;
using Voron.Primitives;
using Voron.Transactions;

namespace Voron.Diagnostics;

/// <summary>Writes the status file of an environment that is open for writing, for other processes to read.</summary>
/// <remarks>
/// <code>
///   timer: one interval after the opening ─▶ figures collected ─▶ changed: block written ─▶ timer: one interval
///                                                              └▶ unchanged: nothing ─────▶ timer: ten intervals, or one when the flusher has work
///   closing ─▶ the file is deleted, and no block is written any more
/// </code>
/// The timer's thread belongs to the pool: no thread of the environment waits for a write of this file, which may hang with the device. The file is
/// never synced. It is opened for each block, so that a file deleted by a user is created again. Only a file that this opening has created is
/// overwritten; one of an earlier opening is deleted, and a file with other content remains, in which case there is no status.
/// </remarks>
internal sealed class StatusWriter : IDisposable
{
    private const int IntervalsWhenSlow = 10;

    private static readonly TimeSpan LongestFirstWait = TimeSpan.FromSeconds(1);

    private static readonly TimeSpan LongestRetryPause = TimeSpan.FromMinutes(1);

    /// <summary>The limit for the wait on closing, which a hung device must not block.</summary>
    private static readonly TimeSpan LongestWait = TimeSpan.FromSeconds(1);

    private static readonly TimeSpan ReaderTolerance = TimeSpan.FromSeconds(1);

    // Held while a block is written. Protects the block and the state of the file.
    private readonly Lock _writing = new();
    private volatile bool _isClosed;
    private readonly EngineCore _engine;
    private readonly StatusSource _source;
    private readonly TimeSpan _interval;
    private readonly RetryPause _retry;
    private readonly byte[] _block = new byte[StatusFile.Length];
    private readonly ITimer _timer;
    private StatusBlock _last;
    private bool _isFailing;
    private bool _isSlow;
    private bool _hasMadeFile;
    private long _seenWork;

    /// <param name="engine">An engine that is open for writing.</param>
    /// <param name="source">Its figures.</param>
    public StatusWriter(EngineCore engine, StatusSource source)
    {
        _engine = engine;
        _source = source;
        _interval = engine.Options.StatusInterval;
        _retry = new RetryPause(_interval, LongestRetryPause, engine.Options.StatusClock);

        // The timer belongs to the environment, not to the context of the caller that opens it.
        var flow = ExecutionContext.IsFlowSuppressed() ? default : ExecutionContext.SuppressFlow();
        _timer = engine.Options.StatusClock.CreateTimer(
            static writer => ((StatusWriter)writer!).OnTimer(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        if (flow != default)
            flow.Undo();
        _timer.Change(_interval < LongestFirstWait ? _interval : LongestFirstWait, Timeout.InfiniteTimeSpan);
    }

    /// <summary>Returns whether an environment has a status file: other processes can see its files, and the options enable it.</summary>
    public static bool IsWanted(EngineCore engine) =>
        engine.Options is { ReadOnly: false, BackgroundFlush: true } && engine.Disk is { IsReadOnly: false, IsVisibleToOthers: true }
        && engine.Options.StatusInterval > TimeSpan.Zero;

    /// <summary>Deletes the file left by a process that did not close the environment. Called by an opening for writing.</summary>
    public static void DeleteLeftover(IDisk disk)
    {
        if (!disk.IsVisibleToOthers)
            return;
        try
        {
            // The usual case must not throw an exception.
            if (!disk.List().Any(entry => entry.Name == StatusFile.FileName))
                return;
            using (var file = disk.Open(StatusFile.FileName, DiskOpen.Existing, DiskAccess.Buffered))
                StatusFile.SessionOf(file);
            disk.Delete(StatusFile.FileName);
        }
        catch (DiskException)
        {
            // The file is not the engine's, or cannot be deleted. The first block meets the same failure, and reports it.
        }
    }

    /// <summary>Makes the timer run at full pace again if there were commits or flushes since it slowed down. Takes no lock, and is quick.</summary>
    public void OnWork()
    {
        if (Volatile.Read(ref _isSlow) && _source.Work != Volatile.Read(ref _seenWork))
            SetTimer(isSlow: false);
    }

    /// <summary>Stops writing, and deletes the file.</summary>
    public void Dispose()
    {
        _isClosed = true;
        _timer.Dispose();
        Uninterrupted.Run(() =>
        {
            // A write that hangs deletes the file when it returns. Until then it counts as a call, which keeps the lock of the environment.
            if (!_writing.TryEnter(LongestWait))
                return;
            try
            {
                DeleteOwn();
            }
            finally
            {
                _writing.Exit();
            }
        });
    }

    // An exception that left this method would end the process.
    private void OnTimer()
    {
        if (!_engine.Users.TryAddCall())
            return;
        try
        {
            RunOnce();
        }
        catch (Exception)
        {
            // No memory, for example. The next run may succeed.
            StartTimer(isSlow: true);
        }
        finally
        {
            Leave();
        }
    }

    private void RunOnce()
    {
        // An active run restarts the timer at its end.
        if (!_writing.TryEnter())
            return;
        bool hasWritten;
        try
        {
            if (_isClosed)
                return;
            hasWritten = _retry.IsOver && TryUpdate();
            if (_isClosed)
                DeleteOwn();
        }
        finally
        {
            _writing.Exit();
        }

        StartTimer(isSlow: !hasWritten);
    }

    // A commit after the collection is detected here, or finds the timer slow and makes the flusher call OnWork.
    private void StartTimer(bool isSlow)
    {
        SetTimer(isSlow);
        OnWork();
    }

    private void SetTimer(bool isSlow)
    {
        Volatile.Write(ref _isSlow, isSlow);
        Interlocked.MemoryBarrier();
        _timer.Change(isSlow ? _interval * IntervalsWhenSlow : _interval, Timeout.InfiniteTimeSpan);
    }

    private bool TryUpdate()
    {
        Volatile.Write(ref _seenWork, _source.Work);
        var status = _source.Collect();
        if (_last.Sequence > 0 && !_isFailing && IsUnchanged(status))
            return false;
        status.Sequence = _last.Sequence + 1;
        StatusFile.Fill(status, _source.Cause, _block);
        try
        {
            using (var file = OpenOwn())
                file.Write(0, _block);
            _last = status;
            _isFailing = false;
            _retry.Clear();
            return true;
        }
        catch (DiskException e)
        {
            _retry.Failed();
            if (!_isFailing)
                StatusLog.NotWritten(_engine.Logger, StatusFile.FileName, _engine.Disk.Path, e.Message);
            _isFailing = true;
            return false;
        }
    }

    // Time and the free space of the volume change without any work in this environment. The start of the oldest reader is known only approximately.
    private bool IsUnchanged(in StatusBlock status)
    {
        var comparable = status with
        {
            Sequence = _last.Sequence,
            UpdatedTicks = _last.UpdatedTicks,
            UptimeMilliseconds = _last.UptimeMilliseconds,
            VolumeFreeBytes = _last.VolumeFreeBytes,
            OldestReaderTicks = _last.OldestReaderTicks,
        };
        return BytesOf(comparable).SequenceEqual(BytesOf(_last))
            && Math.Abs(status.OldestReaderTicks - _last.OldestReaderTicks) <= ReaderTolerance.Ticks;
    }

    private static ReadOnlySpan<byte> BytesOf(in StatusBlock status) => MemoryMarshal.AsBytes(new ReadOnlySpan<StatusBlock>(in status));

    private DiskFile OpenOwn()
    {
        try
        {
            var file = _engine.Disk.Open(StatusFile.FileName, DiskOpen.Existing, DiskAccess.Buffered);
            var isKept = false;
            try
            {
                isKept = StatusFile.SessionOf(file) == _source.Session;
                if (isKept)
                    return file;
            }
            finally
            {
                if (!isKept)
                    file.Dispose();
            }

            // The file of another opening. It is not overwritten, because the directory may belong to another environment by now; the deletion
            // checks that.
            _engine.Disk.Delete(StatusFile.FileName);
        }
        catch (DiskException e) when (e.Error == DiskError.NotFound)
        {
            // It is the first block, or a person has deleted the file.
        }

        var made = _engine.Disk.Open(StatusFile.FileName, DiskOpen.New, DiskAccess.Buffered);
        _hasMadeFile = true;
        return made;
    }

    private void DeleteOwn()
    {
        if (!_hasMadeFile)
            return;
        _hasMadeFile = false;
        try
        {
            RandomId session;
            using (var file = _engine.Disk.Open(StatusFile.FileName, DiskOpen.Existing, DiskAccess.Buffered))
                session = StatusFile.SessionOf(file);
            if (session == _source.Session || session == default)
                _engine.Disk.Delete(StatusFile.FileName);
        }
        catch (DiskException)
        {
            // A reader finds that the environment is not locked. The next opening for writing deletes the file.
        }
    }

    // The last user of a closed environment releases it, which is reported to no caller here.
    private void Leave()
    {
        try
        {
            _engine.Users.RemoveCall();
        }
        catch (Exception)
        {
            // The files are as they would be after a crash, which the next opening recovers.
        }
    }
}
