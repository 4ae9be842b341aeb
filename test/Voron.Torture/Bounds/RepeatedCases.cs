using System.Diagnostics;
using System.Globalization;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;
using Voron.Tables;
using Voron.Torture.Backups;
using Voron.Torture.Feeds;
using Voron.Torture.Tables;
using Voron.Transactions;

namespace Voron.Torture.Bounds;

/// <summary>Checks that what a program does again and again, or with many objects, costs by the amount of data, and leaves nothing behind.</summary>
internal static class RepeatedCases
{
    private const long MiB = 1 << 20;

    /// <summary>A program with a table for each day.</summary>
    public static void DroppedTables(BoundPlace place)
    {
        using var environment = StorageEnvironment.Open(place.Disk, new StorageOptions());
        for (var day = 20 + place.Run.Choices.Next(20); day > 0; day--)
        {
            var name = $"day {day}";
            var daily = new RowIdKind().Define(name, 1, [TableIndex.Of(TableIndex.Expiry, 1)], new RowTraps());
            Write(environment, writing => writing.CreateTable(daily).Insert(Row(day)));
            BrokenPromiseException.Require(environment.DropTableAsync(name).AsTask().GetAwaiter().GetResult(), $"There is no table '{name}'.");
            var kept = environment.ExpiringTables;
            BrokenPromiseException.Require(kept <= 2, $"The definitions of {kept} tables are kept, and there is no table.");
        }
    }

    /// <summary>Each tree has a dictionary, whose index alone takes half a MiB.</summary>
    public static void Dictionaries(BoundPlace place)
    {
        const int Trees = 50;
        const int DictionaryBytes = 40_000;
        var options = BoundPlace.Manual(4 << 20);
        options.MemoryLimitBytes = 16 * MiB;
        using var environment = StorageEnvironment.Open(place.Disk, options);
        for (var i = 0; i < Trees; i++)
        {
            var name = i.ToString(CultureInfo.InvariantCulture);
            var dictionary = SeededBytes.Make(place.Run.Choices.Next(1_000), DictionaryBytes);
            Write(environment, writing =>
            {
                writing.CreateTree(name);
                writing.CompressValues(name, ValueCompression.Fast);
            });
            Write(environment, writing =>
                writing.Body.InstallDictionary(writing.OpenTree(name).TreeId, new TrainedDictionary(Number: 1, Ratio: 500_000, dictionary)));
            Write(environment, writing => writing.OpenTree(name).Put([1], dictionary.AsSpan(100, 400)));
        }

        var bytes = environment.Internals.Engine.Memory.Account.Bytes;
        BrokenPromiseException.Require(
            bytes <= options.MemoryLimitBytes, $"After values of {Trees} trees were compressed, {bytes} bytes of {options.MemoryLimitBytes} are in use.");
    }

    /// <summary>Expired rows come before the others in an index.</summary>
    public static void DeletedRows(BoundPlace place)
    {
        const int Expired = 40_000;
        const int Left = 5_000;
        var clock = new StepClock();
        var options = BoundPlace.Manual(4 << 20);
        options.TimeProvider = clock;
        using var environment = StorageEnvironment.Open(place.Disk, options);
        TableIndex[] indexes = [TableIndex.Of(TableIndex.Plain, 1), TableIndex.Of(TableIndex.Expiry, 1)];
        var definition = new RowIdKind().Define("rows", 1, indexes, new RowTraps());
        Write(environment, writing =>
        {
            var table = writing.CreateTable(definition);
            for (var i = 0; i < Expired + Left; i++)
                table.Insert(Row(i) with { City = "behind", Expires = i < Expired ? clock.Milliseconds + 1 : null });
            for (var i = 0; i < Left; i++)
                table.Insert(Row(Expired + Left + i) with { City = "plain" });
        });
        clock.Advance(TimeSpan.FromMinutes(1));
        using var writing = environment.BeginWrite();
        var table = writing.OpenTable(definition);
        var plain = Least(() => Delete("plain"));
        var pass = Least(() => Timed(() => Require(Count(table.FromRaw(TableIndex.Plain, Prefix("behind"))), "found")));
        var behind = Least(() => Delete("behind"));
        BrokenPromiseException.Require(
            behind < 4 * (plain + pass),
            $"{Left} rows are deleted in {plain.TotalMilliseconds:0.0} ms, and behind {Expired} others in {behind.TotalMilliseconds:0.0} ms; " +
            $"a query passes those in {pass.TotalMilliseconds:0.0} ms.");

        TimeSpan Delete(string city)
        {
            using var savepoint = writing.CreateSavepoint();
            var took = Timed(() => Require(table.DeleteWhereRaw(TableIndex.Plain, Prefix(city)), "deleted"));
            savepoint.Rollback();
            return took;
        }

        void Require(long rows, string what) => BrokenPromiseException.Require(rows == Left, $"{rows} of {Left} rows were {what}.");
    }

