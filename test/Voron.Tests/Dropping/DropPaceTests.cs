using System.Diagnostics;
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
    public async Task A_step_ends_soon_after_another_writer_has_begun_to_wait_and_goes_on_otherwise()
    {
        var writer = new WriterLock();
        var pace = new DropPace(writer);
        writer.Enter(Token);
        pace.Begin();
        Thread.Sleep(2);
        pace.IsOver.Should().BeFalse("nothing waits");
        var waiting = writer.EnterAsync(Token);
        pace.IsOver.Should().BeTrue();
        pace.Begin();
        var begun = Stopwatch.GetTimestamp();
        while (!pace.IsOver)
            Stopwatch.GetElapsedTime(begun).Should().BeLessThan(TimeSpan.FromSeconds(10));
        Stopwatch.GetElapsedTime(begun).Should().BeGreaterThan(TimeSpan.FromMicroseconds(400), "each step costs a commit");
        writer.Release();
        await waiting;
        writer.Release();
    }

    [Fact]
    public async Task The_time_for_which_a_writer_had_to_wait_is_left_to_it_and_no_other()
    {
        var writer = new WriterLock();
        var pace = new DropPace(writer);
        writer.Enter(Token);
        pace.Begin();
        Thread.Sleep(20);
        pace.End();
        (await GoesOnAtOnceAsync(pace)).Should().BeTrue("nothing waited");

        var waiting = writer.EnterAsync(Token);
        var pauses = 0;
        for (var i = 0; i < 20 && pauses == 0; i++)
        {
            // A busy system that lets this thread wait for 20 ms behind the end of the step has left that time to the writer.
            pace.Begin();
            Thread.Sleep(20);
            pace.End();
            while (!await GoesOnAtOnceAsync(pace) && pauses < 1000)
            {
                pauses++;
                pace.Begin();
                pace.End();
            }
        }

        pauses.Should().BeInRange(1, 100, "20 ms are owed, and each pause takes one or more");
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

    private static async Task<bool> GoesOnAtOnceAsync(DropPace pace)
    {
        var waiting = pace.WaitAsync(Token);
        var isDone = waiting.IsCompleted;
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
