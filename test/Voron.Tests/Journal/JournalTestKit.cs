using Voron.Journal;
using Voron.Simulation.Disks;

namespace Voron.Tests.Journal;

/// <summary>Helpers shared by the tests of journal files: commits of a known length, their count, and the files on a disk.</summary>
internal static class JournalTestKit
{
    /// <summary>Commits items of 200 bytes that do not compress. Putting the same items again changes little.</summary>
    public static void Put(StorageEnvironment environment, int first, int count) => Put(environment, first, count, seed: first);

    /// <summary>Commits items of 200 bytes that are derived from a seed.</summary>
    public static void Put(StorageEnvironment environment, int first, int count, int seed)
    {
        using var writing = environment.BeginWrite();
        var tree = writing.CreateTree("t");
        var random = new Random(seed);
        var value = new byte[200];
        for (var i = 0; i < count; i++)
        {
            random.NextBytes(value);
            tree.Put(BitConverter.GetBytes(first + i), value);
        }

        writing.Commit();
    }

    public static long Count(StorageEnvironment environment)
    {
        using var reading = environment.BeginRead();
        return reading.OpenTree("t").Count;
    }

    public static int Files(SimulatedDisk disk) => disk.List().Count(entry => JournalFile.IndexOf(entry.Name) >= 0);

    /// <summary>Ends an environment as a kill does, and returns a disk with the visible contents of its files, all of them durable.</summary>
    public static SimulatedDisk Kill(StorageEnvironment environment, SimulatedDisk disk, int listingOrder = 0)
    {
        var left = FileSet.Of(disk).ToDisk(listingOrder);
        environment.Internals.Engine.Poison.Set(new InvalidOperationException("killed"));
        environment.Dispose();
        return left;
    }
}
