using Voron.Benchmarks.Engines.IdSets;
using Voron.Benchmarks.Engines.ValueSets;
using Voron.Benchmarks.Measurement;
using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Reporting;

/// <summary>The report on fixed-size trees, id sets and value sets, with the goals.</summary>
internal static class StructureTables
{
    private static readonly string[] TreeColumns =
        ["tree", "entries a commit", "ns a put, ascending", "ns a put, random", "ns a get", "record bytes a put", "page bytes an entry"];

    private static readonly string[] SetColumns =
    [
        "way", "pairs", "ns a pair", "pairs/s", "written bytes a pair", "bytes a pair", "ids of a large set", "ids/s read", "ids of a small one",
        "ids of both, ms",
    ];

    private static readonly string[] ValueColumns =
        ["way", "pairs", "ns a pair", "pairs/s", "written bytes a pair", "bytes a pair", "values of a large set", "ns a value read", "ns a lookup"];

    public static Report Create(
        int pairs, IReadOnlyList<FixedTreeRun> trees, IReadOnlyList<IdSetRun> sets, IReadOnlyList<ValueSetRun> values) => new(
        "Fixed-size trees, id sets and value sets",
        [
            $"Medians of {Rounds(trees, sets, values)} rounds, in one process; trees and engines take turns. Checksums of all answers agree.",
            "Trees: entries of 8 + 8 bytes, durable transactions; lookups in random order after a flush.",
            $"Id sets: {pairs:N0} pairs; documents of ten different words, of {WordStream.Vocabulary:N0} with frequencies of 1/rank; 1,000 documents a " +
            "durable transaction. Bytes a pair: pages in use of Voron and LMDB, table files of RocksDB after a compaction, which is not timed.",
            "The large set has one id in ten, the small one one in a thousand, of as many ids as there are pairs. Peers read both sets, and merge them.",
            "Value sets: the names of the documents, of 10 to 16 bytes in random order, as values of their words, in the same transactions. The lookups ask " +
            "for pairs of which half exist.",
        ],
        [
            .. TablesOf(trees, Trees), .. TablesOf(sets, Sets), .. TablesOf(values, Values),
            .. trees.Count + sets.Count > 0 ? [Goals(trees, sets)] : Array.Empty<ReportTable>(),
        ]);

    private static ReportTable[] TablesOf<T>(IReadOnlyList<T> runs, Func<IReadOnlyList<T>, ReportTable> table) => runs.Count > 0 ? [table(runs)] : [];

    private static int Rounds(IReadOnlyList<FixedTreeRun> trees, IReadOnlyList<IdSetRun> sets, IReadOnlyList<ValueSetRun> values) =>
        trees.GroupBy(run => (run.Tree, run.PerCommit)).Select(runs => runs.Count())
            .Concat(sets.GroupBy(run => run.Way).Select(runs => runs.Count()))
            .Concat(values.GroupBy(run => run.Way).Select(runs => runs.Count())).Max();

    private static ReportTable Trees(IReadOnlyList<FixedTreeRun> trees) => new(
        "Fixed-size trees", TextColumns: 1, TreeColumns,
        [
            .. trees.GroupBy(run => (run.PerCommit, run.Tree)).OrderBy(runs => runs.Key).Select(runs => new[]
            {
                runs.Key.Tree,
                Figures.Count(runs.Key.PerCommit),
                Figures.Decimal(Of(runs, run => run.PutNanoseconds)),
                Figures.Decimal(Of(runs, run => run.RandomNanoseconds)),
                Figures.Decimal(Of(runs, run => run.GetNanoseconds)),
                Figures.Decimal(Of(runs, run => run.RecordBytes)),
                Figures.Decimal(Of(runs, run => run.BytesPerEntry)),
            }),
        ]);

    private static ReportTable Sets(IReadOnlyList<IdSetRun> sets) => new(
        "Id sets", TextColumns: 1, SetColumns,
        [
            .. ByWay(IdSetCatalog.All.Select(way => way.Name), sets, run => run.Way).Select(runs => (string[])
            [
                .. Adding(runs),
                Figures.Count(1e9 / Of(runs, run => run.ReadNanoseconds)),
                Figures.Count(runs[0].SmallSet),
                Figures.Decimal(Of(runs, run => run.AndMilliseconds)),
            ]),
        ]);

