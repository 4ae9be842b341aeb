namespace Voron.Benchmarks.Measurement;

/// <summary>
/// One run of filling a table with three indexes in durable transactions, of changing its rows, and of reading them: by key, by section, and as a
/// range of the unique index. Figures are of one row; times of writes include a share of the commit, and bytes are all that the process wrote.
/// </summary>
internal sealed record TableRun(
    string Way, int Rows, double InsertNanoseconds, double InsertBytes, double UpdateNanoseconds, double UpdateBytes, double GetNanoseconds,
    double SectionNanoseconds, double SourceNanoseconds, string Checksum)
{
    /// <summary>The rows that a transaction inserts or changes.</summary>
    public const int RowsPerCommit = 100;

    /// <summary>The rows of a range of the unique index.</summary>
    public const int RowsPerRange = 100;

    /// <summary>The rows for each row that is changed.</summary>
    public const int RowsPerUpdate = 3;

    private const int TagStep = 10;
    private const int MostBytes = 1 << 30;

    // Every source is at or after this text.
    private const string FirstSource = "a";

    private delegate void Reading(string key, ref RowChecksum sum);

    public static TableRun Measure(TableWay way, string directory, PackageGenerator packages, int rows, int seed)
    {
        using var place = new WorkArea(directory);
        using var store = way.Open(place.Path);

        // Making rows and drawing ids is no part of the work.
        var insert = Write(store, rows, (from, count) =>
        {
            var some = packages.Make(from, count);
            return () => store.Insert(some);
        });
        var random = new Random(seed);
        var update = Write(store, Math.Max(1, rows / RowsPerUpdate), (_, count) =>
        {
            var ids = Draw(count, () => packages.IdOf(random.Next(rows)));
            return () =>
            {
                foreach (var id in ids)
                    store.SetSize(id, random.Next(MostBytes));
            };
        });
        store.BeginRead();

        // Reading everything first checks all indexes, and leaves no page cold.
        var sum = ReadAll(store, packages, rows);
        random = new Random(seed);
        var get = Read(Draw(rows, () => packages.IdOf(random.Next(rows))), (id, ref read) => read.Add(store.Get(id)), ref sum);
        string[] sections = [.. packages.Sections];
        random.Shuffle(sections);
        var section = Read(sections, (key, ref read) => store.Read(PackageIndex.Section, key, int.MaxValue, ref read), ref sum);
        var sources = Draw(Math.Max(1, rows / RowsPerRange), () => packages.SourceOf(random.Next(rows)));
        var source = Read(sources, (key, ref read) => store.Read(PackageIndex.Source, key, RowsPerRange, ref read), ref sum);
        store.EndRead();
        return new TableRun(
            way.Name, rows, insert.Nanoseconds, insert.Bytes, update.Nanoseconds, update.Bytes, get, section, source, $"{sum.Sum:x16}");
    }

    /// <param name="prepare">Takes the number of the first row and the number of rows of a transaction, and returns what is timed.</param>
    private static Written Write(TableStore store, int rows, Func<int, int, Action> prepare)
    {
        var before = ProcessWrites.Bytes();
        var elapsed = 0.0;
        for (var from = 0; from < rows; from += RowsPerCommit)
        {
            var write = prepare(from, Math.Min(RowsPerCommit, rows - from));
            var began = Stopwatch.GetTimestamp();
            store.BeginWrite();
            write();
            store.Commit();
            elapsed += Clock.Nanoseconds(began, Stopwatch.GetTimestamp());
        }

        store.Settle();
        return new Written(elapsed / rows, (ProcessWrites.Bytes() - before) / rows);
    }

    private static double Read(string[] keys, Reading read, ref RowChecksum sum)
    {
        var some = new RowChecksum(isWhole: false);
        var began = Stopwatch.GetTimestamp();
        foreach (var key in keys)
            read(key, ref some);
        var elapsed = Clock.Nanoseconds(began, Stopwatch.GetTimestamp());
        sum.Add(some);
        return elapsed / (double)some.Rows;
    }

    private static RowChecksum ReadAll(TableStore store, PackageGenerator packages, int rows)
    {
        var sections = new RowChecksum(isWhole: true);
        foreach (var section in packages.Sections)
            store.Read(PackageIndex.Section, section, rows, ref sections);
        var sources = new RowChecksum(isWhole: true);
        store.Read(PackageIndex.Source, FirstSource, rows, ref sources);
        if (sections.Rows != rows || sources.Rows != rows)
            throw new BenchmarkException($"Of {rows} rows, {sections.Rows} are in the index by section, and {sources.Rows} in that by source.");
        var tags = new RowChecksum(isWhole: true);
        for (var tag = 0; tag < packages.Tags.Count; tag += TagStep)
            store.Read(PackageIndex.Tag, packages.Tags[tag], rows, ref tags);
        sections.Add(sources);
        sections.Add(tags);
        return sections;
    }

    private static string[] Draw(int count, Func<string> draw) => [.. Enumerable.Range(0, count).Select(_ => draw())];

    private readonly record struct Written(double Nanoseconds, double Bytes);
}
