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

    public static TableRun Measure(TableWay way, string directory, PackageGenerator packages, int rows, int seed)
    {
        using var place = new WorkArea(directory);
        using var store = way.Open(place.Path);
        var insert = Insert(store, packages, rows);
        var update = Update(store, packages, rows, new Random(seed));
        store.BeginRead();

        // Reading everything first checks all indexes, and leaves no page cold.
        var sum = ReadAll(store, packages, rows);
        var random = new Random(seed);
        var get = Get(store, packages, rows, random, ref sum);
        var section = ReadSections(store, packages, random, ref sum);
        var source = ReadRanges(store, packages, rows, random, ref sum);
        store.EndRead();
        return new TableRun(
            way.Name, rows, insert.Nanoseconds, insert.Bytes, update.Nanoseconds, update.Bytes, get, section, source, $"{sum.Sum:x16}");
    }

    private static Written Insert(TableStore store, PackageGenerator packages, int rows)
    {
        var before = ProcessWrites.Bytes();
        var elapsed = 0.0;
        for (var from = 0; from < rows; from += RowsPerCommit)
        {
            // Making the rows is no part of the work.
            var some = packages.Make(from, Math.Min(RowsPerCommit, rows - from));
            var began = Stopwatch.GetTimestamp();
            store.BeginWrite();
            store.Insert(some);
            store.Commit();
            elapsed += Clock.Nanoseconds(began, Stopwatch.GetTimestamp());
        }

        store.Settle();
        return new Written(elapsed / rows, (ProcessWrites.Bytes() - before) / rows);
    }

    private static Written Update(TableStore store, PackageGenerator packages, int rows, Random random)
    {
        var count = Math.Max(1, rows / RowsPerUpdate);
        var before = ProcessWrites.Bytes();
        var elapsed = 0.0;
        for (var done = 0; done < count; done += RowsPerCommit)
        {
            var ids = DrawIds(packages, rows, Math.Min(RowsPerCommit, count - done), random);
            var began = Stopwatch.GetTimestamp();
            store.BeginWrite();
            foreach (var id in ids)
                store.SetSize(id, random.Next(MostBytes));
            store.Commit();
            elapsed += Clock.Nanoseconds(began, Stopwatch.GetTimestamp());
        }

        store.Settle();
        return new Written(elapsed / count, (ProcessWrites.Bytes() - before) / count);
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

    private static double Get(TableStore store, PackageGenerator packages, int rows, Random random, ref RowChecksum sum)
    {
        var ids = DrawIds(packages, rows, rows, random);
        var read = new RowChecksum(isWhole: false);
        var began = Stopwatch.GetTimestamp();
        foreach (var id in ids)
            read.Add(store.Get(id));
        return Finish(began, read, ref sum);
    }

    private static double ReadSections(TableStore store, PackageGenerator packages, Random random, ref RowChecksum sum)
    {
        string[] sections = [.. packages.Sections];
        random.Shuffle(sections);
        var read = new RowChecksum(isWhole: false);
        var began = Stopwatch.GetTimestamp();
        foreach (var section in sections)
            store.Read(PackageIndex.Section, section, int.MaxValue, ref read);
        return Finish(began, read, ref sum);
    }

    private static double ReadRanges(TableStore store, PackageGenerator packages, int rows, Random random, ref RowChecksum sum)
    {
        var sources = new string[Math.Max(1, rows / RowsPerRange)];
        for (var i = 0; i < sources.Length; i++)
            sources[i] = packages.SourceOf(random.Next(rows));
        var read = new RowChecksum(isWhole: false);
        var began = Stopwatch.GetTimestamp();
        foreach (var source in sources)
            store.Read(PackageIndex.Source, source, RowsPerRange, ref read);
        return Finish(began, read, ref sum);
    }

    private static double Finish(long began, in RowChecksum read, ref RowChecksum sum)
    {
        var elapsed = Clock.Nanoseconds(began, Stopwatch.GetTimestamp());
        sum.Add(read);
        return elapsed / (double)read.Rows;
    }

    private static string[] DrawIds(PackageGenerator packages, int rows, int count, Random random)
    {
        var ids = new string[count];
        for (var i = 0; i < count; i++)
            ids[i] = packages.IdOf(random.Next(rows));
        return ids;
    }

    private readonly record struct Written(double Nanoseconds, double Bytes);
}
