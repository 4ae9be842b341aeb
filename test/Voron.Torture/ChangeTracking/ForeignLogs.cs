using Voron.ChangeTracking;
using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;

namespace Voron.Torture.ChangeTracking;

/// <summary>
/// Change logs that are not the environment's own: of earlier moments, of copies that have continued separately, and of another environment. As if a
/// file had been taken from the wrong copy.
/// </summary>
internal sealed class ForeignLogs(Tape choices)
{
    private const int MaxKept = 8;

    private readonly List<KeptLog> _kept = [];

    /// <summary>Keeps the log that a directory has.</summary>
    public void Keep(SimulatedDisk disk)
    {
        foreach (var name in NamesIn(disk))
            _kept.Add(new KeptLog(name, disk.Contents(name), $"an earlier moment or another copy, {name}"));
        if (_kept.Count > MaxKept)
            _kept.RemoveRange(0, _kept.Count - MaxKept);
    }

    /// <summary>Puts such a log in the place of the one that a directory has, durably.</summary>
    /// <param name="disk">The directory of the environment, which is closed.</param>
    /// <param name="options">The options of the other environment, if one has to be made.</param>
    /// <param name="what">What the log is.</param>
    /// <returns>False if there is none.</returns>
    public bool TryPut(SimulatedDisk disk, StorageOptions options, out string what)
    {
        what = "";
        var log = choices.Next(8) == 7 ? OfAnother(options) : _kept.Count > 0 ? _kept[choices.Next(_kept.Count)] : null;
        if (log == null)
            return false;
        var leavesOthers = choices.Next(4) == 3;
        foreach (var name in NamesIn(disk).Where(name => name == log.Name || !leavesOthers))
            disk.Delete(name);
        using (var file = disk.Open(log.Name, DiskOpen.New, DiskAccess.Buffered))
        {
            file.Write(0, log.Bytes);
            file.Sync();
        }

        disk.SyncDirectory();
        what = log.What;
        return true;
    }

    private static KeptLog OfAnother(StorageOptions options)
    {
        using var disk = new SimulatedDisk();
        using (var environment = StorageEnvironment.Open(disk, options))
        {
            environment.Internals.BeginChangeLog();
            using (var writing = environment.BeginWrite())
            {
                writing.CreateTree("t").Put([1], new byte[100]);
                writing.Commit();
            }

            environment.Flush();
        }

        var name = NamesIn(disk)[0];
        return new KeptLog(name, disk.Contents(name), "another environment");
    }

    private static List<string> NamesIn(SimulatedDisk disk) =>
        [.. disk.List().Select(entry => entry.Name).Where(name => ChangeLogFile.NumberOf(name) > 0).Order(StringComparer.Ordinal)];

    /// <summary>A file of a change log.</summary>
    /// <param name="Name">The name of the file.</param>
    /// <param name="Bytes">Its content.</param>
    /// <param name="What">Where it comes from.</param>
    private sealed record KeptLog(string Name, byte[] Bytes, string What);
}
