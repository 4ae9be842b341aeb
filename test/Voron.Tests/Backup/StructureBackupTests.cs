using System.Text;
using Voron.Feeds;
using Voron.Simulation.Disks;
using Voron.Tables;
using Voron.Tests.Dictionaries;
using Voron.Tests.Faults;
using Voron.Tests.Tables;

namespace Voron.Tests.Backup;

/// <summary>Full and incremental backups have the content of structures of every kind, and restored environments are sound.</summary>
public sealed class StructureBackupTests : IDisposable
{
    private const int Entries = 3_000;
    private const int Changed = 40;

    private static readonly Dictionary<string, Structure> Structures = new()
    {
        ["fixed-size tree"] = new(FillFixed, ReadFixed),
        ["tree of id sets"] = new(FillIds, ReadIds),
        ["tree of value sets"] = new(FillValueSets, ReadValueSets),
        ["compressed values"] = new(FillCompressed, ReadCompressed),
        ["table"] = new((writing, round) => FillTable(writing, TableKit.Items, round), reading => ReadTable(reading, TableKit.Items))
        {
            Verify = static environment => MustBeSound(environment, TableKit.Items),
        },
        ["table whose rows expire"] = new(
            (writing, round) => FillTable(writing, ExpiryKit.Items, round), reading => ReadTable(reading, ExpiryKit.Items))
        {
            Verify = static environment => MustBeSound(environment, ExpiryKit.Items),
        },
        ["tables that share an index"] = new(FillShared, ReadShared)
        {
            Verify = static environment =>
            {
                MustBeSound(environment, SharedIndexKit.Books);
                MustBeSound(environment, SharedIndexKit.Notes);
            },
        },
        ["feed"] = new(FillFeed, ReadFeed)
        {
            Verify = static environment => environment.VerifyFeed("feed").Problems.Should().BeEmpty(),
        },
    };

    private readonly TestDirectory _directory = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _directory.Dispose();

    public static TheoryData<string> Names() => [.. Structures.Keys];

    [Theory]
    [MemberData(nameof(Names))]
    public async Task A_full_and_an_incremental_backup_restore_all_of_it(string name)
    {
        var structure = Structures[name];
        var set = BackupSet.Open(Path.Combine(_directory.Path, "set"));
        List<string> before, after;
        BackupReport full, incremental;
        using (var disk = new SimulatedDisk())
        using (var environment = StorageEnvironment.Open(disk, Options()))
        {
            environment.Write(writing => structure.Fill(writing));
            before = structure.ReadAll(environment);
            full = await set.BackupAsync(environment, BackupKind.Full, cancellationToken: Token);
            environment.Write(writing => structure.Change(writing));
            after = structure.ReadAll(environment);
            incremental = await set.BackupAsync(environment, BackupKind.Incremental, cancellationToken: Token);
        }

        before.Count.Should().BeGreaterThan(Entries / 2);
        after.Should().NotEqual(before);
        incremental.ParentId.Should().Be(full.BackupId);
        incremental.Bytes.Should().BeLessThan(full.Bytes * 3 / 4, "only a part of the pages has changed");
        await Check(structure, set, "newest", null, after);
        await Check(structure, set, "first", incremental.Time!.Value.AddTicks(-1), before);
    }

    private static StorageOptions Options()
    {
        var options = BackupTestKit.Options();
        options.TimeProvider = new SetClock();
        return options;
    }

    private async Task Check(Structure structure, BackupSet set, string name, DateTimeOffset? notAfter, List<string> expected)
    {
        var target = Path.Combine(_directory.Path, name);
        (await set.RestoreAsync(target, notAfter, cancellationToken: Token)).Verification!.Problems.Should().BeEmpty();
        using var restored = StorageEnvironment.Open(target, Options());
        structure.ReadAll(restored).Should().Equal(expected);
        restored.Verify().Problems.Should().BeEmpty();
        structure.Verify?.Invoke(restored);

        // What is restored can be changed.
        restored.Write(writing => structure.Fill(writing));
        restored.Verify().Problems.Should().BeEmpty();
    }

    private static void MustBeSound(StorageEnvironment environment, TableDefinition<string, Item> definition) =>
        environment.VerifyTable(definition).Problems.Should().BeEmpty();

    // All entries, or at the second time a few of them: some go, some change, some are new.
    private static IEnumerable<int> Numbers(int round) =>
        round == 0 ? Enumerable.Range(0, Entries) : Enumerable.Range(Entries - Changed, 2 * Changed);

    private static bool Goes(int number, int round) => round > 0 && number % 3 == 0;

    private static void FillFixed(WriteTransaction writing, int round)
    {
        var tree = writing.CreateFixedTree<long>("t");
        foreach (var i in Numbers(round))
        {
            if (Goes(i, round))
                tree.Delete(i);
            else
                tree.Put(i, 7L * i + round);
        }
    }

    private static IEnumerable<string> ReadFixed(ReadTransaction reading)
    {
        using var cursor = reading.OpenFixedTree<long>("t").OpenCursor();
        for (var found = cursor.SeekFirst(); found; found = cursor.MoveNext())
            yield return $"{cursor.Key} {cursor.ValueAs<long>()}";
    }

