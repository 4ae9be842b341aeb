using System.Diagnostics;
using Voron.Torture.Harness;
using Voron.Torture.Model;

namespace Voron.Torture.Suites;

/// <summary>A reader that stays open for long costs a version a page, and a journal of bounded length, all of which goes back.</summary>
internal sealed class LongReaderSuite : Suite
{
    public override string Name => "long-reader";

    public override string Summary => "one reader held open while everything is updated: it never changes, journal and file stay bounded, memory goes back";

    public override string Unit => "seconds";

    public override long TestCount => 20;

    public override long FullCount => 24 * 60 * 60;

    public override bool IsReplayable => false;

    public override int Threads => 1;

    public override TimeSpan RunLimit => TimeSpan.FromHours(1);

    public override void Run(SuiteRun run)
    {
        Tape choices = run.Choices;
        int keys = choices.Next(1_000, 4_000);
        FlushRecordForm form = run.Index % 3 == 2 ? FlushRecordForm.WholeImages : FlushRecordForm.Checksums;

        // Held for longer and longer, where there is the time.
        int journals = 6 + (int)Math.Min(run.Index * 2, 2_000);
        run.Step($"{keys} keys, {journals} journals, {form}");
        Stopwatch clock = Stopwatch.StartNew();
        string directory = Directory.CreateTempSubdirectory("voron-reader-").FullName;
        try
        {
            var reader = new LongReaderRun(directory, keys, form);
            reader.Hold(journals, run.Stop);
            reader.ReopenWithRewriteFile(RunLimit);
            run.Tally("rounds", reader.Rounds);
            run.Tally("rewrites", reader.Rewrites);
        }
        finally
        {
            Directory.Delete(directory, recursive: true);
        }
        run.Count((long)Math.Ceiling(clock.Elapsed.TotalSeconds));
    }
}
