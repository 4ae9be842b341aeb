using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Voron.Tests.Transactions;

/// <summary>A thread that would wait for its own transaction is refused, and any other long wait is seen without a logger.</summary>
public sealed class SelfWaitTests : IDisposable
{
    private readonly StorageEnvironment _environment = StorageEnvironment.OpenInMemory();

    public void Dispose() => _environment.Dispose();

    [Fact]
    public void A_thread_does_not_wait_for_its_own_transaction()
    {
        var thread = new TestThread(() =>
        {
            using (var writing = _environment.BeginWrite())
            {
                foreach (var call in (Action[])[
                    () => _environment.BeginWrite(), () => _environment.BeginWrite(Timeout.InfiniteTimeSpan),
                    () => _environment.Write(static _ => { }), () => _environment.Write(static _ => 1),
                    () => _environment.Write(1, static (_, one) => one)])
                    call.Should().Throw<InvalidOperationException>().WithMessage("*would wait for itself*write transaction 1 of 'memory'*");
                _environment.Invoking(e => e.BeginWrite(TimeSpan.FromMilliseconds(1))).Should().Throw<TimeoutException>();
                writing.CreateTree("tree");
                writing.Commit();
            }

            _environment.Write(static writing => { writing.CreateTree("other"); });
            using var again = _environment.BeginWrite();
            again.GetTreeNames().Should().Equal("other", "tree");
        });
        thread.Join().Should().BeNull();
    }

    [Fact]
    public void Other_threads_wait_and_one_that_ended_its_transaction_begins_the_next()
    {
        using var begun = new ManualResetEventSlim();
        using var done = new ManualResetEventSlim();
        var first = new TestThread(() =>
        {
            // The transaction that is open when it waits is that of the second thread.
            _environment.BeginWrite().Dispose();
            begun.Wait(TestWait.Limit);
            _environment.BeginWrite().Dispose();
        });
        var second = new TestThread(() =>
        {
            using (_environment.BeginWrite())
            {
                begun.Set();
                done.Wait(TestWait.Limit);
            }
        });
        begun.Wait(TestWait.Limit, TestContext.Current.CancellationToken).Should().BeTrue();
        first.WaitUntilBlockedOrEnded();
        done.Set();
        first.Join().Should().BeNull();
        second.Join().Should().BeNull();
    }

    [Fact]
    public void A_transaction_that_is_handed_over_may_be_ended_by_another_thread()
    {
        WriteTransaction writing = default;
        var first = new TestThread(() => writing = _environment.BeginWrite());
        first.Join().Should().BeNull();
        var second = new TestThread(() =>
        {
            _environment.Invoking(e => e.BeginWrite(TimeSpan.Zero)).Should().Throw<TimeoutException>();
            writing.CreateTree("tree");
            writing.Commit();
            _environment.BeginWrite().Dispose();
        });
        second.Join().Should().BeNull();
    }

    [Fact]
    public void A_thread_that_has_lost_its_transaction_gets_the_writer_again()
    {
        using var environment = StorageEnvironment.OpenInMemory(new StorageOptions { LeakGrace = TimeSpan.Zero });
        var refused = 0;
        var thread = new TestThread(() =>
        {
            Lose(environment);
            TestWait.Until(() =>
            {
                try
                {
                    environment.BeginWrite().Dispose();
                    return true;
                }
                catch (InvalidOperationException)
                {
                    refused++;
                    return false;
                }
            });
        });
        thread.Join().Should().BeNull();
        refused.Should().BePositive();
        environment.GetStatistics().LeakedWriters.Should().Be(1);
    }

    [Fact]
    public void A_long_wait_is_counted_and_is_an_event_of_the_activity()
    {
        using var writing = _environment.BeginWrite();
        _environment.ToString().Should().Contain("write transaction 1 for ");
        using var activity = new Activity("request").Start();
        _environment.Internals.Engine.WriterLock!.WaitsForLong!();
        _environment.GetStatistics().LongWriterWaits.Should().Be(1);
        activity.Events.Should().ContainSingle().Which.Name.Should().Be("voron.writer.long_wait");
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Lose(StorageEnvironment environment) => environment.BeginWrite().CreateTree("lost");
}
