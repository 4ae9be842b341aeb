using System.Globalization;
using Voron.Simulation.Disks;

namespace Voron.Torture.Scale;

/// <summary>The most memory that the process has during the lifetime of this object, without the files of the simulated disk.</summary>
/// <remarks>
/// Counts anonymous memory, as the system reports it: mapped file pages belong to the page cache. Where the system does not report it, the
/// working set is used.
/// </remarks>
internal sealed class PeakMemory : IDisposable
{
    private const string Status = "/proc/self/status";
    private const string Field = "RssAnon:";

    private readonly SparseDisk _disk;
    private readonly Lock _gate = new();
    private readonly Timer _timer;
    private long _peak;

    public PeakMemory(SparseDisk disk)
    {
        _disk = disk;
        _peak = Now(disk);
        _timer = new Timer(_ => Measure(), null, 0, 20);
    }

    public long Most
    {
        get
        {
            Measure();
            lock (_gate)
                return _peak;
        }
    }

    public static long Now(SparseDisk disk) => Resident() - disk.ResidentBytes;

    public void Dispose() => _timer.Dispose();

    private void Measure()
    {
        lock (_gate)
            _peak = Math.Max(_peak, Now(_disk));
    }

    private static long Resident()
    {
        if (!File.Exists(Status))
            return Environment.WorkingSet;
        string line = File.ReadLines(Status).First(line => line.StartsWith(Field, StringComparison.Ordinal));
        var parts = line[Field.Length..].Split(' ', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries);
        return long.Parse(parts[0], CultureInfo.InvariantCulture) << 10;
    }
}
