using System.Security.Cryptography;
using System.Text;
using Voron.Backup;
using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Backup;

/// <summary>Environments with values of all kinds, and backups of them.</summary>
internal static class BackupTestKit
{
    private static readonly RestoreOptions Defaults = new();

    public static StorageOptions Options(int formatVersion = 2, int pageSize = 4096) =>
        new(FaultTestKit.Options()) { FormatVersion = formatVersion, PageSize = pageSize };

    /// <summary>Makes an environment with inline, overflow and large values, and with free pages in between.</summary>
    public static SimulatedDisk MakeEnvironment(int formatVersion = 2, int pageSize = 4096)
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, Options(formatVersion, pageSize));
        for (var round = 0; round < 3; round++)
        {
            using var writing = environment.BeginWrite();
            var tree = writing.CreateTree("t");
            for (var i = round * 40; i < round * 40 + 40; i++)
                tree.Put(FaultTestKit.Key(i), FaultTestKit.Value(i, LengthOf(i)));
            writing.CreateTree("other").Put(FaultTestKit.Key(round), FaultTestKit.Value(round, 30));
            writing.Commit();
        }

        Change(environment, seed: 500, keys: [3, 10, 50], deleted: [7, 9, 31, 70]);
        return disk;
    }

    /// <summary>Opens an environment, changes it, and closes it.</summary>
    public static void Change(IDisk disk, int seed, int[] keys, int[] deleted)
    {
        using var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
        Change(environment, seed, keys, deleted);
    }

    /// <summary>Returns the hash of each value, by tree and key.</summary>
    public static Dictionary<string, string> ContentOf(StorageEnvironment environment)
    {
        var content = new Dictionary<string, string>();
        using var reading = environment.BeginRead();
        foreach (var name in reading.GetTreeNames())
        {
            using var cursor = reading.OpenTree(name).OpenCursor();
            for (var found = cursor.SeekFirst(); found; found = cursor.MoveNext())
                content.Add($"{name}/{Encoding.ASCII.GetString(cursor.Key)}", Convert.ToHexString(SHA256.HashData(cursor.Value)));
        }

        return content;
    }

    public static Dictionary<string, string> ContentOf(IDisk disk)
    {
        using var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
        return ContentOf(environment);
    }

    /// <summary>Puts bytes into a file that a restore can read.</summary>
    public static BackupSource File(byte[] backup, string name = "a.vback")
    {
        var disk = new SimulatedDisk();
        using (var file = disk.Open(name, DiskOpen.New, DiskAccess.Buffered))
            file.Write(0, backup);
        return BackupSource.OfFile(disk, name);
    }

    public static Task<BackupInfo> Verify(byte[] backup) => BackupFile.VerifyAsync(File(backup), CancellationToken.None).AsTask();

    public static Task<RestoreReport> Restore(IDisk target, params byte[][] backups) => Restore(target, Defaults, CancellationToken.None, backups);

    public static Task<RestoreReport> Restore(IDisk target, RestoreOptions options, CancellationToken stop, params byte[][] backups) =>
        BackupFile.RestoreAsync([.. backups.Select((backup, i) => File(backup, $"{i}.vback"))], target, options, stop).AsTask();

    public static Task<RestoreReport> RestoreStream(IDisk target, byte[] backup) =>
        BackupFile.RestoreAsync(BackupSource.OfStream(Pipe(backup)), target, Defaults, CancellationToken.None).AsTask();

    /// <summary>Returns a stream that returns few bytes at a time, and cannot seek.</summary>
    public static Stream Pipe(byte[] backup) => new TrickleStream(backup);

    private static void Change(StorageEnvironment environment, int seed, int[] keys, int[] deleted)
    {
        using var writing = environment.BeginWrite();
        var tree = writing.CreateTree("t");
        foreach (var key in keys)
            tree.Put(FaultTestKit.Key(key), FaultTestKit.Value(seed + key, LengthOf(key)));
        foreach (var key in deleted)
            tree.Delete(FaultTestKit.Key(key));
        writing.Commit();
    }

    private static int LengthOf(int key) => (key % 10) switch
    {
        3 => 6000,
        7 => 14_000,
        9 => 40_000,
        0 => 150_000,
        _ => 100 + key,
    };
}
