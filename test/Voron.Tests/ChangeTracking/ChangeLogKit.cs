using System.Runtime.InteropServices;
using Voron.ChangeTracking;
using Voron.Format;
using Voron.Paging;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;
using Voron.Transactions;

namespace Voron.Tests.ChangeTracking;

/// <summary>Helpers of the tests of the change log.</summary>
internal static class ChangeLogKit
{
    public static StorageEnvironment Open(SimulatedDisk disk, ListLogger? logger = null) =>
        StorageEnvironment.Open(disk, FaultTestKit.Options(logger));

    public static void Put(StorageEnvironment environment, int key) => FaultTestKit.Put(environment, key, FaultTestKit.Value(key, 500));

    public static BackupPoint? AddPoint(StorageEnvironment environment)
    {
        var point = new BackupPoint { BackupId = RandomId.New(), TransactionId = environment.Internals.Engine.Ring.PublishedId };
        return environment.Internals.AddBackupPoint(point) ? point : null;
    }

    public static BackupPoint? Find(StorageEnvironment environment, BackupPoint point) =>
        environment.Internals.Engine.ChangedPages!.FindPoint(point.BackupId);

    public static bool IsDurable(StorageEnvironment environment, BackupPoint point) =>
        environment.Internals.Engine.ChangedPages!.IsDurable(point.BackupId);

    public static bool CanCollect(StorageEnvironment environment, long since)
    {
        var engine = environment.Internals.Engine;
        using var held = new EngineSnapshot(engine);
        using var changed = new ChangedPages(held.Snapshot.PageCount, engine.Heap);
        return engine.ChangedPages!.TryCollect(engine.Versions, since, held.Snapshot.State, changed);
    }

    // Blocks of the log: the start, points and a flush, points. The header names the flush.
    public static SortedDictionary<string, byte[]> FilesWithPoint(out BackupPoint point)
    {
        var disk = new SimulatedDisk();
        using var environment = Open(disk);
        environment.Internals.BeginChangeLog();
        Put(environment, 1);
        AddPoint(environment);
        environment.Flush();
        point = AddPoint(environment)!.Value;
        return FaultTestKit.Bytes(disk);
    }

    public static bool IsLog(string name) => ChangeLogFile.NumberOf(name) > 0;

    public static bool IsUnfinished(string name) => name.EndsWith(".new", StringComparison.Ordinal) && IsLog(name[..^4]);

    public static IEnumerable<string> Logs(SimulatedDisk disk) => disk.List().Select(entry => entry.Name).Where(IsLog);

    public static ulong Named(SimulatedDisk disk) =>
        Enumerable.Range(0, 2).Select(slot => Slot(disk, slot)).MaxBy(slot => slot.CheckpointNumber).ChangeLogEntry;

    public static CheckpointHeader Slot(SimulatedDisk disk, int slot) =>
        MemoryMarshal.Read<CheckpointHeader>(disk.Contents(HeaderFile.FileName).AsSpan(slot * JournalFormat.Block));

    public static void Rename(SortedDictionary<string, byte[]> files, ulong named) =>
        ForEachSlot(files, (ref CheckpointHeader header) => header.ChangeLogEntry = named);

    public static void ForEachSlot(SortedDictionary<string, byte[]> files, ChangeHeader change)
    {
        for (var slot = 0; slot < CheckpointHeader.Slots; slot++)
        {
            var block = files[HeaderFile.FileName].AsSpan(slot * JournalFormat.Block, JournalFormat.Block);
            ref var header = ref MemoryMarshal.AsRef<CheckpointHeader>(block);
            change(ref header);
            header.Checksum = Checksum.Compute(block[16..], CheckpointHeader.FileMagic);
        }
    }

    public static SortedDictionary<string, byte[]> Copy(SortedDictionary<string, byte[]> files) =>
        new(files.ToDictionary(file => file.Key, file => file.Value.ToArray()), StringComparer.Ordinal);

    public delegate void ChangeHeader(ref CheckpointHeader header);

    /// <summary>True for calls while a log is written anew: to the unfinished file, or to the log when it exists, or when both exist.</summary>
    public static bool IsWithinShrinking(SimulatedDisk disk, DiskCall call) => call.Kind switch
    {
        DiskCallKind.Create => IsUnfinished(call.Name),
        DiskCallKind.SyncDirectory => Logs(disk).Count() == 2,
        _ => (IsUnfinished(call.Name) || IsLog(call.Name)) && disk.List().Any(entry => IsUnfinished(entry.Name)),
    };
}
