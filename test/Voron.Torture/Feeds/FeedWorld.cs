using Voron.Simulation.Harness;
using Voron.Torture.Crashes;
using Voron.Torture.Model;
using Voron.Torture.Tables;

namespace Voron.Torture.Feeds;

/// <summary>What all stores of a run share: options, tables, the clock, and the names of feeds and consumers.</summary>
internal sealed class FeedWorld<TKey>
{
    public const int Trees = 3;

    private const int Savepoints = 6;

    private static readonly string[] TableNames = ["rows", "others"];
    private static readonly string[] FeedNames = ["feed", "second"];

    public static readonly string[] Consumers = ["ahead", "behind", "third"];

    public FeedWorld(SuiteRun run, TableKind<TKey> kind)
    {
        Run = run;
        var options = CrashOptions.Choose(run.Choices, run.Choices.Next(2) == 0 ? TornPageProtection.Checksums : TornPageProtection.FullPageImages);
        options.CommitClock = Clock;
        if (run.Choices.Next(8) == 7)
            options.MaxTransactionBytes = 1 << 20;
        Settings = new ModelSettings(options, InMemory: true, run.Choices.Next(3) == 2 ? 300 : 40, Trees, Savepoints, Background: false);
        var rows = new RowDrawer(run.Choices, run.Choices.Next(3) == 2 ? 150 : 24, hasLongBodies: run.Choices.Next(3) == 2);
        rows.DrawCompression();
        Expires = run.Choices.Next(3) == 2;
        if (Expires)
            (options.TimeProvider, rows.Now) = (Clock, () => Clock.Milliseconds);
        Tables = [.. TableNames[..(run.Choices.Next(2) + 1)].Select(name => Make(kind, rows, name))];
        Feeds = FeedNames[..(run.Choices.Next(2) + 1)];
    }

    public SuiteRun Run { get; }

    public StepClock Clock { get; } = new();

    /// <summary>True if rows of the tables expire.</summary>
    public bool Expires { get; }

    public ModelSettings Settings { get; }

    public ModelHistory History { get; } = new();

    public IReadOnlyList<TableSetting<TKey>> Tables { get; }

    public IReadOnlyList<string> Feeds { get; }

    /// <summary>The number of feeds so far, those included that were rolled back.</summary>
    public int LastFeed { get; set; }

    /// <summary>The number of calls so far.</summary>
    public long Operations => History.Operations + Tables.Sum(table => table.Calls);

    public override string ToString() => $"{Settings}, {Tables.Count} tables{(Expires ? ", rows that expire" : "")}, compression: {Tables[0].Rows.Compression}, {Feeds.Count} feeds";

    private TableSetting<TKey> Make(TableKind<TKey> kind, RowDrawer rows, string name)
    {
        var indexes = TableIndex.OfEachKind.ToList();
        if (Expires)
            indexes.Add(TableIndex.Of(TableIndex.Expiry, 1));
        var setting = TableSetting<TKey>.Make(Run, kind, indexes, rows, name: name);
        setting.HasTraps = true;
        return setting;
    }
}
