namespace Voron.Benchmarks.Measurement;

/// <summary>The space that an environment with default options takes on disk, while it is open and after it was closed.</summary>
internal sealed record Footprint(int Items, long UserBytes, FileUse Open, FileUse Closed)
{
    private const int ItemsPerTransaction = 100;
    private const int ValueBytes = 100;

    /// <summary>Puts items with random keys, in transactions of a hundred, and closes the environment.</summary>
    /// <param name="directory">A directory that does not exist.</param>
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

/// <summary>The blocks that the files of a directory take, in bytes: those of journals, of the data file, and of all files.</summary>
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

/// <summary>
/// The durations of environments in memory as the fixtures of tests use them: opened, written once, and disposed. In nanoseconds, in the order in
/// which they ran.
/// </summary>
internal sealed record FixtureTimes(IReadOnlyList<double> Opening, IReadOnlyList<double> Commit, IReadOnlyList<double> Whole)
{
    public static FixtureTimes Measure(int count)
    {
        var (opening, commit, whole) = (new List<double>(count), new List<double>(count), new List<double>(count));
        for (var i = 0; i < count; i++)
        {
            var began = Stopwatch.GetTimestamp();
            using (var environment = StorageEnvironment.OpenInMemory())
            {
                var opened = Stopwatch.GetTimestamp();
                using (var writing = environment.BeginWrite())
                {
                    writing.CreateTree("tree").Put("key"u8, "value"u8);
                    writing.Commit();
                }
                opening.Add(Clock.Nanoseconds(began, opened));
                commit.Add(Clock.Nanoseconds(opened, Stopwatch.GetTimestamp()));
            }
            whole.Add(Clock.Nanoseconds(began, Stopwatch.GetTimestamp()));
        }

        return new FixtureTimes(opening, commit, whole);
    }
}
