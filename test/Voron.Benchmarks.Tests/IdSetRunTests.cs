using Voron.Benchmarks.Commands;
using Voron.Benchmarks.Engines.IdSets;
using Voron.Benchmarks.Measurement;
using Voron.Benchmarks.Reporting;
using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Tests;

/// <summary>What the command <c>structures</c> compares must be the same work.</summary>
public sealed class IdSetRunTests
{
    private const int Pairs = 20_000;

    [Fact]
    public void All_engines_have_the_same_sets_and_the_report_judges_them()
    {
        using var directory = new TestDirectory();
        var words = new WordStream();
        var runs = IdSetCatalog.All.Where(way => way.IsInstalled())
            .Select(way => IdSetRun.Measure(way, Path.Combine(directory.Path, "structures"), words, Pairs, seed: 3))
            .ToList();
        runs.Select(run => run.Checksum).Distinct().Should().ContainSingle();
        runs.Should().OnlyContain(run => run.Pairs == Pairs && run.AddNanoseconds > 0 && run.ReadNanoseconds > 0 && run.AndMilliseconds > 0);
        runs.Should().OnlyContain(run => run.LargeSet > 1_800 && run.LargeSet < 2_200 && run.SmallSet > 0 && run.SmallSet < 60);

        runs.Should().OnlyContain(run => run.BytesPerPair > 1 && run.BytesPerPair < 200);
        var tables = StructureTables.Create(Pairs, [], runs, []).Tables;
        tables.Should().OnlyContain(table => table.Rows.Count > 0 && table.Rows.All(row => row.Length == table.Columns.Length));
        tables.Select(table => table.Title).Should().Equal("Id sets", "Goals");
    }

    [Fact]
    public void Words_of_a_document_differ()
    {
        var words = new WordStream().DrawDocuments(documents: 2_000, wordsEach: 10, seed: 1);
        words.Should().HaveCount(20_000);
        words.Chunk(10).Should().OnlyContain(document => document.Distinct().Count() == 10);
        words.GroupBy(word => word).Max(group => group.Count()).Should().BeInRange(1_100, 1_400, "the most frequent word is in most documents");
    }

    [Theory]
    [InlineData("--rounds", "0")]
    [InlineData("--pairs", "99999")]
    [InlineData("--entries", "999")]
    public void Sizes_too_small_to_measure_are_refused(params string[] arguments) =>
        StructuresCommand.Create().Parse(arguments).Errors.Should().ContainSingle();

    [Fact]
    public void Each_half_can_be_left_out()
    {
        StructuresCommand.Create().Parse(["--entries", "0"]).Errors.Should().BeEmpty();
        StructuresCommand.Create().Parse(["--pairs", "0"]).Errors.Should().BeEmpty();
    }
}
