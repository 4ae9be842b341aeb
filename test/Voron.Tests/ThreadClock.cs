using System.Runtime.InteropServices;

namespace Voron.Tests;

/// <summary>
/// The processor time of the calling thread, which measures the amount of work, however busy the machine is. A test that asks for it is
/// skipped where the system does not count it: elapsed time says nothing on a busy machine.
/// </summary>
internal static partial class ThreadClock
{
    private const int ThreadCpuTime = 3;

    /// <summary>Runs work on this thread and returns the processor time that it took.</summary>
    public static TimeSpan Measure(Action work)
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "asks Linux for the processor time of a thread");
        var begun = Now();
        work();
        return Now() - begun;
    }

    /// <summary>
    /// Returns the time of the round that took the least. A collection that other tests have caused may run on this thread, and counts as its time.
    /// </summary>
    /// <param name="round">Does the work of a round, and returns what <see cref="Measure"/> has returned for it.</param>
    public static TimeSpan Least(Func<TimeSpan> round) => Enumerable.Range(0, 5).Min(_ => round());

    private static TimeSpan Now()
    {
        _ = GetTime(ThreadCpuTime, out var time);
        return TimeSpan.FromTicks((time.Seconds * TimeSpan.TicksPerSecond) + (time.Nanoseconds / TimeSpan.NanosecondsPerTick));
    }

    [LibraryImport("libc", EntryPoint = "clock_gettime")]
    private static partial int GetTime(int clock, out TimeSpec time);

    [StructLayout(LayoutKind.Sequential)]
    private struct TimeSpec
    {
        public long Seconds;
        public long Nanoseconds;
    }
}
