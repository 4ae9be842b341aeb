using System.Diagnostics;

namespace Voron.Benchmarks.Measurement;

/// <summary>
/// Waits until a device has written back what it was left with. An opening takes a few reads and at most a few syncs; behind the
/// load that ended just before, or this program's own warm-up and probe files, it would show those.
/// </summary>
internal static class DeviceRest
{
    private static readonly TimeSpan Quiet = TimeSpan.FromMilliseconds(300);
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(10);

    /// <summary>Returns when the device under a directory has written nothing for a while, or is never going to rest.</summary>
    public static void Await(string directory)
    {
        LinuxCalls.SyncAll();
        if (BlockDevice.Find(directory) is not { } device)
            return;
        long started = Stopwatch.GetTimestamp();
        for (DeviceWrites? before = device.Read(); Stopwatch.GetElapsedTime(started) < Limit;)
        {
            Thread.Sleep(Quiet);
            DeviceWrites? now = device.Read();
            if (now == before)
                return;
            before = now;
        }
    }
}
