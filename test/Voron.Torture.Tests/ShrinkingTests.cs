using Voron.Simulation.Harness;

namespace Voron.Torture.Tests;

/// <summary>A failure is saved first, then shrunk, and stays the same failure.</summary>
public sealed class ShrinkingTests
{
    private const int Seed = 5;
    private const int StepsDrawn = 30;
    private const int StepsNeeded = 10;

    [Fact]
    public async Task Shrinking_keeps_to_the_same_failure()
    {
        var failure = await FailAsync(new ScriptedSuite(run =>
        {
            var steps = MakeSteps(run);
            throw new BrokenPromiseException(steps >= StepsNeeded ? $"Lost {steps} keys." : $"Another thing, {steps} times.");
        }));
        failure.FirstLine.Should().EndWith($"Lost {StepsNeeded} keys.");
        failure.Steps.Should().HaveCount(StepsNeeded);
        failure.Found!.Message.Should().Contain($"Lost {StepsDrawn} keys.");
        failure.Found.Script.Count.Should().BeGreaterThan(failure.Script!.Count);
    }

    [Fact]
    public async Task A_candidate_that_hangs_does_not_hang_shrinking()
    {
        var failure = await FailAsync(new ScriptedSuite(run =>
        {
            if (MakeSteps(run) < StepsDrawn)
                Thread.Sleep(Timeout.Infinite);
            throw new BrokenPromiseException("Lost.");
        })
        {
            Limit = TimeSpan.FromSeconds(3),
        });
        failure.FirstLine.Should().EndWith("Lost.");
        failure.Attempts.Should().BeGreaterThan(1);
        failure.Script.Should().HaveCount((2 * StepsDrawn) + 1);
    }

    [Fact]
    public async Task A_failure_is_saved_before_it_is_made_shorter()
    {
        using var directory = new TestDirectory();
        var runs = 0;
        var saved = 0;
        var failure = await FailAsync(
            new ScriptedSuite(_ =>
            {
                if (runs++ == 1)
                    saved = Directory.GetFiles(directory.Path).Length;
                throw new BrokenPromiseException("Lost.");
            }),
            directory.Path);
        saved.Should().Be(1);
        Failure.Load(failure.Path!).Attempts.Should().Be(failure.Attempts).And.BeGreaterThan(0);
    }

    [Theory]
    [InlineData("Page 12 is owned twice.", "Page 7,003 is owned twice.", true)]
    [InlineData("'a' is not there", "'b and c' is not there", true)]
    [InlineData("The key 0A.FF is not there", "The key 00 is not there", true)]
    [InlineData("2 problems: page 3 is lost; page 4 is lost", "1 problems: page 9 is lost", true)]
    [InlineData("Lost / cut at the write of a, torn", "Lost / cut at the sync of b", true)]
    [InlineData("Page 12 is owned twice.", "Page 12 has no owner.", false)]
    public void Failures_are_the_same_when_they_differ_in_numbers_and_names_alone(string one, string other, bool same) =>
        (FailureSignature.Of(new BrokenPromiseException(one)) == FailureSignature.Of(new BrokenPromiseException(other))).Should().Be(same);

    [Fact]
    public void Failures_with_different_inner_exceptions_have_different_signatures()
    {
        var one = new BrokenPromiseException("at call 3", new InvalidOperationException("The page is damaged."));
        var same = new BrokenPromiseException("at another call", new InvalidOperationException("The page is damaged."));
        var otherMessage = new BrokenPromiseException("at call 3", new InvalidOperationException("The value is damaged."));
        var otherType = new BrokenPromiseException("at call 3", new TimeoutException("The page is damaged."));
        FailureSignature.Of(same).Should().Be(FailureSignature.Of(one));
        FailureSignature.Of(otherMessage).Should().NotBe(FailureSignature.Of(one));
        FailureSignature.Of(otherType).Should().NotBe(FailureSignature.Of(one));
    }

    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    private static int MakeSteps(SuiteRun run)
    {
        var steps = 0;
        for (; run.Choices.GoesOn(steps < StepsDrawn); steps++)
        {
            run.Step($"step {steps}");
            _ = run.Choices.Next(100);
        }

        return steps;
    }

    private static async Task<Failure> FailAsync(Suite suite, string? directory = null)
    {
        var plan = new RunPlan(1, Seed) { ShrinkTime = TestWait.Limit, FailureDirectory = directory };
        var result = await Task.Run(() => new SuiteRunner(suite, plan).Run(), Cancellation).WaitAsync(TestWait.Limit, Cancellation);
        return result.Failures.Should().ContainSingle().Subject;
    }
}
