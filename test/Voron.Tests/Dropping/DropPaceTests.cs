using Microsoft.Extensions.Time.Testing;
using Voron.Dropping;
using Voron.Tests.Faults;
using Voron.Transactions;

namespace Voron.Tests.Dropping;

/// <summary>The steps of a drop hold the writer for a short time, and leave other writers their share of it.</summary>
public sealed class DropPaceTests : IDisposable
{
    private readonly TestDirectory _directory = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task A_step_ends_soon_after_another_writer_has_begun_to_wait_and_continues_otherwise()
    {
        var writer = new WriterLock();
        var clock = new FakeTimeProvider();
        var pace = new DropPace(writer, clock);
        writer.Enter(Token);
        pace.Begin();
        clock.Advance(TimeSpan.FromMilliseconds(2));
        pace.IsOver.Should().BeFalse("nothing waits");
        var waiting = writer.EnterAsync(Token);
        pace.IsOver.Should().BeTrue();
        pace.Begin();
        clock.Advance(TimeSpan.FromMicroseconds(499));
        pace.IsOver.Should().BeFalse("each step costs a commit");
        clock.Advance(TimeSpan.FromMicroseconds(1));
        pace.IsOver.Should().BeTrue();
        writer.Release();
        await waiting;
        writer.Release();
    }

    [Fact]
    public async Task The_time_for_which_a_writer_had_to_wait_is_left_to_it_and_no_other()
    {
        var writer = new WriterLock();
        var clock = new FakeTimeProvider();
        var pace = new DropPace(writer, clock);
        writer.Enter(Token);
        Step(pace, clock, milliseconds: 20);
        (await GoesOnAtOnceAsync(pace, clock)).Should().BeTrue("nothing waited");

        var waiting = writer.EnterAsync(Token);
        Step(pace, clock, milliseconds: 20);
        clock.Advance(TimeSpan.FromMilliseconds(5));
        var pauses = 0;
        while (!await GoesOnAtOnceAsync(pace, clock))
        {
            pauses++;
            Step(pace, clock, milliseconds: 0);
        }

        pauses.Should().Be(15, "20 ms are owed, the end of the first step took 5 of them, and each pause takes one");
        writer.Release();
        await waiting;
        writer.Release();
    }

    /// <summary>Reading a page that is not in memory takes longer than freeing hundreds, and the writer would be held meanwhile.</summary>
    [Theory]
    [InlineData(300)]
    [InlineData(3_000)]
    public void What_a_step_reads_has_been_read_before_it_has_the_writer(int length)
    {
        Fill(length);
        using var environment = StorageEnvironment.Open(_directory.Path, Options);
        var engine = environment.Internals.Engine;
        using (var writing = environment.BeginWrite())
        {
            writing.Body.DropTree("dropped"u8, fewPages: 0).HasPages.Should().BeTrue();
            writing.Commit();
        }

        DropReadAhead.Read(engine, 0, 200);

        var verified = CountVerified(environment);
        using (var writing = environment.BeginWrite())
        {
            writing.Body.CutDroppedTree(writing.Body.FindDroppedTree(0).Id, 200, out var freed);
            freed.Should().BeGreaterThanOrEqualTo(200);
            writing.Commit();
        }

        CountVerified(environment).Should().Be(verified, "the step has read no page for the first time");
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void Reading_ahead_where_there_is_nothing_to_be_read_does_nothing()
    {
        Fill(300);
        using var environment = StorageEnvironment.Open(_directory.Path, Options);
        var engine = environment.Internals.Engine;
        DropReadAhead.Read(engine, 0, 100);
        using (var writing = environment.BeginWrite())
        {
            writing.Body.DropTree("dropped"u8, fewPages: 0);
            writing.Commit();
        }

        DropReadAhead.Read(engine, uint.MaxValue, 100);
        DropReadAhead.Read(engine, 0, 0);
        environment.Verify().Problems.Should().BeEmpty();
    }

    private static StorageOptions Options => new() { BackgroundFlush = false, ScrubInterval = Timeout.InfiniteTimeSpan, KeyHeadCacheBytes = 0 };

    private static void Step(DropPace pace, FakeTimeProvider clock, int milliseconds)
    {
        pace.Begin();
        clock.Advance(TimeSpan.FromMilliseconds(milliseconds));
        pace.End();
    }

    private static async Task<bool> GoesOnAtOnceAsync(DropPace pace, FakeTimeProvider clock)
    {
        var waiting = pace.WaitAsync(Token);
        var isDone = waiting.IsCompleted;
        if (!isDone)
            clock.Advance(TimeSpan.FromMilliseconds(1));
        await waiting;
        return isDone;
    }

    private static int CountVerified(StorageEnvironment environment)
    {
        var (engine, count) = (environment.Internals.Engine, 0);
        for (var page = 0L; page < environment.GetStatistics().PageCount; page++)
            count += engine.DataFile.IsVerified(page) ? 1 : 0;
        return count;
    }

    private void Fill(int length)
    {
        using var environment = StorageEnvironment.Open(_directory.Path, Options);
        using var writing = environment.BeginWrite();
        var tree = writing.CreateTree("dropped");
        for (var i = 0; i < 20_000; i++)
            tree.Put(FaultTestKit.Key(i), FaultTestKit.Value(i, i % 3 == 0 ? length : 300));
        writing.Commit();
    }
}
