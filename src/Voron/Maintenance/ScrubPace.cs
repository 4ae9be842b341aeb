using Voron.Testing;

namespace Voron.Maintenance;

/// <summary>Divides a verification into slices, limits it to a number of bytes per second, and allows it to be stopped.</summary>
/// <remarks>
/// A slice is short and reads at full speed. Waits come between slices, when no snapshot is held, so neither a low rate nor a large
/// store makes the snapshot older.
/// </remarks>
internal sealed class ScrubPace
{
    private const long MaxSliceBytes = 1 << 20;
    private const long MinSliceBytes = 64 << 10;

    private static readonly TimeSpan LongestSlice = TimeSpan.FromMilliseconds(250);

    private readonly ScrubClock _clock;
    private readonly double _bytesPerSecond;
    private readonly bool _hasSlices;
    private readonly long _sliceBytes;
    private TimeSpan _sliceBegan;
    private TimeSpan _paidUntil;
    private long _bytes;

    /// <param name="bytesPerSecond">The rate limit; 0 for full speed.</param>
    /// <param name="stop">Stops the verification.</param>
    public ScrubPace(long bytesPerSecond, ScrubClock clock, CancellationToken stop)
    {
        _clock = clock;
        _bytesPerSecond = bytesPerSecond;
        _hasSlices = true;
        _sliceBytes = bytesPerSecond == 0 ? MaxSliceBytes : Math.Clamp(bytesPerSecond / 8, MinSliceBytes, MaxSliceBytes);
        Stop = stop;
    }

    private ScrubPace(CancellationToken stop)
    {
        _clock = new ScrubClock();
        Stop = stop;
    }

    /// <summary>Returns a pace with one slice for everything, at full speed.</summary>
    /// <param name="stop">Stops the verification.</param>
    public static ScrubPace Unlimited(CancellationToken stop) => new(stop);

    /// <summary>Cancelled when the verification must stop.</summary>
    public CancellationToken Stop { get; }

    /// <summary>The number of bytes that have been read, in all slices.</summary>
    public long TotalBytes { get; private set; }

    /// <summary>True when the slice has read enough or taken long enough.</summary>
    public bool IsSliceOver => _hasSlices && !PlantedFault.ScrubInOneSlice && (_bytes >= _sliceBytes || _clock.Now - _sliceBegan >= LongestSlice);

    /// <summary>Starts a slice.</summary>
    public void BeginSlice()
    {
        _bytes = 0;
        _sliceBegan = _clock.Now;
    }

    /// <summary>Counts bytes that are read.</summary>
    /// <exception cref="OperationCanceledException">The verification must stop.</exception>
    public void Count(long bytes)
    {
        _bytes += bytes;
        TotalBytes += bytes;
        Stop.ThrowIfCancellationRequested();
    }

    /// <summary>Waits, after a slice, for as long as its bytes should take. A slow slice gives the next ones no credit.</summary>
    /// <exception cref="OperationCanceledException">The verification must stop.</exception>
    public void Wait()
    {
        if (_bytesPerSecond == 0)
            return;
        var time = TimeSpan.FromSeconds(_bytes / _bytesPerSecond);
        _paidUntil = (_paidUntil > _sliceBegan ? _paidUntil : _sliceBegan) + (PlantedFault.ScrubTooFast ? time / 8 : time);
        var ahead = _paidUntil - _clock.Now;
        if (ahead > TimeSpan.Zero && _clock.Wait(ahead, Stop))
            Stop.ThrowIfCancellationRequested();
    }
}
