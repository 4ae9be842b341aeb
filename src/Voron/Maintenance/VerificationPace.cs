using System.Diagnostics;

namespace Voron.Maintenance;

/// <summary>Keeps a walk over everything to a number of bytes a second, and lets it be stopped.</summary>
internal sealed class VerificationPace
{
    private const long CheckEveryBytes = 1 << 20;

    private readonly long _bytesPerSecond;
    private readonly CancellationToken _stop;
    private readonly long _start = Stopwatch.GetTimestamp();
    private long _bytes;
    private long _nextCheck = CheckEveryBytes;

    /// <param name="bytesPerSecond">0 for as fast as it goes.</param>
    public VerificationPace(long bytesPerSecond, CancellationToken stop)
    {
        _bytesPerSecond = bytesPerSecond;
        _stop = stop;
    }

    /// <summary>Counts what was read, and waits when that was faster than wished.</summary>
    /// <exception cref="OperationCanceledException">The walk is to stop.</exception>
    public void Read(long bytes)
    {
        _bytes += bytes;
        if (_bytes < _nextCheck)
            return;
        _nextCheck = _bytes + CheckEveryBytes;
        _stop.ThrowIfCancellationRequested();
        if (_bytesPerSecond == 0)
            return;
        var ahead = TimeSpan.FromSeconds((double)_bytes / _bytesPerSecond) - Stopwatch.GetElapsedTime(_start);
        if (ahead > TimeSpan.Zero && _stop.WaitHandle.WaitOne(ahead))
            _stop.ThrowIfCancellationRequested();
    }
}
