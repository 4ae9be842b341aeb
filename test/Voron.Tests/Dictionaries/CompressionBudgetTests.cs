using Voron.Tests.Journal;

namespace Voron.Tests.Dictionaries;

/// <summary>How many bytes each operation of a tree with compressed values writes to the journal, whose own compression is off.</summary>
public sealed class CompressionBudgetTests : IDisposable
{
    private const int Keys = 2_000;
    private const int Deleted = Keys / 5;
    private const string Plain = "plain";

    private static readonly string[] Trees = [Plain, CompressionKit.TreeName];

    private readonly TestDirectory _directory = new();
    private readonly StorageEnvironment _environment;

    public CompressionBudgetTests()
    {
        _environment = StorageEnvironment.Open(_directory.Path, CompressionKit.Options().Uncompressed());
        _environment.Write(writing => writing.CreateTree(Plain));
        _environment.Compress();

        // Pages that are new are not in the journal: what is measured changes others.
        foreach (var name in Trees)
            Put(name, 0, 0);
    }

    public void Dispose()
    {
        _environment.Dispose();
        _directory.Dispose();
    }

    // The journal has the compressed bytes: with a dictionary, a third of those of such a record.
    [Fact]
    public void A_change_writes_the_compressed_bytes()
    {
        var plain = Put(Plain, 0, 1);
        var compressed = Put(CompressionKit.TreeName, 0, 1);
        _environment.Train().Should().BeTrue();
        Put(CompressionKit.TreeName, 0, 2);
        var trained = Put(CompressionKit.TreeName, 0, 3);
        TestContext.Current.TestOutputHelper?.WriteLine($"{plain} bytes plain, {compressed} compressed, {trained} with a dictionary");
        compressed.Should().BeLessThan(plain * 3 / 4);
        trained.Should().BeLessThan(compressed * 3 / 4);
    }

    // Leaves that are divided add to both.
    [Fact]
    public void A_put_writes_the_compressed_bytes()
    {
        var plain = Put(Plain, 1, 0);
        var compressed = Put(CompressionKit.TreeName, 1, 0);
        TestContext.Current.TestOutputHelper?.WriteLine($"{plain} bytes plain, {compressed} compressed");
        compressed.Should().BeLessThan(plain * 3 / 4);
    }

    [Fact]
    public void A_deletion_costs_no_more_than_that_of_a_plain_value()
    {
        var plain = Delete(Plain);
        var compressed = Delete(CompressionKit.TreeName);
        TestContext.Current.TestOutputHelper?.WriteLine($"{plain} bytes plain, {compressed} compressed");
        compressed.Should().BeLessThanOrEqualTo(plain + 2);
    }

    // The keys of a round are every second number, from the first one on.
    private long Put(string name, int first, int round) => _environment.Journaled(writing =>
    {
        var tree = writing.OpenTree(name);
        for (var i = 0; i < Keys; i++)
            tree.Put(CompressionKit.Key(2 * i + first), CompressionKit.Record(i + round * Keys));
    }) / Keys;

    private long Delete(string name) => _environment.Journaled(writing =>
    {
        var tree = writing.OpenTree(name);
        for (var i = 0; i < Deleted; i++)
            tree.Delete(CompressionKit.Key(10 * i)).Should().BeTrue();
    }) / Deleted;
}