    /// <summary>Trees of a few bytes share the transactions of a copy.</summary>
    public static void SmallTrees(BoundPlace place)
    {
        var trees = 300 + place.Run.Choices.Next(300);
        var directory = Directory.CreateTempSubdirectory("voron-bounds-").FullName;
        try
        {
            var target = Path.Combine(directory, "copy");
            using (var environment = StorageEnvironment.Open(place.Disk, BoundPlace.Manual(4 << 20)))
            {
                Write(environment, writing =>
                {
                    for (var i = 0; i < trees; i++)
                        writing.CreateTree($"{i}").Put([1], [2]);
                });
                environment.CompactToAsync(target).AsTask().GetAwaiter().GetResult();
            }

            using var copy = StorageEnvironment.Open(target);
            var transactions = copy.GetStatistics().PublishedTransactionId;
            BrokenPromiseException.Require(transactions < trees / 4, $"A copy of {trees} small trees took {transactions} transactions.");
        }
        finally
        {
            TemporaryPlace.Delete(directory);
        }
    }

    /// <summary>Most of what a full backup has is deleted before the next one.</summary>
    public static void RestoredBlocks(BoundPlace place)
    {
        var count = 2_000 + place.Run.Choices.Next(4_000);
        using var backups = new SimulatedDisk();
        using var restored = new SimulatedDisk();
        long id;
        using (var environment = StorageEnvironment.Open(place.Disk, BoundPlace.Manual(4 << 20)))
        {
            BoundPlace.PutMany(environment, count, 1_000, 0);
            var full = BackUp(environment, "full", since: null);
            BoundPlace.DeleteAll(environment);
            id = BackUp(environment, "incremental", full.BackupId).TransactionId;
        }

        NamedBackup.Restore(backups, ["full", "incremental"], id, restored, new RestoreOptions()).Dispose();
        BrokenPromiseException.Require(
            restored.UsedBytes < 200L * count, $"{restored.UsedBytes} bytes are in use after {count} values of 1,000 bytes were deleted and restored.");

        BackupReport BackUp(StorageEnvironment environment, string name, Guid? since) =>
            environment.BackupAsync(backups, name, new BackupOptions { Since = since }, CancellationToken.None).AsTask().GetAwaiter().GetResult();
    }

    private static TableRow Row(int number) => new("", number) { City = "", Size = number };

    private static KeyRange Prefix(string city) => KeyRange.Prefix(new KeyWriter(new byte[64]).Add(city).Written.ToArray());

    private static long Count(RowQuery<TableRow> query)
    {
        var count = 0L;
        while (query.MoveNext())
            count++;
        query.Dispose();
        return count;
    }

    private static void Write(StorageEnvironment environment, Action<WriteTransaction> change)
    {
        using var writing = environment.BeginWrite();
        change(writing);
        writing.Commit();
    }

    private static TimeSpan Timed(Action action)
    {
        var start = Stopwatch.GetTimestamp();
        action();
        return Stopwatch.GetElapsedTime(start);
    }

    private static TimeSpan Least(Func<TimeSpan> round) => Enumerable.Range(0, 5).Min(_ => round());
}
