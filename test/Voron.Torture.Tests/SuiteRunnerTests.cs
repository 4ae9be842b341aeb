using Voron.Simulation.Harness;

namespace Voron.Torture.Tests;

/// <summary>Runs of a suite end when they should, and report their findings.</summary>
public sealed class SuiteRunnerTests
{
    private const int Seed = 5;

    private static readonly ScriptedSuite Endless = new(run =>
    {
        Thread.Yield();
        run.Count();
    });

    [Fact]
    public async Task Without_time_a_suite_makes_a_run_and_ends()
    {
        var result = await RunAsync(Endless, new RunPlan(RunPlan.Full, Seed) { TimeLimit = TimeSpan.Zero });
        result.Runs.Should().BeGreaterThan(0);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public async Task All_suites_together_end_when_there_is_little_time(int seconds)
    {
        var limits = new List<TimeSpan?>();
        var sequence = new SuiteSequence([Endless, Endless, Endless], TimeSpan.FromSeconds(seconds), (suite, stretch) =>
        {
            limits.Add(stretch.TimeLimit);
            return (new SuiteRunner(suite, stretch).Run(), null);
        });
        var plan = new RunPlan(RunPlan.Full, Seed);
        var results = await Task.Run(() => sequence.Run(_ => plan).ToList(), Cancellation).WaitAsync(TestWait.Limit, Cancellation);
        results.Should().HaveCount(3).And.OnlyContain(result => result.Runs > 0);
        limits.Should().OnlyContain(limit => limit == SuiteSequence.MinShare);
    }

    [Fact]
    public void A_suite_that_has_to_end_continues_behind_the_run_that_ended_it()
    {
        var firsts = new List<long>();
        var sequence = new SuiteSequence([Endless], TestWait.Limit, (suite, plan) =>
        {
            firsts.Add(plan.First);
            return (new SuiteRunner(suite, plan with { Count = 1 }).Run(), firsts.Count < 3 ? plan.First + 10 : null);
        });
        sequence.Run(_ => new RunPlan(RunPlan.Full, Seed)).Should().HaveCount(3);
        firsts.Should().Equal(0, 10, 20);
    }

    [Fact]
    public async Task A_suite_continues_after_a_failure_and_keeps_each_different_one()
    {
        var suite = new ScriptedSuite(run =>
        {
            run.Count();
            if (run.Index % 10 == 3)
                throw new BrokenPromiseException($"Lost in run {run.Index}.");
            if (run.Index == 25)
                throw new BrokenPromiseException("Something else.");
        });
        var result = await RunAsync(suite, new RunPlan(50, Seed) { MaxFailures = 5, ShrinkTime = TimeSpan.Zero });
        result.Cases.Should().Be(50);
        result.Failures.Select(failure => failure.Run).Should().Equal(3, 25);
        result.Tallies.Values.Should().Equal(4);
    }

    [Fact]
    public async Task A_run_that_hangs_reports_its_steps()
    {
        var suite = new ScriptedSuite(run =>
        {
            run.Step("opened");
            Thread.Sleep(Timeout.Infinite);
        })
        {
            // The run has to reach its step within the limit.
            Limit = TimeSpan.FromSeconds(5),
        };
        var result = await RunAsync(suite, new RunPlan(1, Seed));
        var failure = result.Failures.Should().ContainSingle().Subject;
        failure.Kind.Should().Be(FailureKind.Hang);
        failure.Steps.Should().Equal("opened");
    }

    [Fact]
    public void A_replay_has_the_seed_of_the_failure()
    {
        var failure = new Failure("scripted", null, "1.0", Seed, 3, "Lost.", 0, 0, null, []);
        var suite = new ScriptedSuite(run => BrokenPromiseException.Require(run.Seed != Seed || run.Index != 3, "Lost."));
        SuiteRunner.Replay(suite, failure).Thrown.Should().BeOfType<BrokenPromiseException>();
    }

    [Fact]
    public void A_replay_that_hangs_ends()
    {
        var failure = new Failure("scripted", null, "1.0", Seed, 3, "Lost.", 0, 0, null, []);
        var suite = new ScriptedSuite(_ => Thread.Sleep(Timeout.Infinite)) { Limit = TimeSpan.FromMilliseconds(300) };
        SuiteRunner.Replay(suite, failure).HasEnded.Should().BeFalse();
    }

    [Fact]
    public void The_replay_command_of_a_failure_names_the_planted_fault()
    {
        var failure = new Failure("scripted", "SomeFault", "1.0", Seed, 3, "Lost.", 0, 0, null, []);
        failure.Replay.Should().Contain("--fault SomeFault").And.Contain("--first 3").And.Contain($"--seed {Seed}");
    }

    [Fact]
    public void Every_bit_of_a_seed_changes_the_choices()
    {
        // The second group has the seeds whose two halves cancel each other out when they are folded together.
        var seeds = Enumerable.Range(0, 64).Select(bit => 1L << bit).Concat(Enumerable.Range(0, 32).Select(bit => (1L << bit) | (1L << (bit + 32))));
        seeds.Select(seed => new Tape(seed).NextInt64()).Should().OnlyHaveUniqueItems();
        new Tape(Seed).Next(1000).Should().Be(new Tape(Seed).Next(1000));
    }

    [Fact]
    public void Choices_are_spread_evenly()
    {
        var tape = new Tape(Seed);
        var counts = new int[7];
        for (var i = 0; i < 70_000; i++)
            counts[tape.Next(counts.Length)]++;
        counts.Should().OnlyContain(count => count > 9_600 && count < 10_400);
    }

    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    private static Task<SuiteResult> RunAsync(Suite suite, RunPlan plan) =>
        Task.Run(() => new SuiteRunner(suite, plan).Run(), Cancellation).WaitAsync(TestWait.Limit, Cancellation);
}
