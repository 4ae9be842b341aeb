using Voron.Feeds;
using Voron.Tables;
using Voron.Trees;

namespace Voron.Tests.Tables;

/// <summary>The times of rows go wherever their table goes, and what does not agree with them is found.</summary>
public sealed class ExpirySurroundingsTests : IDisposable
{
    private const int Rows = 600;

    private readonly TestDirectory _directory = new();
    private readonly SetClock _clock = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    private string Store => Path.Combine(_directory.Path, "store");

    private string Other => Path.Combine(_directory.Path, "other");

    public void Dispose() => _directory.Dispose();

    [Theory]
    [InlineData("copy")]
    [InlineData("compact")]
    [InlineData("backup")]
    public async Task Copies_have_the_times(string way)
    {
        using (var environment = Open(Store))
        {
            Fill(environment);
            if (way == "copy")
                await environment.CopyToAsync(Other, null, Token);
            else if (way == "compact")
                await environment.CompactToAsync(Other, null, Token);
            else
                await environment.BackupAsync(Path.Combine(_directory.Path, "backup"), null, Token);
        }

        if (way == "backup")
            await BackupFile.RestoreAsync([Path.Combine(_directory.Path, "backup")], Other, null, Token);
        using var copy = Open(Other);
        copy.MustBeSound(ExpiryKit.Items, Rows);
        copy.Read().Should().HaveCount(Rows);
        _clock.PassMinutes(2);
        copy.Read().Should().HaveCount(Rows / 2);
        (await copy.DeleteExpiredAsync(ExpiryKit.Items, Token)).Should().Be(Rows / 2);
        copy.MustBeSound(ExpiryKit.Items, Rows / 2);
    }

    [Fact]
    public async Task A_salvage_leaves_the_times_to_be_built_where_they_may_be_wrong()
    {
        using (var environment = Open(Store))
            Fill(environment);
        File.Delete(Path.Combine(Store, "voron.header"));
        File.Delete(Directory.GetFiles(Store, "journal-*").Order().First());
        var report = await Salvage.RunAsync(Store, Other, null, Token);
        report.Tables.Should().ContainSingle().Which.IndexesToBuild.Should().Equal("section", "source", "(expiry)");
        _clock.PassMinutes(2);
        using var salvaged = Open(Other);
        salvaged.Read().Should().HaveCount(Rows, "rows expire when the index of their times is ready");
        await FluentActions.Awaiting(() => salvaged.DeleteExpiredAsync(ExpiryKit.Items, Token).AsTask())
            .Should().ThrowAsync<IndexNotReadyException>();
        await salvaged.EvolveAsync(ExpiryKit.Items, cancellationToken: Token);
        salvaged.Read().Should().HaveCount(Rows / 2);
        salvaged.MustBeSound(ExpiryKit.Items, Rows);
    }

    [Theory]
    [InlineData("an entry less", "row 1 is not under its key")]
    [InlineData("an entry more", "the index '(expiry)' has 301 entries, but the rows have 300 keys")]
    [InlineData("no time in a row", "row 1 expires at no time, but at")]
    [InlineData("another time in a row", "row 1 expires at 5 ms after 1970, but at")]
    [InlineData("another function", "row 0 expires at no time, but at")]
    public void A_verification_finds_times_that_do_not_agree(string damage, string problem)
    {
        using var environment = Open(Store);
        Fill(environment);
        environment.Write(writing =>
        {
            var schema = BoundTable.Open(new SystemTreeAccess(writing), ExpiryKit.Items.Functions)!.Schema;
            var index = writing.FindSystemIdTree(schema.Expiring!.TreeName(schema.Id))!.Value;
            var rows = writing.FindSystemTree(SystemTree.RowsName(schema.Id))!.Value;
            var key = RowExpiry.WriteKey(RowExpiry.Of(ExpiryKit.Start.AddMinutes(1)), new byte[RowExpiry.KeyBytes]);
            var rowKey = RowIdBytes.Write(1, new byte[RowIdBytes.Bytes]);
            if (damage == "an entry less")
                index.Remove(key, 1);
            else if (damage == "an entry more")
                index.Add(key, 2);
            else if (damage.EndsWith("in a row", StringComparison.Ordinal))
                rows.Put(rowKey, RowLayout.WithExpiry(rows.Get(rowKey), damage.StartsWith("no", StringComparison.Ordinal) ? null : 5));
        });
        var definition = damage == "another function" ? ExpiryKit.Timeless.Expire(static _ => ExpiryKit.Start.AddMinutes(1)) : ExpiryKit.Items;
        environment.VerifyTable(definition).Problems.Should().Contain(found => found.Contains(problem, StringComparison.Ordinal));
    }

