using System.Runtime.InteropServices;
using Voron.Feeds;
using Voron.Format;
using Voron.Tables;
using Voron.Tests.Feeds;
using Voron.Tests.Maintenance;

namespace Voron.Tests.Dictionaries;

/// <summary>Compressed values beside all that copies, records, moves and mends.</summary>
public sealed class CompressedSurroundingsTests : IDisposable
{
    private readonly TestDirectory _directory = new();

    private static CancellationToken Token => CompressionKit.Token;

    private string Store => Path.Combine(_directory.Path, "store");

    private string Other => Path.Combine(_directory.Path, "other");

    public void Dispose() => _directory.Dispose();

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void The_first_compression_names_the_feature(int version)
    {
        var options = CompressionKit.Options();
        options.FormatVersion = version;
        using var environment = StorageEnvironment.Open(Store, options);
        environment.Write(writing => writing.CreateTree(CompressionKit.TreeName));
        environment.Internals.Engine.Format.Has(FormatFeatures.CompressedValues).Should().BeFalse();
        environment.Compress();
        environment.Internals.Engine.Format.Has(FormatFeatures.CompressedValues).Should().BeTrue();
        environment.Fill(0, 100);
        environment.AssertSound();
    }

    [Fact]
    public void Feeds_have_the_plain_values()
    {
        using var environment = StorageEnvironment.Open(Store, CompressionKit.Options());
        environment.Write(writing =>
        {
            writing.CreateFeed(FeedKit.Feed);
            writing.CreateTree(CompressionKit.TreeName);
            writing.CompressValues(CompressionKit.TreeName, ValueCompression.Thorough);
            writing.RecordTree(FeedKit.Feed, CompressionKit.TreeName);
        });
        environment.Fill(0, 200);
        environment.Train().Should().BeTrue();
        environment.Fill(200, 200);
        environment.Recompress().Rewritten.Should().BeGreaterThanOrEqualTo(200);
        var next = 0;
        using var reading = environment.BeginRead();
        var batch = new ChangeBatch();
        for (var after = default(ChangePosition); reading.ReadChanges(FeedKit.Feed, after, batch); after = batch.Position)
        {
            foreach (var change in batch)
            {
                if (change.Operation != ChangeOperation.Put)
                    continue;
                change.NewValue.SequenceEqual(CompressionKit.Record(next++)).Should().BeTrue();
            }
        }

        next.Should().Be(400, "a recompression changes no value");
    }

    [Fact]
    public async Task Copies_of_all_kinds_have_the_values()
    {
        using var environment = StorageEnvironment.Open(Store, CompressionKit.Options());
        Prepare(environment);
        await environment.CompactToAsync(Other, null, Token);
        using (var copy = StorageEnvironment.Open(Other, CompressionKit.Options()))
        {
            Check(copy, 1000);
            copy.Statistics().LeafPages.Should().BeLessThan(environment.Statistics().LeafPages * 11 / 10);
            copy.Write(writing => writing.GetValueCompression(CompressionKit.TreeName)).Should().Be(ValueCompression.Thorough);
            copy.Fill(1000, 100);
            Check(copy, 1100);
            copy.AssertSound();
        }

        var backup = Path.Combine(_directory.Path, "backup");
        await environment.BackupAsync(backup, null, Token);
        var restored = Path.Combine(_directory.Path, "restored");
        await BackupFile.RestoreAsync(backup, restored, null, Token);
        using (var opened = StorageEnvironment.Open(restored, CompressionKit.Options()))
        {
            Check(opened, 1000);
            opened.AssertSound();
        }

        environment.Write(writing => writing.OpenTree(CompressionKit.TreeName).DeleteRange(KeyRange.Before(CompressionKit.Key(700))));
        await environment.CompactAsync(null, Token);
        environment.AssertSound();
        ScrubTestKit.ScrubAll(environment, Token).Problems.Should().BeEmpty();
        Check(environment, 1000, from: 700);
    }

    [Theory]
    [InlineData("")]
    [InlineData("voron.header")]
    public async Task A_salvage_has_plain_values(string missing)
    {
        using (var environment = StorageEnvironment.Open(Store, CompressionKit.Options()))
        {
            Prepare(environment);
            environment.Write(writing => writing.OpenTree(CompressionKit.TreeName).Put(CompressionKit.Key(5), CompressionKit.Record(5, 15_000)));
            environment.Flush();
        }

        if (missing.Length > 0)
            File.Delete(Path.Combine(Store, missing));
        var report = await Salvage.RunAsync(Store, Other, null, Token);
        report.Trees.Should().OnlyContain(tree => !tree.HasLosses);
        report.HasLosses.Should().Be(missing.Length > 0, "{0}", report);
        using var salvaged = StorageEnvironment.Open(Other, CompressionKit.Options());
        salvaged.AssertSound();
        using var reading = salvaged.BeginRead();
        reading.GetValueCompression(CompressionKit.TreeName).Should().Be(ValueCompression.None);
        var items = reading.OpenTree(CompressionKit.TreeName);
        items.Count.Should().Be(1000);
        for (var i = 0; i < 1000; i++)
            items.Get(CompressionKit.Key(i)).Should().Equal(CompressionKit.Record(i, i == 5 ? 15_000 : 700));
    }

