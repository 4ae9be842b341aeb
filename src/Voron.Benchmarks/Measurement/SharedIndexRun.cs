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
            var (shared, each) = (new RowChecksum(isWhole: false), new RowChecksum(isWhole: false));
            var sharedRows = ReadShared(environment, first, second, packages, ref shared);
            var eachRows = ReadEach(environment, first, second, packages, ref each);
            if (sharedRows != rows || eachRows != rows || shared.Sum != each.Sum)
                throw new BenchmarkException($"of {rows} rows, the shared index has {sharedRows}, and those of the tables {eachRows}");
            var ignored = shared;
            return new SharedIndexRun(
                rows, Repeated.Median(() => ReadShared(environment, first, second, packages, ref ignored)) / rows,
                Repeated.Median(() => ReadEach(environment, first, second, packages, ref ignored)) / rows);
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

    private static int ReadShared(
        StorageEnvironment environment, TableDefinition<string, Package> first, TableDefinition<string, Package> second, PackageGenerator packages,
        ref RowChecksum sum)
    {
        var rows = 0;
        var writer = new KeyWriter(stackalloc byte[KeyBytes]);
        using var reading = environment.BeginRead();
        var (firsts, seconds) = (reading.OpenTable(first), reading.OpenTable(second));
        foreach (var section in packages.Sections)
        {
            using var query = reading.QuerySharedIndex(Sections, PrefixOf(ref writer, section));
            for (; query.MoveNext(); rows++)
            {
                if (!query.TryGetRow(firsts, out var row) && !query.TryGetRow(seconds, out row))
                    throw new BenchmarkException("a row of the shared index is of neither table");
                sum.Add(row);
            }
        }

        return rows;
    }

    private static int ReadEach(
        StorageEnvironment environment, TableDefinition<string, Package> first, TableDefinition<string, Package> second, PackageGenerator packages,
        ref RowChecksum sum)
    {
        var rows = 0;
        var writer = new KeyWriter(stackalloc byte[KeyBytes]);
        using var reading = environment.BeginRead();
        var (firsts, seconds) = (reading.OpenTable(first), reading.OpenTable(second));
        foreach (var section in packages.Sections)
        {
            var keys = PrefixOf(ref writer, section);
            rows += ReadOne(firsts, keys, ref sum) + ReadOne(seconds, keys, ref sum);
        }

        return rows;
    }

    private static int ReadOne(Table<string, Package> table, KeyRange keys, ref RowChecksum sum)
    {
        var rows = 0;
        using var found = table.From(OwnIndex, keys);
        foreach (var row in found)
        {
            sum.Add(row);
            rows++;
        }

        return rows;
    }

    private static KeyRange PrefixOf(ref KeyWriter writer, string section)
    {
        writer.Clear();
        return KeyRange.Prefix(writer.Add(section).Written);
    }
}
