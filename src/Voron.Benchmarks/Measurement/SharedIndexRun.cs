using Voron.Tables;

namespace Voron.Benchmarks.Measurement;

/// <summary>One run of finding the rows of two tables by section: in the index that they share, and in an index of each.</summary>
internal sealed record SharedIndexRun(int Rows, double SharedNanoseconds, double EachNanoseconds)
{
    private const int RowsPerFill = 10_000;
    private const int KeyBytes = 256;
    private const int Repetitions = 20;
    private const string OwnIndex = "section of the table";

    private static readonly SharedIndex Sections = new("section", 1);

    /// <exception cref="BenchmarkException">The two ways find different rows.</exception>
    public static SharedIndexRun Measure(string directory, PackageGenerator packages, int rows)
    {
        using var place = new WorkArea(directory);
        using var environment = StorageEnvironment.Open(place.Path);
        var (first, second) = (Define("first"), Define("second"));
        Fill(environment, first, packages, 0, rows / 2);
        Fill(environment, second, packages, rows / 2, rows - rows / 2);
        environment.Flush();
        RowChecksum Read(bool isShared) => SharedIndexRun.Read(environment, first, second, packages, isShared);
        var (shared, each) = (Read(isShared: true), Read(isShared: false));
        if (shared.Rows != rows || each.Rows != rows || shared.Sum != each.Sum)
            throw new BenchmarkException($"of {rows} rows, the shared index has {shared.Rows}, and those of the tables {each.Rows}");
        return new SharedIndexRun(rows, Median(() => Read(isShared: true)) / rows, Median(() => Read(isShared: false)) / rows);
    }

    private static double Median(Func<RowChecksum> work)
    {
        var times = new double[Repetitions];
        for (var i = 0; i < Repetitions; i++)
        {
            var began = Stopwatch.GetTimestamp();
            _ = work();
            times[i] = Clock.Nanoseconds(began, Stopwatch.GetTimestamp());
        }

        return Figures.Median(times);
    }

    private static TableDefinition<string, Package> Define(string name) => TableDefinition
        .Create(name, 1, new PackageCodec(), KeyCodec.Utf8, static row => row.Id)
        .Index(Sections, static (in Package row, ref IndexKeys keys) => keys.Add(row.Section))
        .Index(OwnIndex, 1, static (in Package row, ref IndexKeys keys) => keys.Add(row.Section));

    private static void Fill(
        StorageEnvironment environment, TableDefinition<string, Package> definition, PackageGenerator packages, int first, int count)
    {
        for (var from = 0; from < count; from += RowsPerFill)
        {
            using var writing = environment.BeginWrite();
            var table = writing.CreateTable(definition);
            foreach (var row in packages.Make(first + from, Math.Min(RowsPerFill, count - from)))
                table.Insert(row);
            writing.Commit();
        }
    }

    private static RowChecksum Read(
        StorageEnvironment environment, TableDefinition<string, Package> first, TableDefinition<string, Package> second, PackageGenerator packages,
        bool isShared)
    {
        var sum = new RowChecksum(isWhole: false);
        var writer = new KeyWriter(stackalloc byte[KeyBytes]);
        using var reading = environment.BeginRead();
        var (firsts, seconds) = (reading.OpenTable(first), reading.OpenTable(second));
        foreach (var section in packages.Sections)
        {
            writer.Clear();
            var keys = KeyRange.Prefix(writer.Add(section).Written);
            if (isShared)
            {
                ReadShared(reading, keys, firsts, seconds, ref sum);
            }
            else
            {
                ReadOwn(firsts, keys, ref sum);
                ReadOwn(seconds, keys, ref sum);
            }
        }

        return sum;
    }

    private static void ReadShared(
        ReadTransaction reading, KeyRange keys, Table<string, Package> first, Table<string, Package> second, ref RowChecksum sum)
    {
        using var query = reading.QuerySharedIndexRaw(Sections, keys);
        while (query.MoveNext())
        {
            if (!query.TryGetRow(first, out var row) && !query.TryGetRow(second, out row))
                throw new BenchmarkException("a row of the shared index is of neither table");
            sum.Add(row);
        }
    }

    private static void ReadOwn(Table<string, Package> table, KeyRange keys, ref RowChecksum sum)
    {
        using var rows = table.FromRaw(OwnIndex, keys);
        foreach (var row in rows)
            sum.Add(row);
    }
}
