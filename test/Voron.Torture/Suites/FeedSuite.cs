using Voron.Simulation.Harness;
using Voron.Torture.Feeds;
using Voron.Torture.Model;
using Voron.Torture.Tables;

namespace Voron.Torture.Suites;

/// <summary>Compares what the changes of feeds make of a copy with the trees and tables that the feeds record.</summary>
internal sealed class FeedSuite : TableSuite
{
    private const int LongOneIn = 12;
    private const int LongTurn = 5;

    public override string Name => "feed";

    public override string Summary =>
        "random changes that feeds record, beside cuts of feeds, power cuts and kills: copies made of the changes alone agree after each transaction";

    public override string Unit => "operations";

    public override long TestCount => 200_000;

    public override long FullCount => 10_000_000;

    public override IReadOnlyList<string> NotCovered =>
    [
        "the moment of a cut in the background, which is not the same in a replay: one run of twelve has such cuts",
        "positions of transactions that a power cut has taken, after as many others were made",
    ];

    protected override void Run<TKey>(SuiteRun run, TableKind<TKey> kind)
    {
        if (run.Index % LongOneIn == LongTurn)
        {
            RunLong(run);
            return;
        }

        FeedRun<TKey>? feeds = null;
        try
        {
            feeds = new FeedRun<TKey>(run, kind);
            feeds.Run();
            feeds.Dispose();
        }
        catch (Exception e)
        {
            run.Step($"{feeds?.World}\n{feeds?.World.History.Describe((e as ModelMismatchException)?.Key)}");
            SafeDisposal.Dispose(feeds);
            throw;
        }
        finally
        {
            run.Count(feeds?.World.Operations ?? 0);
        }
    }

    private static void RunLong(SuiteRun run)
    {
        using var feed = new LongFeedRun(run);
        try
        {
            feed.Run();
        }
        finally
        {
            run.Count(feed.Commits);
        }
    }
}
