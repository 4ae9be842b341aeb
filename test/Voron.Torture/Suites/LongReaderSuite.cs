using System.Diagnostics;
using Voron.Simulation.Harness;
using Voron.Torture.Model;

namespace Voron.Torture.Suites;

/// <summary>
/// Checks that a long-lived reader costs one version a page, and a journal of bounded length, and that both are freed after it.
/// </summary>
internal sealed class LongReaderSuite : Suite
{
    /// <summary>Takes some two minutes.</summary>
    private const int MaxJournals = 400;

    public override string Name => "long-reader";

    public override string Summary => "one reader held open while everything is updated: it never changes, journal and file stay bounded, memory is freed";

    public override string Unit => "milliseconds";

    public override long TestCount => 15_000;

    public override long FullCount => 24 * 60 * 60 * 1_000;

    public override bool IsReplayable => false;

    public override int Threads => 1;

    public override TimeSpan RunLimit => TimeSpan.FromMinutes(5);

    public override IReadOnlyList<string> NotCovered =>
    [
        "the system decides in which order threads run: a failure is found, but may not be reproduced by a replay",
        "journals of more than a few hundred times their limit behind one reader, and stores larger than a few megabytes",
        "several old readers at once, and large values that change behind one",
        "the speed of writers behind a reader, beyond a minimum that a tenth of this engine's speed would reach",
    ];

    public override void Run(SuiteRun run)
    {
        var choices = run.Choices;
        var keys = choices.Next(1_000, 4_000);
        var form = run.Index % 3 == 2 ? TornPageProtection.FullPageImages : TornPageProtection.Checksums;

        // The reader is held for longer and longer, as far as the time allows.
        var journals = 6 + (int)Math.Min(run.Index * 2, MaxJournals);
        run.Step($"{keys} keys, {journals} journals, {form}");
        var begun = Stopwatch.GetTimestamp();
        var directory = Directory.CreateTempSubdirectory("voron-reader-").FullName;
        try
        {
            var reader = new LongReaderRun(directory, keys, form);
            reader.Hold(journals, run.Stop);
            if (!run.Stop.IsCancellationRequested)
                reader.ReopenWithJournalSnapshot(run.Stop);
            run.Tally("rounds", reader.Rounds);
            run.Tally("commits behind a reader", reader.Commits);
            run.Tally("milliseconds of these commits", (long)reader.CommitTime.TotalMilliseconds);
            run.Tally("journal snapshots", reader.JournalSnapshots);
        }
        finally
        {
            Directory.Delete(directory, recursive: true);
        }
        run.Count((long)Stopwatch.GetElapsedTime(begun).TotalMilliseconds);
    }
}
