using System.Buffers.Binary;
using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Measurement;

/// <summary>An environment that is backed up, with one tree of items in the order of their keys.</summary>
internal sealed class BackupStore : IDisposable
{
    /// <summary>Bytes of a value; half of them are random.</summary>
    public const int ValueBytes = 500;

    private const int ItemsPerTransaction = 10_000;
    private const int BytesPerItem = 584;
    internal const string TreeName = "items";

    private BackupStore(string directory, StorageEnvironment environment, long items)
    {
        Directory = directory;
        Environment = environment;
        Items = items;
    }

    public string Directory { get; }

    public StorageEnvironment Environment { get; }

    public long Items { get; }

    public long Bytes => new FileInfo(DataPath).Length;

    public string DataPath => Path.Combine(Directory, "voron.data");

    /// <summary>Creates an environment whose data file has about as many bytes as given.</summary>
    public static BackupStore Create(string directory, long bytes, StorageOptions? options = null)
    {
        var environment = StorageEnvironment.Open(directory, options ?? new StorageOptions());
        var store = new BackupStore(directory, environment, bytes / BytesPerItem);
        var random = new Random(1);
        for (var item = 0L; item < store.Items;)
        {
            using var writing = environment.BeginWrite();
            var tree = writing.CreateTree(TreeName);
            for (var end = Math.Min(store.Items, item + ItemsPerTransaction); item < end; item++)
                Put(tree, item, random);
            writing.Commit();
        }

        environment.Flush();
        return store;
    }

    /// <summary>Puts a number of items with random keys in one durable transaction.</summary>
    public void Update(int items, Random random)
    {
        using var writing = Environment.BeginWrite();
        var tree = writing.OpenTree(TreeName);
        for (var i = 0; i < items; i++)
            Put(tree, random.NextInt64(Items), random);
        writing.Commit();
    }

    /// <summary>Deletes two thirds of the items, at random.</summary>
    public void DeleteMost()
    {
        Span<byte> key = stackalloc byte[sizeof(long)];
        for (var item = 0L; item < Items;)
        {
            using var writing = Environment.BeginWrite();
            var tree = writing.OpenTree(TreeName);
            for (var end = Math.Min(Items, item + ItemsPerTransaction); item < end; item++)
            {
                if (IsKept(item))
                    continue;
                BinaryPrimitives.WriteInt64BigEndian(key, item);
                tree.Delete(key);
            }

            writing.Commit();
        }

        Environment.Flush();
    }

    /// <summary>Replaces items that <see cref="DeleteMost"/> keeps, in one durable transaction.</summary>
    public void UpdateKept(int items, Random random)
    {
        using var writing = Environment.BeginWrite();
        var tree = writing.OpenTree(TreeName);
        while (items > 0)
        {
            var item = random.NextInt64(Items);
            if (!IsKept(item))
                continue;
            Put(tree, item, random);
            items--;
        }

        writing.Commit();
    }

    private static bool IsKept(long item) => (ulong)item * 0x9E3779B97F4A7C15 < ulong.MaxValue / 3;

    /// <summary>Looks up an item.</summary>
    public static bool TryRead(ReadTransaction reading, long item)
    {
        Span<byte> key = stackalloc byte[sizeof(long)];
        BinaryPrimitives.WriteInt64BigEndian(key, item);
        return reading.OpenTree(TreeName).TryGet(key, out _);
    }

    /// <summary>Reads all items.</summary>
    /// <returns>A sum of the bytes of each item's value; 0 for an item that is not there.</returns>
    public ulong[] ReadAll()
    {
        using var reading = Environment.BeginRead();
        return ReadAll(reading.OpenTree(TreeName), Items);
    }

    /// <summary>Reads all items of a copy of this store.</summary>
    /// <returns>What <see cref="ReadAll()"/> returns.</returns>
    public ulong[] ReadAll(string directory)
    {
        using var environment = StorageEnvironment.Open(directory, new StorageOptions { OpenMode = OpenMode.OpenExisting });
        using var reading = environment.BeginRead();
        return reading.TryOpenTree(TreeName, out var tree) ? ReadAll(tree, Items) : new ulong[Items];
    }

    /// <summary>Returns an item's value.</summary>
    public byte[] Read(long item)
    {
        using var reading = Environment.BeginRead();
        Span<byte> key = stackalloc byte[sizeof(long)];
        BinaryPrimitives.WriteInt64BigEndian(key, item);
        return reading.OpenTree(TreeName).TryGet(key, out var value)
            ? value.ToArray()
            : throw new BenchmarkException($"Item {item} is missing in {Directory}.");
    }

    /// <summary>Writes everything back, and evicts it from the page cache.</summary>
    public void Forget()
    {
        Environment.Flush();
        LinuxCalls.SyncAll();
        LinuxCalls.ForgetDirectory(Directory);
    }

    public void Dispose() => Environment.Dispose();

    private static ulong[] ReadAll(Tree tree, long items)
    {
        var sums = new ulong[items];
        foreach (var entry in tree.GetEntries())
        {
            ContentChecksum sum = default;
            sum.AddWhole(entry.Value[..(ValueBytes / 32 * 32)]);
            sums[BinaryPrimitives.ReadInt64BigEndian(entry.Key)] = sum.Sum | 1;
        }

        return sums;
    }

    private static void Put(WriteTree tree, long item, Random random)
    {
        Span<byte> key = stackalloc byte[sizeof(long)];
        Span<byte> value = stackalloc byte[ValueBytes];
        BinaryPrimitives.WriteInt64BigEndian(key, item);
        random.NextBytes(value[..(ValueBytes / 2)]);
        value[(ValueBytes / 2)..].Clear();
        tree.Put(key, value);
    }
}
