using Voron.Tables;
using Voron.Tests.Dictionaries;

namespace Voron.Tool.Tests;

/// <summary>What compression saves is counted, for trees and for tables, and shown by the tool.</summary>
public sealed class CompressionStatisticsTests : IDisposable
{
    private const string Table = "notes";

    private readonly TestDirectory _directory = new();

    private static TableDefinition<string, CompressedRow> Plain { get; } = TableDefinition.Create(
        Table, 1, RowCodec.Json(CompressedRowContext.Default.CompressedRow), KeyCodec.Utf8, static (CompressedRow row) => row.Id);

    public void Dispose() => _directory.Dispose();

    [Fact]
    public void Values_are_counted_with_the_bytes_that_they_have_and_take()
    {
        using var environment = StorageEnvironment.Open(_directory.Path, CompressionKit.Options());
        environment.Write(writing => writing.CreateTree(CompressionKit.TreeName));
        environment.Fill(0, 1000);
        Count(environment).Should().Be(new CompressionStatistics(ValueCompression.None, 0, 0, 1000, 0, 0, 0));
        Count(environment).SavedShare.Should().Be(0);

        environment.Compress();
        environment.Train().Should().BeTrue();
        environment.Recompress();
        environment.Write(writing =>
        {
            var tree = writing.OpenTree(CompressionKit.TreeName);
            tree.Put(CompressionKit.Key(2000), CompressionKit.Noise(1, 700));
            tree.Put(CompressionKit.Key(2001), [1, 2, 3]);
            tree.Put(CompressionKit.Key(2002), CompressionKit.Record(2002, 15_000));
        });
        var found = Count(environment);
        var plain = Enumerable.Range(0, 1000).Sum(i => (long)CompressionKit.Record(i).Length) + CompressionKit.Record(2002, 15_000).Length;
        (found.Compression, found.Dictionaries, found.Values, found.CompressedValues, found.PlainBytes).Should()
            .Be((ValueCompression.Thorough, 1, 1003, 1001, plain));
        found.DictionaryBytes.Should().BeInRange(1_000, 64 << 10);
        found.SavedShare.Should().BeInRange(0.3, 0.9);

        // The values stored before have left room in their leaves.
        var leaves = environment.Statistics().LeafPages * (long)environment.GetStatistics().PageSize;
        found.StoredBytes.Should().BeInRange(leaves / 8, leaves);
    }

    [Fact]
    public async Task Rows_are_counted_and_the_tool_shows_trees_and_tables_that_have_compressed_values()
    {
        using (var environment = StorageEnvironment.Open(_directory.Path, CompressionKit.Options()))
        {
            environment.Write(writing =>
            {
                writing.CreateTree("other").Put([1], new byte[500]);
                var table = writing.CreateTable(Plain);
                for (var i = 0; i < 100; i++)
                    table.Insert(new CompressedRow($"row-{i}", new string('x', 500)));
            });
            environment.Compress();
            environment.Fill(0, 50);
            await environment.EvolveAsync(Plain.CompressRows(ValueCompression.Fast), cancellationToken: CompressionKit.Token);
            await environment.RecompressTableAsync(Table, CompressionKit.Token);
            using var reading = environment.BeginRead();
            var rows = reading.GetTableCompressionStatistics(Table, CompressionKit.Token);
            (rows.Compression, rows.Values, rows.CompressedValues).Should().Be((ValueCompression.Fast, 100, 100));
            rows.SavedShare.Should().BeGreaterThan(0.8);
        }

        var shown = (await ToolRun.Done("trees", _directory.Path, "--compression", "-o", "json")).Json.GetProperty("compression");
        shown.EnumerateArray().Select(row => (row.GetProperty("compressed").GetString(), row.GetProperty("compressedValues").GetInt64()))
            .Should().Equal(($"tree {CompressionKit.TreeName}", 50), ($"table {Table}", 100));
        (await ToolRun.Done("trees", _directory.Path, "-o", "json")).Json.GetProperty("compression").GetArrayLength().Should().Be(0);
    }

    // Compressed rows that are read as spans stay in the memory of their transaction, which has 64 MiB for them.
    [Fact]
    public async Task More_compressed_rows_than_a_transaction_keeps_are_dumped()
    {
        const int Rows = 4_700;
        using (var environment = StorageEnvironment.Open(Path.Combine(_directory.Path, "store"), CompressionKit.Options()))
        {
            environment.Write(writing =>
            {
                var table = writing.CreateTable(Plain);
                for (var i = 0; i < Rows; i++)
                    table.Insert(new CompressedRow($"row-{i}", new string((char)('a' + i % 20), 14_900)));
            });
            await environment.EvolveAsync(Plain.CompressRows(ValueCompression.Fast), cancellationToken: CompressionKit.Token);
            await environment.RecompressTableAsync(Table, CompressionKit.Token);
            using var reading = environment.BeginRead();
            reading.GetTableCompressionStatistics(Table, CompressionKit.Token).CompressedValues.Should().Be(Rows);
        }

        var dump = Path.Combine(_directory.Path, "dump");
        await ToolRun.Done("dump", Path.Combine(_directory.Path, "store"), Table, "--file", dump);
        var loaded = await ToolRun.Done("load", Path.Combine(_directory.Path, "back"), dump, "--write", "-o", "json");
        loaded.Json.GetProperty("entries").GetInt64().Should().Be(Rows);
        using var back = StorageEnvironment.Open(Path.Combine(_directory.Path, "back"), CompressionKit.Options());
        using var copy = back.BeginRead();
        copy.OpenTable(Plain).TryGet("row-7", out var row).Should().BeTrue();
        row!.Text.Should().Be(new string('h', 14_900));
    }

    [Fact]
    public void What_has_no_compressed_values_is_refused()
    {
        using var environment = StorageEnvironment.Open(_directory.Path, CompressionKit.Options());
        environment.Write(writing => writing.CreateIdTree("ids"));
        environment.Compress();
        environment.Fill(0, 10);
        using var reading = environment.BeginRead();
        reading.Invoking(it => it.GetCompressionStatistics("ids", CompressionKit.Token)).Should().Throw<InvalidOperationException>();
        reading.Invoking(it => it.GetCompressionStatistics("none", CompressionKit.Token)).Should().Throw<KeyNotFoundException>();
        reading.Invoking(it => it.GetTableCompressionStatistics("none", CompressionKit.Token)).Should().Throw<KeyNotFoundException>();
        reading.Invoking(it => it.GetCompressionStatistics(CompressionKit.TreeName, new CancellationToken(canceled: true)))
            .Should().Throw<OperationCanceledException>();
    }

    private static CompressionStatistics Count(StorageEnvironment environment)
    {
        using var reading = environment.BeginRead();
        return reading.GetCompressionStatistics(CompressionKit.TreeName, CompressionKit.Token);
    }
}
