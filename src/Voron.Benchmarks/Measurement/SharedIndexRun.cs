using Voron.Benchmarks.Engines.Tables;
using Voron.Benchmarks.Workloads;
using Voron.Tables;

namespace Voron.Benchmarks.Measurement;

/// <summary>One run of finding the rows of two tables by section: in the index that they share, and in an index of each.</summary>
/// <param name="Rows">The rows of both tables together.</param>
/// <param name="SharedNanoseconds">The time of reading a row by the shared index.</param>
/// <param name="EachNanoseconds">The time of reading a row by the indexes of the two tables, one after the other.</param>
internal sealed record SharedIndexRun(int Rows, double SharedNanoseconds, double EachNanoseconds)
{
    private const int RowsPerFill = 10_000;
    private const int KeyBytes = 256;
    private const string OwnIndex = "section of the table";

    private static readonly SharedIndex Sections = new("section", 1);

    /// <param name="directory">A new directory.</param>
    /// <param name="packages">Makes the rows.</param>
    /// <param name="rows">The rows of both tables together.</param>
    /// <exception cref="BenchmarkException">The two ways find different rows.</exception>
    public static SharedIndexRun Measure(string directory, PackageGenerator packages, int rows)
    {
        Directory.CreateDirectory(directory);
        try
        {
            using var environment = StorageEnvironment.Open(directory);
            var (first, second) = (Define("first"), Define("second"));
            Fill(environment, first, packages, 0, rows / 2);
            Fill(environment, second, packages, rows / 2, rows - rows / 2);
            environment.Flush();
            RowChecksum Read(bool isShared) => SharedIndexRun.Read(environment, first, second, packages, isShared);
            var (shared, each) = (Read(isShared: true), Read(isShared: false));
            if (shared.Rows != rows || each.Rows != rows || shared.Sum != each.Sum)
                throw new BenchmarkException($"of {rows} rows, the shared index has {shared.Rows}, and those of the tables {each.Rows}");
            return new SharedIndexRun(
                rows, Repeated.Median(() => (int)Read(isShared: true).Rows) / rows, Repeated.Median(() => (int)Read(isShared: false).Rows) / rows);
        }
        finally
        {
            Directory.Delete(directory, recursive: true);
        }
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
