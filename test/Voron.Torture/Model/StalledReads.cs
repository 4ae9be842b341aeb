using System.Diagnostics;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;
using Voron.Testing;

namespace Voron.Torture.Model;

/// <summary>Runs short read transactions while no writer makes progress, and measures the time of each.</summary>
/// <remarks>
/// The reads come in bursts with pauses, so that everything that depends on a stalled disk has the time to come to a stop: the flusher and
/// everything that it holds, not only the writer. A thread that loses its turn on a crowded machine makes a few reads slow, but neither
/// half of them nor one in twenty: the gets of a burst take less than a turn.
/// </remarks>
internal sealed class StalledReads(StorageEnvironment environment, StallingDisk disk)
{
    private const int Bursts = 40;
    private const int GetsPerBurst = 50;
    private const int SlowOneIn = 20;

    /// <summary>Far longer than even a crowded machine needs, but finite.</summary>
    private static readonly TimeSpan Hanging = HangLimit.OfSeconds(20);

    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(10);

    /// <summary>A get takes some microseconds.</summary>
    private static readonly TimeSpan MaxOfHalf = TimeSpan.FromMilliseconds(1);

    /// <summary>A thread that does not run because sixty others do is as slow.</summary>
    private static readonly TimeSpan MaxOfNearlyAll = TimeSpan.FromMilliseconds(100);

    /// <summary>The longest wait of a reader of the planted fault.</summary>
    private static readonly TimeSpan FaultyWait = TimeSpan.FromMilliseconds(5);

    private readonly List<TimeSpan> _times = [];
    private volatile bool _isOver;
    private Exception? _failure;

    public TimeSpan Median => _times[_times.Count / 2];

    /// <summary>The time that all reads but one in twenty stay below.</summary>
    public TimeSpan NearlyAll => _times[_times.Count - 1 - (_times.Count / SlowOneIn)];

    public int Count => _times.Count;

    /// <exception cref="BrokenPromiseException">Readers wait.</exception>
    public void Run()
    {
        // A separate thread is used because a read that waits for ever would also block this one.
        var reader = new Thread(Read) { IsBackground = true, Name = "reads while the disk stalls" };
        reader.Start();
        if (!reader.Join(Hanging))
        {
            _isOver = true;
            throw new BrokenPromiseException($"Readers wait for a disk that hangs: not {Bursts * GetsPerBurst} gets in {Hanging.TotalSeconds} s.");
        }
        if (_failure is { } failure)
            throw new BrokenPromiseException($"A reader fails while the disk hangs: {failure.Message}", failure);
        _times.Sort();
        BrokenPromiseException.Require(
            Median <= MaxOfHalf && NearlyAll <= MaxOfNearlyAll,
            $"Readers wait while the disk hangs: half of their gets take {Median.TotalMilliseconds:0.000} ms or more, one in {SlowOneIn} "
            + $"{NearlyAll.TotalMilliseconds:0.000} ms.");
    }

    // An engine whose readers wait for a flush shows itself by reads that wait for the disk.
    private ReadTransaction Begin()
    {
        if (PlantedFault.ReadBehindFlush)
            disk.WaitUntilFree(FaultyWait);
        return environment.BeginRead();
    }

    private void Read()
    {
        try
        {
            for (var burst = 0; burst < Bursts && !_isOver; burst++)
            {
                for (var i = 0; i < GetsPerBurst; i++)
                {
                    var start = Stopwatch.GetTimestamp();
                    using (var reading = Begin())
                        IsolationRun.Counted(reading);
                    _times.Add(Stopwatch.GetElapsedTime(start));
                }
                Thread.Sleep(Pause);
            }
        }
        catch (Exception e)
        {
            _failure = e;
        }
    }
}