    [Fact]
    public async Task A_deletion_passes_wrong_entries_and_names_the_first_one()
    {
        using var environment = Open(Store);
        Fill(environment);
        environment.Write(writing =>
        {
            var schema = BoundTable.Open(new SystemTreeAccess(writing), ExpiryKit.Items.Functions)!.Schema;
            var index = writing.FindSystemIdTree(schema.Expiring!.TreeName(schema.Id))!.Value;
            index.Add(RowExpiry.WriteKey(0, new byte[RowExpiry.KeyBytes]), 2);
            index.Add(RowExpiry.WriteKey(0, new byte[RowExpiry.KeyBytes]), 1_000_000);
        });
        _clock.PassMinutes(2);
        await FluentActions.Awaiting(() => environment.DeleteExpiredAsync(ExpiryKit.Items, Token).AsTask())
            .Should().ThrowAsync<CorruptionException>().WithMessage("*names row 2, which has another time*");
        environment.Read().Should().HaveCount(Rows / 2);
        environment.GetTables()[0].Rows.Should().Be(Rows / 2);
    }

    [Fact]
    public async Task A_copy_made_of_a_feed_has_the_same_rows_when_expired_ones_are_deleted()
    {
        using var environment = Open(Store);
        environment.Write(writing =>
        {
            writing.CreateTable(ExpiryKit.Items);
            writing.CreateFeed("feed");
            writing.RecordTable("feed", "items");
        });
        var random = new Random(11);
        for (var i = 0; i < 400; i++)
        {
            _clock.PassMinutes(random.NextDouble());
            environment.Write(writing =>
            {
                var table = writing.OpenTable(ExpiryKit.Items);
                for (var calls = random.Next(6); calls > 0; calls--)
                    Change(table, random);
            });
            if (i % 50 == 49)
                await environment.DeleteExpiredAsync(ExpiryKit.Items, Token);
        }

        await environment.DeleteExpiredAsync(ExpiryKit.Items, Token);
        using var reading = environment.BeginRead();
        var copy = new Dictionary<string, byte[]>();
        var batch = new ChangeBatch();
        for (var position = ChangePosition.Start; reading.ReadChanges("feed", position, batch); position = batch.Position)
        {
            foreach (var change in batch)
                Apply(copy, change);
        }

        var rows = reading.OpenTable(ExpiryKit.Items);
        environment.MustBeSound(ExpiryKit.Items, copy.Count);
        var ids = TableKit.Ids(rows.ByKey());
        ids.Should().Equal(copy.Keys.Order(StringComparer.Ordinal));
        ids.Should().NotBeEmpty();
    }

    private static void Change(WriteTable<string, Item> table, Random random)
    {
        var item = new Item($"i{random.Next(40):D2}", $"s{random.Next(3)}", random.Next(2) * random.Next(250), $"source {random.Next(30)}");
        try
        {
            if (random.Next(4) == 0)
                table.Delete(item.Id);
            else if (random.Next(2) == 0)
                table.Insert(item);
            else
                table.Upsert(item);
        }
        catch (DuplicateKeyException)
        {
            // Of an unexpired row.
        }
    }

    // Each change fits what the copy has: an insert comes after the deletion of an expired row.
    private static void Apply(Dictionary<string, byte[]> copy, Change change)
    {
        var key = System.Text.Encoding.UTF8.GetString(change.Key);
        switch (change.Operation)
        {
            case ChangeOperation.Insert:
                copy.Add(key, []);
                break;
            case ChangeOperation.Update:
                copy.Should().ContainKey(key);
                break;
            case ChangeOperation.Delete:
                copy.Remove(key).Should().BeTrue();
                break;
        }
    }

    private static void Fill(StorageEnvironment environment) => environment.Insert(
        ExpiryKit.Items, [.. Enumerable.Range(0, Rows).Select(i => new Item($"i{i:D4}", $"s{i % 7}", i % 2, $"source {i}"))]);

    private StorageEnvironment Open(string path) => StorageEnvironment.Open(path, ExpiryKit.Options(_clock));
}
