using Microsoft.Extensions.Logging.Abstractions;
using Voron.Format;
using Voron.Journal;
using Voron.Primitives;
using Voron.Torture.Simulation;

namespace Voron.Tests.Journal;

public sealed class JournalWriterTests
{
    [Fact]
    public async Task What_is_queued_when_somebody_else_poisons_is_not_written_and_everybody_is_told()
    {
        var disk = new SimulatedDisk();
        var poison = new PoisonState("test");
        using var files = new JournalFileSet(disk, 1, 4096, 65536, 65536, NullLogger.Instance);
        using var journal = new JournalWriter(files, poison, new Nobody(), 1, default, [], null);
        Submit(journal, null);
        journal.Drain();

        using var written = new ManualResetEventSlim();
        using var release = new ManualResetEventSlim();
        disk.InProgress = _ =>
        {
            written.Set();
            release.Wait();
        };
        var first = Submit(journal, null);
        var leading = Task.Run(() => journal.WaitUntilDurable(first), TestContext.Current.CancellationToken);
        written.Wait(TestContext.Current.CancellationToken);
        var completion = CommitCompletion.Rent();
        var awaited = completion.Task.AsTask();
        Submit(journal, completion);
        journal.WriteInBackground();
        var last = Submit(journal, null);

        // As a failed sync of the data file does.
        poison.Set(new IOException("a sync failed"));
        disk.InProgress = null;
        release.Set();
        await leading;
        var failed = awaited.Awaiting(task => task.WaitAsync(TimeSpan.FromSeconds(30)));
        var outcome = (await failed.Should().ThrowAsync<EnvironmentPoisonedException>()).Which;
        outcome.Outcome.Should().Be(CommitOutcome.NotCommitted);
        journal.Invoking(writer => writer.WaitUntilDurable(last)).Should().Throw<EnvironmentPoisonedException>()
            .Which.Outcome.Should().Be(CommitOutcome.NotCommitted);
        journal.DurableSequence.Should().Be(first);
    }

    [Fact]
    public void A_completion_asked_too_early_or_twice_stays_the_journals()
    {
        var completion = CommitCompletion.Rent();
        var task = completion.Task;
        var ask = () => task.GetAwaiter().GetResult();
        ask.Should().Throw<InvalidOperationException>();
        Enumerable.Range(0, 100).Select(_ => CommitCompletion.Rent()).Should().NotContain(completion);

        completion.SetResult();
        ask.Should().NotThrow();
        ask.Should().Throw<InvalidOperationException>();
        Enumerable.Range(0, 100).Count(_ => CommitCompletion.Rent() == completion).Should().BeLessThanOrEqualTo(1);
    }

    private static long Submit(JournalWriter journal, CommitCompletion? completion)
    {
        var entry = journal.Rent();
        new RecordBuilder(entry, RecordKind.Vouching).Finish(default, null);
        entry.Completion = completion;
        return journal.Submit(entry);
    }

    private sealed class Nobody : IJournalListener
    {
        public void OnDurable(in RecordHeader header, in JournalPosition end, long lengthBytes)
        {
        }
    }
}