    // A set of one id, sets of few, and one with pages of its own.
    private static void FillIds(WriteTransaction writing, int round)
    {
        var tree = writing.CreateIdTree("t");
        foreach (var i in Numbers(round))
        {
            byte[][] keys = [FaultTestKit.Key(i), FaultTestKit.Key(i / 10), "many"u8.ToArray()];
            foreach (var key in keys)
            {
                if (Goes(i, round))
                    tree.Remove(key, i);
                else
                    tree.Add(key, i, (byte)(i + round));
            }
        }
    }

    private static IEnumerable<string> ReadIds(ReadTransaction reading)
    {
        using var keys = reading.OpenIdTree("t").OpenCursor();
        while (keys.MoveNext())
        {
            var key = Encoding.ASCII.GetString(keys.Key);
            using var ids = keys.OpenIds();
            while (ids.MoveNext())
                yield return $"{key} {ids.Id} {ids.Payload}";
        }
    }

    // Small sets, and a large one in the companion of the tree.
    private static void FillValueSets(WriteTransaction writing, int round)
    {
        var tree = writing.CreateValueSetTree("t");
        foreach (var i in Numbers(round))
        {
            byte[][] keys = [FaultTestKit.Key(i / 10), "large"u8.ToArray()];
            foreach (var key in keys)
            {
                if (Goes(i, round))
                    tree.Remove(key, FaultTestKit.Key(i));
                else
                    tree.Add(key, FaultTestKit.Key(i));
            }
        }
    }

    private static IEnumerable<string> ReadValueSets(ReadTransaction reading)
    {
        using var cursor = reading.OpenValueSetTree("t").OpenCursor();
        while (cursor.MoveNext())
            yield return $"{Encoding.ASCII.GetString(cursor.Key)} {Encoding.ASCII.GetString(cursor.Value)}";
    }

    private static void FillCompressed(WriteTransaction writing, int round)
    {
        var tree = writing.CreateTree("t");
        writing.CompressValues("t", ValueCompression.Fast);
        foreach (var i in Numbers(round))
        {
            if (Goes(i, round))
                tree.Delete(FaultTestKit.Key(i));
            else
                tree.Put(FaultTestKit.Key(i), CompressionKit.Record(i + round, 200));
        }
    }

    private static List<string> ReadCompressed(ReadTransaction reading)
    {
        var values = new List<string>();
        foreach (var entry in reading.OpenTree("t").GetEntries())
            values.Add($"{Encoding.ASCII.GetString(entry.Key)} {Encoding.UTF8.GetString(entry.Value)}");
        return values;
    }

    private static void FillTable(WriteTransaction writing, TableDefinition<string, Item> definition, int round)
    {
        var table = writing.CreateTable(definition);
        foreach (var i in Numbers(round))
        {
            var id = $"row {i:D6}";
            if (Goes(i, round))
                table.Delete(id);
            else
                table.Upsert(new Item(id, $"section {i % 20}", 50 + i + round, $"source {i}") { Tags = [$"tag {i % 7}", "all"] });
        }
    }

    private static List<string> ReadTable(ReadTransaction reading, TableDefinition<string, Item> definition)
    {
        var table = reading.OpenTable(definition);
        var rows = new List<string>();
        foreach (var query in new[] { table.ByKey(), table.From("section") })
        {
            foreach (var item in query)
                rows.Add($"{item.Id} {item.Section} {item.Size} {item.Source} {string.Join(',', item.Tags)}");
        }

        return rows;
    }

    private static void FillShared(WriteTransaction writing, int round)
    {
        FillTable(writing, SharedIndexKit.Books, round);
        FillTable(writing, SharedIndexKit.Notes, round);
    }

    private static IEnumerable<string> ReadShared(ReadTransaction reading)
    {
        using var query = reading.QuerySharedIndex(SharedIndexKit.Tags);
        while (query.MoveNext())
            yield return $"{Convert.ToHexString(query.Key)} {query.Current}";
    }

    private static void FillFeed(WriteTransaction writing, int round)
    {
        writing.CreateFeed("feed");
        writing.CreateTree("t");
        writing.RecordTree("feed", "t");
        var tree = writing.OpenTree("t");
        foreach (var i in Numbers(round))
        {
            if (Goes(i, round))
                tree.Delete(FaultTestKit.Key(i));
            else
                tree.Put(FaultTestKit.Key(i), FaultTestKit.Value(i + round, 20));
        }
    }

    // Positions have another stamp after a restore, since another history may follow.
    private static List<string> ReadFeed(ReadTransaction reading)
    {
        var changes = new List<string>();
        var batch = new ChangeBatch();
        for (var position = ChangePosition.Start; reading.ReadChanges("feed", position, batch); position = batch.Position)
        {
            foreach (var change in batch)
            {
                var place = $"{change.TransactionId}-{change.Position.Ordinal}";
                changes.Add($"{place} {change.Operation} {Convert.ToHexString(change.Key)} {Convert.ToHexString(change.NewValue)}");
            }
        }

        return changes;
    }

    /// <summary>What makes and reads a structure.</summary>
    /// <param name="Write">Fills it in round 0, and changes a little in round 1.</param>
    /// <param name="Read">Returns all of its content.</param>
    private sealed record Structure(Action<WriteTransaction, int> Write, Func<ReadTransaction, IEnumerable<string>> Read)
    {
        public Action<StorageEnvironment>? Verify { get; init; }

        public void Fill(WriteTransaction writing) => Write(writing, 0);

        public void Change(WriteTransaction writing) => Write(writing, 1);

        public List<string> ReadAll(StorageEnvironment environment)
        {
            using var reading = environment.BeginRead();
            return [.. Read(reading)];
        }
    }
}
