using Voron.Benchmarks.Commands;
using Voron.Benchmarks.Engines.ValueSets;
using Voron.Benchmarks.Measurement;
using Voron.Benchmarks.Reporting;
using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Tests;

/// <summary>What the command <c>structures</c> compares must be the same work: value sets.</summary>
public sealed class ValueSetRunTests
{
    private const int Pairs = 20_000;

    [Fact]
    public void All_engines_have_the_same_sets_and_the_report_shows_them()
    {
        using var directory = new TestDirectory();
        var words = new WordStream();
        var runs = ValueSetCatalog.All.Where(way => way.IsInstalled())
            .Select(way => ValueSetRun.Measure(way, Path.Combine(directory.Path, "structures"), words, Pairs, seed: 3))
            .ToList();
        runs.Select(run => run.Checksum).Distinct().Should().ContainSingle();
        runs.Should().OnlyContain(run => run.Pairs == Pairs && run.AddNanoseconds > 0 && run.ReadNanoseconds > 0 && run.LookupNanoseconds > 0);
        runs.Should().OnlyContain(run => run.LargeSet > 1_000 && run.LargeSet <= Pairs / 10, "the most frequent word is in most documents");
        runs.Should().OnlyContain(run => run.BytesPerPair > 10 && run.BytesPerPair < 400);
        var tables = StructureTables.Create(Pairs, [], [], runs).Tables;
        tables.Should().OnlyContain(table => table.Rows.Count > 0 && table.Rows.All(row => row.Length == table.Columns.Length));
        tables.Select(table => table.Title).Should().Equal("Value sets");
    }

    [Fact]
    public void Too_few_pairs_are_refused() => StructuresCommand.Create().Parse(["--values", "99999"]).Errors.Should().ContainSingle();

    [Fact]
    public void Value_sets_can_be_left_out() => StructuresCommand.Create().Parse(["--values", "0"]).Errors.Should().BeEmpty();
}
