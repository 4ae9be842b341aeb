using System.Globalization;
using System.Text;
using Microsoft.Extensions.Logging;
using Voron.IO;
using Voron.Primitives;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;

namespace Voron.Tests.Faults;

/// <summary>Helpers shared by the fault tests: small options, a workload with its model, the bytes of whole directories.</summary>
internal static class FaultTestKit
{
    public const string TreeName = "items";

    /// <summary>Returns options with small files and no background work, so that each call to the disk comes from the test.</summary>
    public static StorageOptions Options(ILogger? logger = null) => new()
    {
        BackgroundFlush = false,
        InitialJournalFileBytes = 64 << 10,
        MaxJournalFileBytes = 256 << 10,
        JournaledValueBytes = 0,

        // How many operations a batch takes must not depend on the pace of the machine.
        MaxGroupCommitDuration = TimeSpan.FromMinutes(1),
        LoggerFactory = OneLoggerFactory.Of(logger),
    };

    public static byte[] Key(int i) => Encoding.ASCII.GetBytes(i.ToString("D6", CultureInfo.InvariantCulture));

    /// <summary>Returns bytes that show at any position which value they belong to.</summary>
    public static byte[] Value(int seed, int length) => SeededBytes.Make(seed, length);

    public static void Put(StorageEnvironment environment, int key, byte[] value)
    {
        using var writing = environment.BeginWrite();
        writing.CreateTree(TreeName).Put(Key(key), value);
        writing.Commit();
    }

    /// <summary>Returns the value of a key, or null.</summary>
    public static byte[]? Get(StorageEnvironment environment, int key)
    {
        using var reading = environment.BeginRead();
        return reading.TryOpenTree(TreeName, out var tree) && tree.TryGet(Key(key), out var value) ? value.ToArray() : null;
    }

    /// <summary>Returns the warnings of an open environment so far. Entries reach the user's logger a moment after they are made.</summary>
    public static IEnumerable<string> WarningsOf(StorageEnvironment environment, ListLogger logger)
    {
        GuardedLogger.Finish(environment.Internals.Engine.Logger, TestWait.Limit);
        return logger.Warnings;
    }

    /// <summary>Returns all bytes of a disk by file name; the lock file is not part of the environment.</summary>
    public static SortedDictionary<string, byte[]> Bytes(SimulatedDisk disk)
    {
        var files = new SortedDictionary<string, byte[]>(StringComparer.Ordinal);
        foreach (var entry in disk.List().Where(entry => entry.Name != "voron.lock"))
            files.Add(entry.Name, disk.Contents(entry.Name));
        return files;
    }

    public static SortedDictionary<string, byte[]> Bytes(string directory)
    {
        var files = new SortedDictionary<string, byte[]>(StringComparer.Ordinal);
        foreach (var file in Directory.GetFiles(directory).Where(file => System.IO.Path.GetFileName(file) != "voron.lock"))
            files.Add(System.IO.Path.GetFileName(file), File.ReadAllBytes(file));
        return files;
    }

    public static void ShouldBeUnchanged(SortedDictionary<string, byte[]> now, SortedDictionary<string, byte[]> before)
    {
        now.Keys.Should().Equal(before.Keys);
        foreach (var (name, bytes) in before)
            now[name].AsSpan().SequenceEqual(bytes).Should().BeTrue($"'{name}' must not have changed");
    }

    /// <summary>Returns a disk that begins with copies of these files, all of them durable.</summary>
    public static SimulatedDisk DiskOf(SortedDictionary<string, byte[]> files)
    {
        var disk = new SimulatedDisk();
        foreach (var (name, bytes) in files)
        {
            using var file = disk.Open(name, DiskOpen.New, DiskAccess.Buffered);
            file.Allocate(0, bytes.Length);
            file.Write(0, bytes);
            file.Sync();
        }

        disk.SyncDirectory();
        return disk;
    }
}

/// <summary>A directory that is deleted at the end of the test.</summary>
internal sealed class TemporaryDirectory : IDisposable
{
    public string Path { get; } = Directory.CreateTempSubdirectory("voron-").FullName;

    public void Dispose() => Directory.Delete(Path, recursive: true);
}

/// <summary>Keeps the log entries.</summary>
internal sealed class ListLogger : ILogger
{
    private readonly List<(LogLevel Level, string Message)> _entries = [];

    public IReadOnlyList<(LogLevel Level, string Message)> Entries
    {
        get
        {
            lock (_entries)
                return [.. _entries];
        }
    }

    public IEnumerable<string> Warnings => Entries.Where(entry => entry.Level >= LogLevel.Warning).Select(entry => entry.Message);

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => true;

    public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
    {
        lock (_entries)
            _entries.Add((logLevel, formatter(state, exception)));
    }
}
