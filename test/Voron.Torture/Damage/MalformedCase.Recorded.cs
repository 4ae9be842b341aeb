using Voron.Feeds;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;
using Voron.Tables;
using Voron.Torture.Recorded;

namespace Voron.Torture.Damage;

/// <content>Tables and feeds.</content>
internal sealed partial class MalformedCase
{
    private const int BatchBytes = 3_000;

    private void UseRecorded(StorageEnvironment environment, bool writes)
    {
        ReadRecorded(environment);
        if (!writes)
            return;
        WriteRecorded(environment);
        ReadRecorded(environment);
    }

    private void ReadRecorded(StorageEnvironment environment)
    {
        Try(() => environment.GetTables());
        Try(() =>
        {
            using var reading = environment.BeginRead();
            Try(() => reading.GetFeeds());
            Try(() => reading.GetTableNames());
            ReadTable(reading, RecordedStore.Rows, key => key);
            ReadTable(reading, RecordedStore.Numbered, key => key);
            ReadTable(reading, StoreMaker.Evolving, key => key);
            TryNamed(() => ReadFeed(reading));
            TryNamed(() => reading.GetNewestPosition(RecordedStore.Feed));
            TryNamed(() => reading.TryGetPosition(RecordedStore.Feed, RecordedStore.Consumer, out _));
        });
        TryNamed(() => environment.VerifyTable(RecordedStore.Rows));
        TryNamed(() => environment.VerifyTable(RecordedStore.Numbered));
        TryNamed(() => environment.VerifyTable(StoreMaker.Evolving));
        TryNamed(() => environment.VerifyFeed(RecordedStore.Feed));
    }

    private void ReadTable<TKey>(ReadTransaction reading, TableDefinition<TKey, RecordedRow> definition, Func<int, TKey> keyOf) => Try(() =>
    {
        if (!reading.TryOpenTable(definition, out var table))
            return;
        _ = table.Count;
        for (var i = 0; i < 6; i++)
        {
            var key = random.Next(160);
            Try(() => table.TryGet(keyOf(key), out _, out _));
            Try(() => table.TryGetByRowId(key, out _));
            Try(() => table.TryGetVersion(keyOf(key), out _));
        }

        Try(() => Walk(table.Scan()));
        Try(() => Walk(table.Scan().Backward()));
        if (definition is TableDefinition<int, RecordedRow>)
            Try(() => Walk(table.ByKey()));
        foreach (var index in definition.IndexNames)
        {
            if (table.GetIndexState(index) != IndexState.Ready)
                continue;
            Try(() => Walk(random.Next(2) == 0 ? table.From(index) : table.From(index).Backward()));
            Try(() => Count(table.From(index)));
        }
    });

    private void Walk(RowQuery<RecordedRow> query)
    {
        using (query)
        {
            while (query.MoveNext())
            {
                // One row may be damaged while the later ones are sound.
                Touch(query.Key);
                Try(() => _ = query.Current);
            }

            _ = query.Token;
        }
    }

    private static void Count(RowQuery<RecordedRow> query)
    {
        using (query)
            query.Count();
    }

    private void ReadFeed(ReadTransaction reading)
    {
        var batch = new ChangeBatch(BatchBytes);
        var at = reading.GetFeeds().FirstOrDefault(feed => feed.Name == RecordedStore.Feed)?.Oldest ?? ChangePosition.Start;
        if (at.Ordinal == 0)
            at = ChangePosition.Start;
        for (; reading.ReadChanges(RecordedStore.Feed, at, batch); at = batch.Position)
        {
            BrokenPromiseException.Require(batch.Position > at, $"a batch behind {at} ends at {batch.Position}");
            foreach (var change in batch)
                Look(change);
        }
    }

    private void Look(Change change)
    {
        Touch(change.Key);
        Touch(change.NewValue);
        Touch(change.OldValue);
        _ = change.ToString();
        _ = (change.Time, change.NewName);
        change.Range.Contains([1, 2, 3, 4]);
        if (!change.Source.IsTable || change.Source.Name != RecordedStore.Rows.Name)
            return;
        if (change.HasNewValue)
            Try(() => change.GetRow(RecordedStore.Rows));
        if (change.HasOldValue)
            Try(() => change.GetOldRow(RecordedStore.Rows));
    }

