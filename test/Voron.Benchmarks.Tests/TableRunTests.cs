using Voron.Benchmarks.Commands;
using Voron.Benchmarks.Engines.Tables;
using Voron.Benchmarks.Measurement;
using Voron.Benchmarks.Reporting;
using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Tests;

/// <summary>What the command <c>tables</c> compares must be the same work.</summary>
public sealed class TableRunTests
{
    private const int Rows = 3_000;
    private const int Entries = 20_000;

    private readonly PackageGenerator _packages = new();

    [Fact]
    public void All_engines_have_the_same_rows_and_the_report_judges_them()
    {
        using var directory = new TestDirectory();
        var runs = TableCatalog.All.Where(way => way.IsInstalled()).Concat(TableCatalog.Variants)
            .Select(way => TableRun.Measure(way, Path.Combine(directory.Path, "tables"), _packages, Rows, seed: 3))
            .ToList();
        runs.Select(run => run.Checksum).Distinct().Should().ContainSingle();
        runs.Should().OnlyContain(run => run.InsertNanoseconds > 0 && run.UpdateNanoseconds > 0 && run.InsertBytes > 500 && run.UpdateBytes > 0);
        runs.Should().OnlyContain(run => run.GetNanoseconds > 0 && run.SectionNanoseconds > 0 && run.SourceNanoseconds > 0);
        var figures = new TableFigures();
        figures.Tables.AddRange(runs);
        Check(figures, "Rows with three indexes", "Voron and its peers", "Tables with more", "Goals");
    }

    [Fact]
    public async Task An_index_that_is_built_beside_a_writer_has_the_same_rows_as_that_of_a_peer()
    {
        using var directory = new TestDirectory();
        var place = Path.Combine(directory.Path, "tables");
        var own = await IndexBuildRun.MeasureOwnAsync(
            place, _packages, Rows, TimeSpan.FromMilliseconds(50), TestContext.Current.CancellationToken);
        var peer = IndexBuildRun.MeasureSqlite(place, _packages, Rows);
        own.Checksum.Should().Be(peer.Checksum);
        new[] { own.Milliseconds, own.BesideMilliseconds, peer.Milliseconds }.Should().OnlyContain(time => time > 0);
        new[] { own.Alone!, own.Beside! }.Should().OnlyContain(commits => commits.P999Microseconds > 0);
        Check(new TableFigures { Builds = { own, peer } }, "An index built later", "Commits of the writer", "Goals");
    }

    [Fact]
    public async Task Two_tables_share_an_index_and_all_rows_that_are_due_are_deleted()
    {
        using var directory = new TestDirectory();
        var place = Path.Combine(directory.Path, "tables");
        var shared = SharedIndexRun.Measure(place, _packages, Rows);
        new[] { shared.SharedNanoseconds, shared.EachNanoseconds }.Should().OnlyContain(time => time > 0);
        var expired = await ExpiryRun.MeasureAsync(place, _packages, Rows, TestContext.Current.CancellationToken);
        expired.Milliseconds.Should().BePositive();
        Check(new TableFigures { Shared = { shared }, Expired = { expired } }, "Rows of two tables", "Rows that are due");
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_tenth_goes_as_a_range_and_another_one_by_cursor(bool rangeFirst)
    {
        using var directory = new TestDirectory();
        var run = RangeDeleteRun.Measure(Path.Combine(directory.Path, "tables"), Entries, rangeFirst);
        run.Range.Entries.Should().Be(Entries / 10);
        run.Cursor.Entries.Should().Be(Entries / 10);
        run.Range.JournalBytes.Should().BeInRange(1, 64 << 10);
        Check(new TableFigures { Deletes = { run } }, "A tenth of a tree deleted", "Goals");
    }

    [Fact]
    public void Rows_have_keys_of_their_own_and_follow_from_their_numbers()
    {
        var rows = _packages.Make(0, Rows);
        rows.Should().OnlyHaveUniqueItems(row => row.Id).And.OnlyHaveUniqueItems(row => row.Source + "/" + row.Version);
        rows.Should().OnlyContain(row => row.Tags.Length <= 6 && row.Tags.Distinct().Count() == row.Tags.Length);
        rows.Average(row => row.Description.Length).Should().BeInRange(380, 420);
        rows.GroupBy(row => row.Section).Max(section => section.Count()).Should().BeInRange(Rows / 6, Rows / 4, "sections are skewed");
        new PackageGenerator().Make(1_000, 10).Should().BeEquivalentTo(rows[1_000..1_010], options => options.WithStrictOrdering());
    }

    [Theory]
    [InlineData("--rounds", "0")]
    [InlineData("--rows", "9999")]
    [InlineData("--index-rows", "1")]
    [InlineData("--entries", "9999")]
    public void Sizes_too_small_to_measure_are_refused(params string[] arguments) =>
        TablesCommand.Create().Parse(arguments).Errors.Should().ContainSingle();

    [Theory]
    [InlineData("--rows")]
    [InlineData("--index-rows")]
    [InlineData("--entries")]
    public void Each_part_can_be_left_out(string option) => TablesCommand.Create().Parse([option, "0"]).Errors.Should().BeEmpty();

    private static void Check(TableFigures figures, params string[] titles)
    {
        var tables = TablesReport.Create(figures).Tables.Where(table => table.Rows.Count > 0).ToList();
        tables.Should().OnlyContain(table => table.Rows.All(row => row.Length == table.Columns.Length));
        tables.Select(table => table.Title).Should().Equal(titles);
    }
}
