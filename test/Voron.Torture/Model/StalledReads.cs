using System.Diagnostics;
using Voron.Torture.Harness;

namespace Voron.Torture.Model;

/// <summary>Short read transactions while nothing that writes gets on, with the time that each has taken.</summary>
/// <remarks>
/// They are made in bursts with pauses, so that what a stalled disk stops has the time to come to a stop: the flusher and what it holds,
/// not only the writer. A thread that is out of its turn on a crowded machine makes a few of them slow, and neither the half of them nor
/// one in twenty: the gets of a burst take less than a turn.
/// </remarks>
internal sealed class StalledReads(StorageEnvironment environment)
{
    private const int Bursts = 40;
    private const int GetsPerBurst = 50;
    private const int SlowOneIn = 20;

    /// <summary>Far more than a crowded machine needs, and far less than for ever.</summary>
    private static readonly TimeSpan Hanging = TimeSpan.FromSeconds(20);

    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(10);

    /// <summary>A get takes some microseconds.</summary>
    private static readonly TimeSpan MaxOfHalf = TimeSpan.FromMilliseconds(1);

    /// <summary>A thread that does not run because sixty others do is as slow.</summary>
    private static readonly TimeSpan MaxOfNearlyAll = TimeSpan.FromMilliseconds(100);

    private readonly List<TimeSpan> _times = [];
    private volatile bool _isOver;
    private Exception? _failure;

    public TimeSpan Median => _times[_times.Count / 2];

    /// <summary>What all but one in twenty stay below.</summary>
    public TimeSpan NearlyAll => _times[_times.Count - 1 - (_times.Count / SlowOneIn)];

    public int Count => _times.Count;

    /// <exception cref="BrokenPromiseException">Readers wait.</exception>
    public void Run()
    {
        // A thread of its own: one that waits for ever would be waited for.
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

    private void Read()
    {
        try
        {
            for (int burst = 0; burst < Bursts && !_isOver; burst++)
            {
                for (int i = 0; i < GetsPerBurst; i++)
                {
                    long start = Stopwatch.GetTimestamp();
                    using (ReadTransaction reading = environment.BeginRead())
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
