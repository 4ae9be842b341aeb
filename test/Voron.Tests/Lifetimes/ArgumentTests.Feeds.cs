using Voron.Feeds;
using Voron.Tables;
using Voron.Tests.Tables;

namespace Voron.Tests.Lifetimes;

/// <content>Change feeds.</content>
public sealed partial class ArgumentTests
{
    private static readonly string[] BadNames = ["", new string('n', 201), "\ud800"];

    [Fact]
    public async Task The_static_methods_of_feeds_name_their_parameters()
    {
        using var environment = HandleSet.OpenEnvironment();
        StorageEnvironment nowhere = null!;
        environment.Write(writing => writing.CreateFeed("feed"));
        using (var reading = environment.BeginRead())
        using (var writing = environment.BeginWrite())
        {
            foreach (var call in NamesOfFeeds(reading, writing))
            {
                FluentActions.Invoking(() => call(null!)).Should().Throw<ArgumentNullException>();
                foreach (var name in BadNames)
                    FluentActions.Invoking(() => call(name)).Should().Throw<ArgumentException>();
            }

            foreach (var call in UsesOfFeeds(reading, writing))
                FluentActions.Invoking(() => call("none")).Should().Throw<KeyNotFoundException>().WithMessage("There is no feed 'none'*");
            Names<ArgumentNullException>("batch", () => reading.ReadChanges("feed", default, null!));
            Names<ArgumentException>("content", () => writing.RecordTree("feed", HandleSet.TreeName, RecordedContent.OldValues));
            Names<ArgumentException>("content", () => writing.RecordTree("feed", HandleSet.TreeName, (RecordedContent)4));
            Names<ArgumentException>("content", () => writing.RecordTable("feed", "items", (RecordedContent)4));
            foreach (var options in (FeedOptions[])
            [
                new() { MaxAge = TimeSpan.FromTicks(-5) }, new() { MaxBytes = -1 }, new() { MaxBytes = 5, HoldLimitBytes = 4 },
                new() { MaxValueBytes = -1 }, new() { MaxValueBytes = FeedOptions.LargestValueBytes + 1 },
            ])
                Names<ArgumentException>("options", () => writing.CreateFeed("feed", options));
            writing.CreateFeed("feed", new FeedOptions { MaxAge = TimeSpan.Zero, MaxBytes = 0, HoldLimitBytes = 0, MaxValueBytes = 1 << 20 });
            writing.CreateFeed(new string('n', 200));
            writing.SetPosition("feed", new string('n', 200), default);
        }

        Names<ArgumentOutOfRangeException>("maxBytes", () => _ = new ChangeBatch(0));
        Names<ArgumentOutOfRangeException>("maxBytes", () => _ = new ChangeBatch(ChangeBatch.LargestMaxBytes + 1));
        Names<ArgumentOutOfRangeException>("maxBatchBytes", () => environment.ReadChangesAsync("feed", ChangePosition.Start, 0));
        Names<ArgumentNullException>("environment", () => nowhere.ReadChangesAsync("feed", ChangePosition.Start));
        Names<ArgumentNullException>("environment", () => nowhere.ReadChangesAsync("feed", "consumer"));
        Names<ArgumentOutOfRangeException>("maxBatchBytes", () => environment.ReadChangesAsync("feed", "consumer", 0));
        await NamesLater<ArgumentNullException>("environment", () => nowhere.TrimFeedsAsync().AsTask());
        Names<ArgumentNullException>("definition", () => default(Change).GetRow((TableDefinition<string, Item>)null!));
        Names<ArgumentNullException>("definition", () => default(Change).GetOldRow((TableDefinition<string, Item>)null!));
        foreach (var name in BadNames)
        {
            FluentActions.Invoking(() => environment.ReadChangesAsync(name, ChangePosition.Start)).Should().Throw<ArgumentException>();
            FluentActions.Invoking(() => environment.ReadChangesAsync("feed", consumer: name)).Should().Throw<ArgumentException>();
        }

        environment.Verify().Problems.Should().BeEmpty();
    }

    // Each has a name of a feed, a consumer, a tree or a table.
    private static IEnumerable<Action<string>> NamesOfFeeds(ReadTransaction reading, WriteTransaction writing) =>
    [
        name => writing.CreateFeed(name), name => writing.DeleteFeed(name), .. UsesOfFeeds(reading, writing),
        name => writing.RecordTree("feed", TooLong(name)), name => writing.RecordTable("feed", name),
        name => writing.StopRecordingTree(TooLong(name)), name => writing.StopRecordingTable(name),
        name => writing.SetPosition("feed", name, default), name => writing.RemoveConsumer("feed", name),
        name => writing.TryGetPosition("feed", name, out _), name => reading.TryGetPosition("feed", name, out _),
    ];

    private static IEnumerable<Action<string>> UsesOfFeeds(ReadTransaction reading, WriteTransaction writing) =>
    [
        feed => writing.RecordTree(feed, HandleSet.TreeName), feed => writing.RecordTable(feed, "items"),
        feed => writing.SetPosition(feed, "consumer", default), feed => writing.RemoveConsumer(feed, "consumer"),
        feed => writing.TryGetPosition(feed, "consumer", out _), feed => reading.TryGetPosition(feed, "consumer", out _),
        feed => reading.GetNewestPosition(feed), feed => writing.GetNewestPosition(feed),
        feed => reading.ReadChanges(feed, default, new ChangeBatch()),
    ];

    // The name of a tree may be longer than that of a feed.
    private static string TooLong(string name) => name is { Length: > 200 } ? name + name : name;
}
