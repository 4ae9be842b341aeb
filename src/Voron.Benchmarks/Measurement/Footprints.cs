namespace Voron.Benchmarks.Measurement;

/// <summary>Measures the space that an environment takes on disk, while it is open and after it was closed, with default options.</summary>
internal static class Footprints
{
    private const int ItemsPerTransaction = 100;
    private const int ValueBytes = 100;

    /// <summary>Puts items with random keys, in transactions of a hundred, and closes the environment.</summary>
    /// <param name="directory">A directory that does not exist.</param>
    /// <param name="items">The number of items.</param>
    public static Footprint Measure(string directory, int items)
    {
        FileUse open;
        using (var environment = StorageEnvironment.Open(directory))
        {
            Fill(environment, items);
            open = FileUse.Of(directory);
        }

        return new Footprint(items, items * (sizeof(long) + (long)ValueBytes), open, FileUse.Of(directory));
    }

    private static void Fill(StorageEnvironment environment, int items)
    {
        var random = new Random(1);
        var value = new byte[ValueBytes];
        Span<byte> bytes = stackalloc byte[sizeof(long)];
        for (var item = 0; item < items;)
        {
            using var writing = environment.BeginWrite();
            var tree = writing.CreateTree("items");
            for (var end = Math.Min(items, item + ItemsPerTransaction); item < end; item++)
            {
                var key = new KeyWriter(bytes);
                key.Add(random.NextInt64());
                random.NextBytes(value);
                tree.Put(key.Written, value);
            }

            writing.Commit();
        }
    }
}

/// <summary>The space of an environment.</summary>
/// <param name="Items">The number of items in it.</param>
/// <param name="UserBytes">The bytes of their keys and values.</param>
/// <param name="Open">The files after the last commit.</param>
/// <param name="Closed">The files after the close.</param>
internal sealed record Footprint(int Items, long UserBytes, FileUse Open, FileUse Closed);

/// <summary>The blocks that the files of a directory take, in bytes.</summary>
/// <param name="Journals">Those of journal files.</param>
/// <param name="Data">Those of the data file.</param>
/// <param name="All">Those of all files.</param>
internal sealed record FileUse(long Journals, long Data, long All)
{
    public static FileUse Of(string directory)
    {
        var files = Directory.GetFiles(directory);
        long Use(string prefix) =>
            files.Where(file => Path.GetFileName(file).StartsWith(prefix, StringComparison.Ordinal)).Sum(DiskUsage.AllocatedFileBytes);
        return new FileUse(Use("journal-"), Use("voron.data"), Use(""));
    }
}
