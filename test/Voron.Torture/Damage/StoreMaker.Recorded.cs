using Voron.Feeds;
using Voron.Tables;
using Voron.Torture.Recorded;

namespace Voron.Torture.Damage;

/// <content>Tables, and a feed that records them.</content>
internal sealed partial class StoreMaker
{
    private const long MaxFeedBytes = 20 << 10;
    private const int RecordedKeys = 150;

    /// <summary>A table of which one index is being built, and another one has failed.</summary>
    public static TableDefinition<int, RecordedRow> Evolving { get; } = DefineEvolving(2)
        .Index("late", 1, static (in RecordedRow row, ref IndexKeys keys) => keys.Add(row.Number))
        .UniqueIndex("same", 1, static (in RecordedRow row, ref IndexKeys keys) => keys.Add(row.Key / 40));

    /// <summary>Creates images of stores with tables and a feed.</summary>
    public static IReadOnlyList<StoreImage> MakeRecorded() => [Recorded(isClosed: true), Recorded(isClosed: false)];

    private static TableDefinition<int, RecordedRow> DefineEvolving(int version) =>
        TableDefinition.Create("evolving", version, new RecordedRowCodec(), KeyCodec.Int32, static row => row.Key);

    private static StoreImage Recorded(bool isClosed)
    {
        using var maker = new StoreMaker(TornPageProtection.Checksums, JournalCompression.Never);
        maker.Commit(FillRecorded);
        maker.Evolve();
        if (!maker._environment.TrainDictionaryAsync(RecordedStore.TreeName).AsTask().GetAwaiter().GetResult())
            throw new InvalidOperationException("The recorded tree has got no dictionary.");
        maker._environment.Flush();
        for (var round = 1; round < 4; round++)
            maker.Commit(writing => ChangeRecorded(writing, round));
        maker.Commit(writing => writing.SetPosition(RecordedStore.Feed, RecordedStore.Consumer, writing.GetNewestPosition(RecordedStore.Feed)));
        _ = maker._environment.TrimFeedsAsync().AsTask().GetAwaiter().GetResult();

        // Damage to the journal may cost the last two transactions. The content after each of those of the trim is not known.
        for (var round = 4; round < 7; round++)
            maker.Commit(writing => ChangeRecorded(writing, round));
        if (isClosed)
            maker._environment.Dispose();
        else
            maker._environment.Internals.ConfirmDurability();
        return maker.Take(isClosed ? "tables and a feed, closed" : "tables and a feed, durability confirmed");
    }

    private static void FillRecorded(WriteTransaction writing)
    {
        var tree = RecordedStore.Create(writing, MaxFeedBytes);
        var evolving = writing.CreateTable(DefineEvolving(1));
        for (var key = 0; key < RecordedKeys; key++)
        {
            tree.Put(RecordedStore.KeyOf(key), RecordedRow.ValueOf(key * 31));
            RecordedStore.Upsert(writing, new RecordedRow(key, key * 17));
            if (key < 60)
                evolving.Insert(new RecordedRow(key, key * 5));
        }

        writing.SetPosition(RecordedStore.Feed, "behind", ChangePosition.Start);
    }

    private static void ChangeRecorded(WriteTransaction writing, int round)
    {
        var tree = writing.OpenTree(RecordedStore.TreeName);
        for (var key = round; key < RecordedKeys; key += 9)
        {
            RecordedStore.Upsert(writing, new RecordedRow(key, key * 17 + round));
            tree.Put(RecordedStore.KeyOf(key + 40), RecordedRow.ValueOf(key * 13 + round));
        }

        for (var key = RecordedKeys - 2 * round; key < RecordedKeys; key++)
            RecordedStore.Delete(writing, key);
        tree.DeleteRange(KeyRange.From(RecordedStore.KeyOf(20 * round)).Before(RecordedStore.KeyOf(20 * round + 8)));
        if (round == 1)
            writing.RemoveConsumer(RecordedStore.Feed, "behind");
        if (round != 2)
            return;

        // A source that ends, and one that gets another name.
        writing.RecordTree(RecordedStore.Feed, CreateSource(writing, "ended"));
        writing.StopRecordingTree("ended");
        writing.RecordTree(RecordedStore.Feed, CreateSource(writing, "older name"));
        writing.RenameTree("older name", "newer name");
        writing.OpenTree("newer name").Put(Key(1), Value(1, 40));
    }

    private static string CreateSource(WriteTransaction writing, string name)
    {
        writing.CreateTree(name).Put(Key(0), Value(0, 20));
        return name;
    }

    private void Evolve()
    {
        using var stop = new CancellationTokenSource();
        var isFailed = false;
        for (var call = 0; call < 2; call++)
        {
            try
            {
                var progress = new FirstStep(() =>
                {
                    if (isFailed)
                        stop.Cancel();
                });
                _ = _environment.EvolveAsync(Evolving, progress, new EvolveOptions { MaxBytes = 200 }, stop.Token).AsTask().GetAwaiter().GetResult();
            }
            catch (DuplicateKeyException)
            {
                isFailed = true;
            }
            catch (OperationCanceledException)
            {
            }
        }

        Commit(static _ => { });
    }

    private sealed class FirstStep(Action stop) : IProgress<EvolveProgress>
    {
        public void Report(EvolveProgress value) => stop();
    }
}
