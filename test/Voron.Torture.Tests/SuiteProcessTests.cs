using System.Diagnostics;
using Voron.Simulation.Harness;
using Voron.Torture.Faults;
using Voron.Torture.Suites;

namespace Voron.Torture.Tests;

/// <summary>A suite whose process dies has failed, and reports with which seed and in which run.</summary>
public sealed class SuiteProcessTests
{
    private const long Seed = 77;

    [Fact]
    public void The_death_of_a_process_is_a_failure_with_its_seed_and_its_run()
    {
        using var directory = new TestDirectory();
        var plan = new RunPlan(RunPlan.Full, Seed) { First = 40, FailureDirectory = directory.Path };
        var process = new SuiteProcess(SuiteCatalog.Find("malformed"), plan);
        var isKilled = false;
        var end = process.Run(TestWait.Limit, _ =>
        {
            if (isKilled || RunMarks.Load(SuiteProcess.MarksFile(process.SharedDirectory!)).Cases == 0)
                return;
            isKilled = true;
            Kill(process.ProcessId);
        });
        var result = end.ResultOrDeath();
        var failure = result.Failures.Should().ContainSingle().Subject;
        failure.Kind.Should().Be(FailureKind.Death);
        failure.Seed.Should().Be(Seed);
        failure.Run.Should().BeGreaterThanOrEqualTo(40);
        failure.Steps.Should().NotBeEmpty().And.OnlyContain(step => step.Contains("--suite malformed --seed 77"));
        result.Cases.Should().BeGreaterThan(0);
        end.GoOnAt.Should().BeGreaterThan(failure.Run);
        Failure.Load(failure.Path!).Replay.Should().Contain($"--seed {Seed} --first {failure.Run} ");
    }

    [Fact]
    public void A_process_that_dies_later_keeps_its_earlier_findings()
    {
        using var directory = new TestDirectory();
        var plan = new RunPlan(RunPlan.Full, Seed) { FailureDirectory = directory.Path };
        var suite = new ScriptedSuite(_ => { });
        var begun = DateTimeOffset.UtcNow.AddSeconds(-10);
        new Failure(suite.Name, null, "1.0", Seed, 3, "Lost.", 0, 0, [1], []).Save(directory.Path);
        var noted = new RunMarks.Noted(9, 90, 10, []);
        var end = new SuiteProcessEnd(suite, plan, begun, null, true, 139, "", noted, ["case 4"], TimeSpan.FromSeconds(10));
        var result = end.ResultOrDeath();
        result.Failures.Select(failure => (failure.Run, failure.Kind)).Should().Equal((3, FailureKind.Broken), (10, FailureKind.Death));
        result.Failures[1].Steps.Should().Equal("case 4");
        result.Cases.Should().Be(90);
    }

    [Fact]
    public void A_process_that_has_to_be_ended_hangs()
    {
        var end = new SuiteProcess(SuiteCatalog.Find("model"), new RunPlan(RunPlan.Full, Seed)).Run(TimeSpan.FromSeconds(2));
        end.ResultOrDeath().Failures.Should().ContainSingle().Which.Kind.Should().Be(FailureKind.Hang);
    }

    [Fact]
    public void A_process_that_ends_in_good_order_leaves_its_result_and_no_files()
    {
        var process = new SuiteProcess(SuiteCatalog.Find("boundary"), new RunPlan(2, Seed));
        var end = process.Run(TestWait.Limit);
        end.Result!.Failures.Should().BeEmpty();
        end.Result.Cases.Should().BeGreaterThanOrEqualTo(2);
        end.Result.Seed.Should().Be(Seed);
        end.GoOnAt.Should().BeNull();
        process.SharedDirectory.Should().NotBeNull();
        Directory.Exists(process.SharedDirectory).Should().BeFalse();
    }

    [Theory]
    [InlineData(nameof(FailureKind.Broken), false, false, true)]
    [InlineData(nameof(FailureKind.Hang), false, true, false)]
    [InlineData(nameof(FailureKind.Hang), true, false, true)]
    [InlineData(nameof(FailureKind.Death), true, false, false)]
    [InlineData(nameof(FailureKind.Death), false, true, true)]
    [InlineData(nameof(FailureKind.Machine), true, true, false)]
    public void A_fault_is_found_only_by_its_effects(string kind, bool hangs, bool endsProcess, bool isFound)
    {
        var fault = new FaultCase("SomeFault", "model", 1) { Hangs = hangs, EndsProcess = endsProcess };
        var failure = new Failure("model", fault.Name, "1.0", Seed, 0, "Lost.", 0, 0, null, []) { Kind = Enum.Parse<FailureKind>(kind) };
        (FaultHunt.Judge(fault, [failure]).Finding is not null).Should().Be(isFound);
        FaultHunt.Judge(fault with { Shows = "Another thing" }, [failure]).Finding.Should().Be(
            isFound && failure.Kind != FailureKind.Broken ? failure.FirstLine : null);
    }

    [Fact]
    public void A_refusal_by_the_machine_is_no_failure_of_the_engine()
    {
        FailureSignature.IsOfMachine(new IOException("No space.")).Should().BeTrue();
        FailureSignature.IsOfMachine(new UnauthorizedAccessException()).Should().BeTrue();
        FailureSignature.IsOfMachine(new BrokenPromiseException("at call 3", new IOException("No space."))).Should().BeTrue();
        FailureSignature.IsOfMachine(new BrokenPromiseException("Lost.")).Should().BeFalse();
        FailureSignature.IsOfMachine(new BrokenPromiseException("at call 3", new InvalidOperationException())).Should().BeFalse();
    }

    private static void Kill(int processId)
    {
        using var process = Process.GetProcessById(processId);
        process.Kill();
    }
}