    [Fact]
    public async Task Rows_of_a_table_are_compressed()
    {
        var plain = TableDefinition.Create(
            "notes", 1, RowCodec.Json(CompressedRowContext.Default.CompressedRow), KeyCodec.Utf8, static (CompressedRow row) => row.Id);
        var packed = plain.CompressRows(ValueCompression.Thorough);
        using var environment = StorageEnvironment.Open(Store, CompressionKit.Options());
        environment.Write(writing =>
        {
            var table = writing.CreateTable(plain);
            for (var i = 0; i < 500; i++)
                table.Insert(Row(i));
        });
        await environment.EvolveAsync(packed, cancellationToken: Token);
        (await environment.RecompressTableAsync("notes", Token)).Rewritten.Should().Be(500);
        environment.Write(writing =>
        {
            var table = writing.OpenTable(packed);
            for (var i = 400; i < 600; i++)
                table.Upsert(Row(i));
            table.Delete("row-7").Should().BeTrue();
        });
        using var reading = environment.BeginRead();
        var rows = reading.OpenTable(packed);
        rows.TryGet("row-8", out var found).Should().BeTrue();
        found!.Text.Should().Be(Row(8).Text);
        rows.TryGetReader("row-9", out _).Should().BeTrue();
        rows.Scan().Count().Should().Be(599);
        environment.AssertSound();
    }

    [Fact]
    public void A_forged_record_is_malformed_or_an_exception()
    {
        Span<byte> record = stackalloc byte[40];
        foreach (var (change, isSound) in new (Action<PackedValue[]>, bool)[]
        {
            (_ => { }, true), (value => value[0].Codec = 2, false), (value => value[0].Dictionary = 251, false),
            (value => value[0].Dictionary = 250, true),
            (value => value[0].Length = 63, false), (value => value[0].Length = 65_537, false), (value => value[0].Length = -1, false),
            (value => value[0].Form = (ExtendedForm)5, false), (value => value[0].Form = (ExtendedForm)8, false),
            (value => value[0].Form = ExtendedForm.PackedOutside, false),
        })
        {
            PackedValue[] header = [new() { Form = ExtendedForm.Packed, Codec = PackedValue.Lz4, Dictionary = 1, Length = 100 }];
            change(header);
            MemoryMarshal.Write(record, header[0]);
            IsSound(record).Should().Be(isSound);
        }

        static unsafe bool IsSound(Span<byte> record)
        {
            fixed (byte* bytes = record)
                return ExtendedRecord.IsSound(bytes, record.Length);
        }
    }

    [Fact]
    public void A_dictionary_that_is_missing_or_damaged_is_reported_with_the_key()
    {
        using var environment = StorageEnvironment.Open(Store, CompressionKit.Options());
        Prepare(environment);
        environment.Dispose();
        using var again = StorageEnvironment.Open(Store, CompressionKit.Options());
        ForgeDictionary(again, bytes: 100);
        var get = () => again.Write(writing => writing.OpenTree(CompressionKit.TreeName).Get(CompressionKit.Key(1)));
        get.Should().Throw<CorruptionException>().WithMessage("*key*tree with id*dictionary 1*");
        again.Verify().Problems.Should().NotBeEmpty().And.Contain(problem => problem.Contains("dictionary 1", StringComparison.Ordinal));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(11)]
    [InlineData(16)]
    [InlineData(100)]
    public void A_put_reports_a_damaged_dictionary_of_any_length_and_statistics_do_not(int bytes)
    {
        using (var environment = StorageEnvironment.Open(Store, CompressionKit.Options()))
            Prepare(environment);
        using var again = StorageEnvironment.Open(Store, CompressionKit.Options());
        ForgeDictionary(again, bytes);
        var put = () => again.Fill(0, 1);
        put.Should().Throw<CorruptionException>().WithMessage("Dictionary 1 of the tree with id*is damaged. Nothing was written.*");
        using var reading = again.BeginRead();
        reading.GetCompressionStatistics(CompressionKit.TreeName, CompressionKit.Token).DictionaryBytes.Should().Be(Math.Max(0, bytes - 16));
    }

    private static void ForgeDictionary(StorageEnvironment environment, int bytes) => environment.Write(writing =>
    {
        var treeId = writing.OpenTree(CompressionKit.TreeName).TreeId;
        var name = Voron.Trees.SystemTree.DictionariesName(treeId, new byte[Voron.Trees.SystemTree.DictionariesNameBytes]);
        writing.FindSystemTree(name)!.Value.Put([1], new byte[bytes]);
    });

    private static CompressedRow Row(int number) => new($"row-{number}", System.Text.Encoding.UTF8.GetString(CompressionKit.Record(number, 400)));

    private static void Prepare(StorageEnvironment environment)
    {
        environment.Compress();
        environment.Fill(0, 1000);
        environment.Train().Should().BeTrue();
        environment.Recompress().Rewritten.Should().Be(1000);
    }

    private static void Check(StorageEnvironment environment, int count, int from = 0)
    {
        using var reading = environment.BeginRead();
        var tree = reading.OpenTree(CompressionKit.TreeName);
        tree.Count.Should().Be(count - from);
        for (var i = from; i < count; i++)
            tree.Get(CompressionKit.Key(i)).Should().Equal(CompressionKit.Record(i));
    }
}
