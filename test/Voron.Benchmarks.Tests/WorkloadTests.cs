using Voron.Benchmarks.Engines;
using Voron.Benchmarks.Processes;
using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Tests;

/// <summary>
/// Runs every workload, in a tiny size, on every engine of this machine: all engines must agree on the data that they store and read.
/// </summary>
public sealed class WorkloadTests
{
    private static readonly long Items = SuiteShare.Rounds(200);

    public WorkloadTests()
    {
        WarmUp.IsShort = true;
        WorkloadRunner.ProbesDevice = false;
    }

    [Fact]
    public void Engines_agree_on_small_items() => Compare(
        ComparisonPlan.Select([], 1).Select(step => step.Workload).Where(workload => workload.ValueBytes <= 16 << 10 && !workload.EndsInCrash)
            .Where(workload => workload != WorkloadCatalog.OpenCrashed),
        Items);

    [Fact]
    public void Engines_agree_on_large_values() => Compare([WorkloadCatalog.Write1M, WorkloadCatalog.Read1M], 3);

    [Fact]
    public void A_missing_engine_says_what_to_install()
    {
        foreach (var engine in EngineCatalog.All.Where(engine => !engine.IsInstalled()))
        {
            Action require = () => EngineCatalog.Require(engine.Name);
            require.Should().Throw<Voron.Benchmarks.BenchmarkException>().WithMessage("*not installed*");
        }
        EngineCatalog.All.Select(engine => engine.Name).Should().OnlyHaveUniqueItems().And.HaveCount(12);
    }

    [Fact]
    public void A_read_of_a_missing_store_is_refused()
    {
        using var directory = new TestDirectory();
        var request = new RunRequest(
            EngineCatalog.Voron, WorkloadCatalog.RandomRead, Path.Combine(directory.Path, "none"), Items, Items, Round: 0);
        Action run = () => WorkloadRunner.Run(request, new ProgressSignal(null));
        run.Should().Throw<Voron.Benchmarks.BenchmarkException>().WithMessage("*no store here*");
    }

    private static void Compare(IEnumerable<WorkloadDefinition> workloads, long items)
    {
        using var directory = new TestDirectory();
        foreach (var workload in workloads)
        {
            var checksums = new Dictionary<string, string>();
            foreach (var engine in EngineCatalog.All.Where(engine => engine.IsInstalled() && engine.LeavesOut(workload) is null))
            {
                var path = Path.Combine(directory.Path, engine.Name + "-" + workload.Store);
                var operations = workload.Kind switch
                {
                    WorkloadKind.UpdateWhileReading => 50,
                    WorkloadKind.Open => 1,
                    WorkloadKind.DeleteHalf or WorkloadKind.InsertAgain => items / 2,
                    _ => items,
                };
                var request = new RunRequest(engine.Name, workload, path, items, operations, Round: 0)
                {
                    // A slow engine on a busy machine does not write all items in time.
                    StopsAfterLastSlice = false,
                };
                var result = WorkloadRunner.Run(request, new ProgressSignal(null));
                result.EngineSeconds.Should().BePositive();
                result.IsCut.Should().BeFalse($"{engine.Name} runs all of {workload.Name}");
                checksums.Add(engine.Name, result.Checksum);
            }
            checksums.Values.Distinct().Should().ContainSingle($"of {workload.Name}, where {string.Join(", ", checksums)}");
        }
    }

    [Fact]
    public void A_goal_against_another_workload_brings_that_workload_along()
    {
        var steps = ComparisonPlan.Select([WorkloadCatalog.Callers64.Name], scale: 1);
        steps.Single(step => step.Workload == WorkloadCatalog.SinglePut).IsReported.Should().BeFalse();
        steps.Single(step => step.IsReported).Workload.Should().Be(WorkloadCatalog.Callers64);
    }

    [Fact]
    public void Variants_of_the_journal_run_where_journals_are_looked_at_and_lose_their_stores_then()
    {
        var comparison = new Comparison([EngineCatalog.Find(EngineCatalog.Voron)], ComparisonPlan.Select([], 1), Rounds: 1);
        var variant = EngineCatalog.Find(EngineCatalog.VoronPlainJournal);
        var update = comparison.Steps.Single(step => step.Workload == WorkloadCatalog.RandomUpdate);
        var read = comparison.Steps.Single(step => step.Workload == WorkloadCatalog.RandomRead);
        comparison.EnginesOf(update).Should().HaveCount(3).And.Contain(variant);
        comparison.EnginesOf(read).Should().NotContain(variant);
        comparison.IsLastOfStore(update, variant).Should().BeTrue();
        comparison.IsLastOfStore(update, EngineCatalog.Find(EngineCatalog.Voron)).Should().BeFalse();
    }

    [Theory]
    [InlineData(1_000_000, 0.5, 128, 500_000)]
    [InlineData(5_000, 0.02, 128, 1_000)]
    [InlineData(512, 0.02, 1 << 20, 64)]
    [InlineData(8, 0.5, 64 << 20, 4)]
    public void A_scale_leaves_enough_but_not_too_much_of_large_values(long count, double scale, int itemBytes, long expected)
    {
        WorkloadDefinition.Scale(count, scale, itemBytes).Should().Be(expected);
    }

    [Fact]
    public void Callers_and_readers_stop_when_time_is_up()
    {
        using var directory = new TestDirectory();
        var callers = new RunRequest(
            EngineCatalog.Voron, WorkloadCatalog.Callers16, Path.Combine(directory.Path, "callers"), 10_000_000, 10_000_000, Round: 0)
        {
            // Long enough for sixteen first commits on a crowded machine.
            Limit = TimeSpan.FromSeconds(3),
        };
        var result = WorkloadRunner.Run(callers, new ProgressSignal(null));
        result.IsCut.Should().BeTrue();
        result.Operations.Should().BeInRange(1, 9_999_999);
        result.Note.Should().Contain("stopped");
    }
}