    private static ReportTable Values(IReadOnlyList<ValueSetRun> values) => new(
        "Value sets", TextColumns: 1, ValueColumns,
        [
            .. ByWay(ValueSetCatalog.All.Select(way => way.Name), values, run => run.Way).Select(runs => (string[])
            [
                .. Adding(runs),
                Figures.Decimal(Of(runs, run => run.ReadNanoseconds)),
                Figures.Decimal(Of(runs, run => run.LookupNanoseconds)),
            ]),
        ]);

    // The first columns of both tables of sets.
    private static string[] Adding(IReadOnlyList<ISetRun> runs) =>
    [
        runs[0].Way,
        Figures.Count(runs[0].Pairs),
        Figures.Decimal(Of(runs, run => run.AddNanoseconds)),
        Figures.Count(1e9 / Of(runs, run => run.AddNanoseconds)),
        Figures.Decimal(Of(runs, run => run.WrittenBytes)),
        Figures.Decimal(Of(runs, run => run.BytesPerPair)),
        Figures.Count(runs[0].LargeSet),
    ];

    private static ReportTable Goals(IReadOnlyList<FixedTreeRun> trees, IReadOnlyList<IdSetRun> sets) => new(
        "Goals", TextColumns: 1, ["figure", "measured", "goal", "verdict"],
        [.. trees.Count > 0 ? TreeGoals(trees) : [], .. sets.Count > 0 ? SetGoals(sets) : []]);

    private static IEnumerable<string[]> TreeGoals(IReadOnlyList<FixedTreeRun> trees)
    {
        foreach (var (perCommit, goal) in new[] { (100, 2.0), (100_000, 3.0) })
        {
            double Put(string tree) => Of(trees.Where(run => run.Tree == tree && run.PerCommit == perCommit), run => run.PutNanoseconds);
            var ratio = Put(FixedTreeRun.Plain) / Put(FixedTreeRun.Fixed);
            yield return Row($"ascending puts, {perCommit:N0} a transaction, beside ordinary ones", ratio, goal);
        }
    }

    private static IEnumerable<string[]> SetGoals(IReadOnlyList<IdSetRun> sets)
    {
        var own = sets.Where(run => run.Way == IdSetCatalog.Own).ToList();
        foreach (var (way, smaller, faster) in new[] { (IdSetCatalog.All[1].Name, 4.0, 4.0), (IdSetCatalog.All[2].Name, 3.0, 2.0) })
        {
            var peer = sets.Where(run => run.Way == way).ToList();
            if (peer.Count == 0)
                continue;
            double Ratio(Func<IdSetRun, double> figure) => Of(peer, figure) / Of(own, figure);
            yield return Row($"id sets, times smaller than {way}", Ratio(run => run.BytesPerPair), smaller);
            yield return Row($"adding pairs, times as fast as {way}", Ratio(run => run.AddNanoseconds), faster);
        }

        yield return Row("pairs added, million a second", 1e3 / Of(own, run => run.AddNanoseconds), 1.5);
        yield return Row("ids read, million a second", 1e3 / Of(own, run => run.ReadNanoseconds), 300);
        yield return Row($"ids in sets of {own[0].LargeSet:N0} and {own[0].SmallSet:N0} found, times in 1 ms", 1 / Of(own, run => run.AndMilliseconds), 1);
    }

    private static string[] Row(string figure, double measured, double goal) =>
        [figure, Figures.Decimal(measured), Figures.Decimal(goal), measured >= goal ? "met" : "missed"];

    // The runs of each way that was measured, in the order of the catalog.
    private static IEnumerable<IReadOnlyList<T>> ByWay<T>(IEnumerable<string> ways, IReadOnlyList<T> runs, Func<T, string> wayOf) =>
        ways.Select(way => runs.Where(run => wayOf(run) == way).ToList()).Where(some => some.Count > 0);

    private static double Of<T>(IEnumerable<T> runs, Func<T, double> figure) => Figures.Median(runs.Select(figure));
}
