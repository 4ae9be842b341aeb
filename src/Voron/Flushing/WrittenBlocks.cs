using Voron.Paging;
using Voron.Transactions;

namespace Voron.Flushing;

/// <summary>
/// Keeps written blocks after the end of the data file, for the large values to come: the first write to a block also makes the sync wait for a
/// commit of the file system's own journal.
/// </summary>
/// <remarks>
/// Values first take the space that other values have freed, whose blocks have been written. The end of the file has to provide the rest: it needs
/// about as much as it grew by in the last minutes because of values. This is the smaller one of two sums, both halved every minute: all growth, and
/// all bytes of values. Zeros are written while the environment is quiet. After a crash, the blocks are free space at the end of the file, as blocks
/// allocated ahead of need are. Used by the flusher's thread.
/// </remarks>
/// <param name="engine">The engine.</param>
/// <param name="clock">The clock; null for that of the system.</param>
internal sealed class WrittenBlocks(Engine engine, TimeProvider? clock = null)
{
    /// <summary>The maximum number of bytes that are kept.</summary>
    public const long MaxBytes = 256L << 20;

    /// <summary>The free space of the volume below which there are no written blocks: even the largest number of them then seldom matters.</summary>
    public const long MinAvailableBytes = 4 * MaxBytes;

    /// <summary>The maximum number of growth steps that are kept.</summary>
    private const int MaxSteps = 4;

    private static readonly TimeSpan HalfLife = TimeSpan.FromMinutes(1);

    /// <summary>The time after which the flusher's thread looks for other work.</summary>
    private static readonly TimeSpan LongestTurn = TimeSpan.FromMilliseconds(50);

    // 1 while a thread writes blocks: environments on the same device would only slow each other down.
    private static int _isWriting;

    private readonly TimeProvider _clock = clock ?? TimeProvider.System;
    private double _grown;
    private double _values;
    private long _transactionId = engine.Ring.PublishedId;
    private long _pageCount = NewestPageCount(engine);
    private long _directBytes = Volatile.Read(ref engine.Counters.DirectBytes);
    private int _timesGivenUp = engine.DataFile.TimesGivenUp;
    private long _observedAt = (clock ?? TimeProvider.System).GetTimestamp();
    private long _busyAt = (clock ?? TimeProvider.System).GetTimestamp();

    /// <summary>True when blocks are to be written as soon as the environment is quiet.</summary>
    public bool AreDue => IsPossible && Needed - engine.DataFile.WrittenAheadBytes >= DataFile.ZeroedAtOnce;

    /// <summary>True while blocks are kept that <see cref="WriteWhenQuiet"/> gives back when they are no longer needed.</summary>
    public bool AreKept => engine.DataFile.WrittenAheadBytes > 0;

    private bool IsPossible => engine.DataFile.Unbuffered != null && engine.Disk is { IsUnbuffered: true, IsVolatile: false };

    // Not matched call by call: a staged value and a bulk load make the file grow earlier than their bytes are committed.
    private double Needed => Math.Min(_grown, _values);

    private bool IsBusy => engine.WriterLock is { IsBusy: true } || engine.Reserved is { Pages: > 0 } || engine.Ring.PublishedId != _transactionId;

    private bool MustStop => IsBusy || engine.Closing.IsCancellationRequested || engine.DataFile.TimesGivenUp != _timesGivenUp;

    /// <summary>Returns the maximum number of bytes that a file of that size keeps.</summary>
    public static long MostBytes(long capacityPages, int pageSize, long maxGrowthBytes) =>
        MaxSteps * Math.Min(GrowthPolicy.NextStep(capacityPages, pageSize, maxGrowthBytes) * pageSize, MaxBytes / MaxSteps);

    /// <summary>Notes the growth since the last call, and whether there have been writes.</summary>
    public void Observe()
    {
        var now = _clock.GetTimestamp();
        var left = Math.Pow(0.5, _clock.GetElapsedTime(_observedAt, now) / HalfLife);
        _observedAt = now;
        if (IsBusy)
            _busyAt = now;
        var transactionId = engine.Ring.PublishedId;
        var pageCount = NewestPageCount(engine);
        var file = engine.DataFile;
        var direct = Volatile.Read(ref engine.Counters.DirectBytes);
        var most = MostBytes(file.CapacityPages, engine.PageSize, engine.Options.MaxGrowthBytes);

        // A file that has been cut needs nothing until it grows again.
        var isCut = pageCount < _pageCount || file.TimesGivenUp != _timesGivenUp;
        _grown = isCut ? 0 : Math.Min((_grown * left) + ((pageCount - _pageCount) * engine.PageSize), most);
        _values = Math.Min((_values * left) + (direct - _directBytes), most);
        (_transactionId, _pageCount, _directBytes) = (transactionId, pageCount, direct);
        _timesGivenUp = file.TimesGivenUp;
    }

    /// <summary>
    /// Gives back the blocks if they are not needed or the volume has little space. Otherwise writes some of those that are due, if the environment
    /// has been quiet for long enough, and stops at the next write transaction.
    /// </summary>
    /// <returns>True if more can be written immediately.</returns>
    /// <exception cref="StorageFullException">There is not enough disk space.</exception>
    /// <exception cref="StorageAccessException">The file cannot be grown or written.</exception>
    /// <exception cref="EnvironmentPoisonedException">The sync failed.</exception>
    public bool WriteWhenQuiet()
    {
        if (!(AreDue || AreKept))
            return false;
        var file = engine.DataFile;
        var available = engine.Disk.AvailableBytes;
        if (AreKept && (Needed < DataFile.ZeroedAtOnce || available < MinAvailableBytes))
        {
            file.CutWritten();
            return false;
        }

        if (!AreDue || MustStop || _clock.GetElapsedTime(_busyAt) < engine.Options.QuietTime || Interlocked.Exchange(ref _isWriting, 1) != 0)
            return false;
        try
        {
            var pages = file.CapacityPages + (long)Needed / engine.PageSize;
            var allocated = Math.Max(file.CapacityPages * engine.PageSize, file.PreallocatedEnd);
            if (pages > file.PageLimit || available - Math.Max(0, pages * engine.PageSize - allocated) < MinAvailableBytes)
            {
                _grown = 0;
                return false;
            }

            var began = _clock.GetTimestamp();
            var before = file.WrittenAheadBytes;
            file.WriteAhead(pages, () => !MustStop && _clock.GetElapsedTime(began) < LongestTurn);

            // Otherwise the sync of the next commit would write the metadata of these blocks.
            if (!MustStop)
                file.Sync();
            return AreDue && file.WrittenAheadBytes > before;
        }
        catch
        {
            // The next growth asks for them again.
            _grown = 0;
            throw;
        }
        finally
        {
            Volatile.Write(ref _isWriting, 0);
        }
    }

    private static long NewestPageCount(Engine engine)
    {
        engine.Ring.Read(out var newest);
        return newest.State.PageCount;
    }
}