    // One transaction, as for trees.
    private void WriteRecorded(StorageEnvironment environment)
    {
        TryNamed(() =>
        {
            using var writing = environment.BeginWrite();
            for (var i = random.Next(1, 10); i > 0; i--)
            {
                if (random.Next(2) == 0)
                    ChangeTables(writing);
                else
                    ChangeFeeds(writing);
            }

            if (random.Next(5) > 0)
                writing.Commit();
        });
        switch (random.Next(8))
        {
            case 0:
                Try(() => environment.TrimFeedsAsync().AsTask().GetAwaiter().GetResult());
                break;
            case 1:
                Try(() => environment.EvolveAsync(StoreMaker.Evolving, null, new EvolveOptions { MaxBytes = 500 }).AsTask().GetAwaiter().GetResult());
                break;
            case 2:
                var name = random.Next(2) == 0 ? RecordedStore.Rows.Name : StoreMaker.Evolving.Name;
                Try(() => environment.DropTableAsync(name).AsTask().GetAwaiter().GetResult());
                break;
        }
    }

    private void ChangeTables(WriteTransaction writing)
    {
        var row = new RecordedRow(random.Next(200), random.Next());
        switch (random.Next(12))
        {
            case < 3:
                RecordedStore.Upsert(writing, row);
                break;
            case < 5:
                RecordedStore.Delete(writing, row.Key);
                break;
            case 5:
                writing.OpenTable(StoreMaker.Evolving).Upsert(row);
                break;
            case 6:
                writing.OpenTable(RecordedStore.Rows).InsertMany([row with { Key = 1_000 }, row with { Key = 1_002 }]);
                break;
            case 7:
                var most = random.Next(40);
                if (random.Next(2) == 0)
                    writing.OpenTable(RecordedStore.Rows).DeleteWhereRaw("group", KeyRange.All, most);
                else
                    writing.OpenTable(RecordedStore.Numbered).DeleteWhereRaw("pair", KeyRange.All, most);
                break;
            case 8:
                for (var key = 0; key < 200; key += 2)
                    writing.OpenTable(RecordedStore.Rows).Upsert(row with { Key = key });
                break;
            case 9:
                writing.OpenTable(RecordedStore.Rows).TryUpdate(row.Key, row.Number, static (old, number) => old with { Number = number }, out _);
                break;
            case 10:
                writing.DeleteTable(random.Next(2) == 0 ? RecordedStore.Numbered.Name : StoreMaker.Evolving.Name);
                break;
            default:
                writing.CreateTable(TableDefinition.Create("new", 1, new RecordedRowCodec(), KeyCodec.Int32, static row => row.Key)).Upsert(row);
                break;
        }
    }

    private void ChangeFeeds(WriteTransaction writing)
    {
        var key = random.Next(200);
        switch (random.Next(12))
        {
            case 0 or 1:
                writing.CreateTree(RecordedStore.TreeName).Put(RecordedStore.KeyOf(key), RecordedRow.ValueOf(key));
                break;
            case 2:
                writing.CreateTree(RecordedStore.TreeName).DeleteRange(KeyRange.From(RecordedStore.KeyOf(key)));
                break;
            case 3:
                writing.CreateFeed(random.Next(2) == 0 ? RecordedStore.Feed : "new", new FeedOptions { MaxValueBytes = random.Next(500) });
                break;
            case 4:
                RecordedStore.Create(writing, 1 << 20);
                break;
            case 5:
                writing.StopRecordingTree(RecordedStore.TreeName);
                break;
            case 6:
                writing.StopRecordingTable(RecordedStore.Rows.Name);
                break;
            case 7:
                writing.SetPosition(RecordedStore.Feed, RecordedStore.Consumer, writing.GetNewestPosition(RecordedStore.Feed));
                break;
            case 8:
                writing.RemoveConsumer(RecordedStore.Feed, RecordedStore.Consumer);
                break;
            case 9:
                writing.DeleteFeed(RecordedStore.Feed);
                break;
            case 10:
                writing.RenameTree("newer name", "newest name");
                break;
            default:
                writing.DeleteTree(random.Next(2) == 0 ? RecordedStore.TreeName : "newer name");
                break;
        }
    }

    private void SalvageRecorded(ImageDisk disk)
    {
        if (random.Next(SalvagedOneIn) > 0)
            return;
        var directory = Directory.CreateTempSubdirectory("voron-malformed-").FullName;
        try
        {
            Try(() =>
            {
                var target = Path.Combine(directory, "salvaged");
                Voron.Salvage.Run(disk, target, new SalvageOptions(), CancellationToken.None);
                using var environment = StorageEnvironment.Open(target, StoreMaker.Options(image.Form));
                var report = environment.Verify();
                BrokenPromiseException.Require(report.IsSound, $"a salvaged environment is damaged: {report}");
                ReadRecorded(environment);
            });
        }
        finally
        {
            Directory.Delete(directory, recursive: true);
        }
    }

    // A call that names a table, a feed or a tree finds that there is none, or that it is not as it was.
    private void TryNamed(Action use)
    {
        try
        {
            Try(use);
        }
        catch (Exception e) when (e is KeyNotFoundException || e.GetType() == typeof(InvalidOperationException))
        {
            ReportedErrors++;
        }
    }
}
