using Voron.Benchmarks.Engines;
using Voron.Benchmarks.Processes;
using Voron.Benchmarks.Reporting;
using Voron.Benchmarks.Workloads;

namespace Voron.Tests.Benchmarks;

/// <summary>Every workload, tiny, on every engine of this machine: they have to agree on what they store and read.</summary>
public sealed class WorkloadTests
{
    private const long Items = 400;

    public WorkloadTests()
    {
        WarmUp.Time = TimeSpan.Zero;
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
        foreach (EngineDescriptor engine in EngineCatalog.All.Where(engine => !engine.IsInstalled()))
        {
            Action require = () => EngineCatalog.Require(engine.Name);
            require.Should().Throw<Voron.Benchmarks.BenchmarkException>().WithMessage("*not installed*");
        }
        EngineCatalog.All.Select(engine => engine.Name).Should().OnlyHaveUniqueItems().And.HaveCount(7);
    }

    [Fact]
    public void A_reader_is_told_when_a_store_is_not_there()
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
        foreach (WorkloadDefinition workload in workloads)
        {
            var checksums = new Dictionary<string, string>();
            foreach (EngineDescriptor engine in EngineCatalog.All.Where(engine => engine.IsInstalled()))
            {
                string path = Path.Combine(directory.Path, engine.Name + "-" + workload.Store);
                long operations = workload.Kind switch
                {
                    WorkloadKind.UpdateWhileReading => 50,
                    WorkloadKind.Open => 1,
                    WorkloadKind.DeleteHalf or WorkloadKind.InsertAgain => items / 2,
                    _ => items,
                };
                var request = new RunRequest(engine.Name, workload, path, items, operations, Round: 0);
                RunResult result = WorkloadRunner.Run(request, new ProgressSignal(null));
                result.EngineSeconds.Should().BePositive();
                checksums.Add(engine.Name, result.Checksum);
            }
            checksums.Values.Distinct().Should().ContainSingle($"of {workload.Name}, where {string.Join(", ", checksums)}");
        }
    }
}
