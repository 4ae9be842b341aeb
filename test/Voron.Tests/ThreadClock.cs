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
