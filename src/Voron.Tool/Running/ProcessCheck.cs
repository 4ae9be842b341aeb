using System.ComponentModel;
using System.Diagnostics;

namespace Voron.Tool.Running;

/// <summary>Looks for the process that has written a status file.</summary>
internal static class ProcessCheck
{
    // The system computes the start of a process from the time since its own start, not quite the same for each caller.
    private static readonly TimeSpan Tolerance = TimeSpan.FromSeconds(10);

    /// <summary>
    /// Returns whether there is such a process here. A process of another container is not seen: the lock of the environment says whether it is open.
    /// </summary>
    /// <param name="id">The id of the process.</param>
    /// <param name="startTicks">The time of its start in UTC; 0 if it is not known.</param>
    public static bool IsSeen(int id, long startTicks)
    {
        try
        {
            using var process = Process.GetProcessById(id);
            return startTicks == 0 || Math.Abs(process.StartTime.ToUniversalTime().Ticks - startTicks) <= Tolerance.Ticks;
        }
        catch (Exception e) when (e is ArgumentException or InvalidOperationException)
        {
            // There is none, or it has just ended.
            return false;
        }
        catch (Exception e) when (e is Win32Exception or NotSupportedException)
        {
            // There is one, about which the system tells nothing more.
            return true;
        }
    }
}
