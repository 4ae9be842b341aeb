using Voron.Torture.Feeds;
using Voron.Torture.Harness;
using Voron.Torture.Model;
using Voron.Torture.Tables;

namespace Voron.Torture.Suites;

/// <summary>Compares what the changes of feeds make of a copy with the trees and tables that the feeds record.</summary>
internal sealed class FeedSuite : TableSuite
{
    public override string Name => "feed";

    public override string Summary =>
        "random changes that feeds record, beside cuts of feeds, power cuts and kills: copies made of the changes alone agree after each transaction";

    public override string Unit => "operations";

    public override long TestCount => 100_000;

    public override long FullCount => 10_000_000;

    public override IReadOnlyList<string> NotCovered =>
    [
        "feeds that are cut in the background, at a moment of the engine's choice",
        "positions of transactions that a power cut has taken, after as many others were made",
    ];

    protected override void Run<TKey>(SuiteRun run, TableKind<TKey> kind)
    {
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
}
