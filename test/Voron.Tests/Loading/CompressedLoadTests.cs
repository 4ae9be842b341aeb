using Voron.Format;
using Voron.Simulation.Disks;
using Voron.Tables;
using Voron.Tests.Dictionaries;
using Voron.Tests.Staging;
using Voron.Tests.Tables;
using Voron.Transactions;

namespace Voron.Tests.Loading;

/// <summary>Loads into empty trees whose values are compressed: in one commit, with dictionaries that are trained on the way.</summary>
public sealed class CompressedLoadTests : IDisposable
{
    private const string TreeName = CompressionKit.TreeName;
    private const int Count = 12_000;

    private readonly SimulatedDisk _disk = new();
    private readonly StorageEnvironment _environment;

    public CompressedLoadTests()
    {
        _environment = StorageEnvironment.Open(_disk, StagingTestKit.Options());
        _environment.Compress(ValueCompression.Fast);
    }

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose()
    {
        _environment.Dispose();
        _disk.Dispose();
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task The_values_are_compressed_with_dictionaries_of_the_load(bool sorted)
    {
        var model = Model(Count);
        await LoadAsync(model, sorted);
        LoadTestKit.Check(_environment, model, TreeName);
        Numbers().Should().NotBeEmpty().And.BeInAscendingOrder();
        var bytes = model.Values.Sum(static value => (long)value.Length);
        PagesOf(TreeName).Should().BeLessThan(bytes * 6 / 10 / _environment.Internals.Engine.PageSize);
        CheckTransactions(model);
        using var again = StorageEnvironment.Open(new CrashImages(_disk).BuildLost(_disk.TraceCount), StagingTestKit.Options());
        LoadTestKit.Check(again, model, TreeName);
    }

    /// <summary>Thorough compression, values outside their leaves, long values, and values that nothing compresses.</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Values_of_all_lengths(bool sorted)
    {
        _environment.Write(writing => writing.CompressValues(TreeName, ValueCompression.Thorough));
        var model = LoadTestKit.Entries(new Random(TestSeed.Choose()), 200, 20_000);
        for (var i = 0; i < 600; i++)
            model[CompressionKit.Key(i)] = CompressionKit.Record(i, (i % 50) switch { 0 => 90_000, 1 => 15_000, 2 => 10, _ => i * 7 });
        await LoadAsync(model, sorted);
        LoadTestKit.Check(_environment, model, TreeName);
        CheckTransactions(model);
    }

    [Fact]
    public async Task A_dictionary_of_the_tree_is_used_from_the_first_value_on()
    {
        TrainEmpty();
        var model = Model(300);
        await LoadAsync(model, sorted: true);
        LoadTestKit.Check(_environment, model, TreeName);
        Numbers().Should().Equal(1);
        (await _environment.RecompressAsync(TreeName, Token)).Rewritten.Should().Be(0);
    }

    [Fact]
    public async Task Duplicates_and_values_that_lose_leave_nothing()
    {
        var model = Model(2_000);
        var source = model.Select(static entry => KeyValuePair.Create(entry.Key, CompressionKit.Record(7, 900))).Concat(model);
        await _environment.BulkLoadAsync(TreeName, LoadTestKit.Sequence(source), new BulkLoadOptions { MemoryBytes = 1 << 20 }, Token);
        LoadTestKit.Check(_environment, model, TreeName);
        StagingTestKit.CheckUnreserved(_environment);
    }

    /// <summary>The tree would have values with dictionaries that are gone, or that are others.</summary>
    [Theory]
    [InlineData("turned off")]
    [InlineData("dropped")]
    [InlineData("another")]
    public async Task A_tree_with_other_dictionaries_is_left_alone(string change)
    {
        if (change != "another")
            TrainEmpty();
        using var load = await BeginAsync(Model(Count));
        if (change == "another")
        {
            Install(1);
        }
        else
        {
            _environment.Write(writing => writing.CompressValues(TreeName, ValueCompression.None));
            if (change == "dropped")
            {
                _environment.Recompress().DroppedDictionaries.Should().Be(1);
                _environment.Write(writing => writing.CompressValues(TreeName, ValueCompression.Fast));
            }
        }

        await load.Awaiting(at => at.CompleteAsync(Token)).Should().ThrowAsync<InvalidOperationException>().WithMessage("*changed*");
        _environment.AssertSound();
        LoadTestKit.Check(_environment, Model(0), TreeName);
    }

    /// <summary>The pass has seen an empty tree, and would drop the first dictionary, which loaded values have.</summary>
    [Fact]
    public async Task A_recompression_that_began_before_the_commit_drops_nothing()
    {
        TrainEmpty();
        using var load = await BeginAsync(Model(300));
        Install(2);
        uint treeId, changes;
        using (var reading = _environment.BeginRead())
        {
            treeId = reading.OpenTree(TreeName).TreeId;
            changes = reading.GetCompression(treeId).Changes;
        }

        await load.CompleteAsync(Token);
        using (var writing = _environment.BeginWrite())
        {
            writing.Body.DropDictionaries(treeId, below: 2, changes).Should().Be(0);
            writing.Commit();
        }

        LoadTestKit.Check(_environment, Model(300), TreeName);
    }

    [Fact]
    public async Task A_load_that_is_given_up_leaves_no_dictionary()
    {
        (await BeginAsync(Model(Count))).Dispose();
        Numbers().Should().BeEmpty();
        _environment.AssertSound();
        StagingTestKit.CheckUnreserved(_environment);
    }

    [Fact]
    public async Task Tables_with_compressed_rows_are_loaded_at_once()
    {
        var definition = TableLoadKit.Texts.CompressRows(ValueCompression.Fast);
        var items = Enumerable.Range(0, 3_000).Select(static id => TableLoadKit.Draw(new Random(id), id, 600) with { Size = 0 });
        var report = await _environment.BulkLoadAsync(definition, items, new BulkLoadOptions { MemoryBytes = 1 << 20 }, Token);
        (report.IsAtomic, report.EntriesStored).Should().Be((true, 3_000));
        _environment.MustBeSound(definition, 3_000);
    }

    private static SortedDictionary<byte[], byte[]> Model(int count)
    {
        var model = LoadTestKit.Entries(new Random(1), 0, 1);
        for (var i = 0; i < count; i++)
            model[CompressionKit.Key(i)] = CompressionKit.Record(i, 500);
        return model;
    }

    private async Task LoadAsync(SortedDictionary<byte[], byte[]> model, bool sorted)
    {
        var source = LoadTestKit.Sequence(sorted ? model : model.Reverse());
        var options = new BulkLoadOptions { Sorted = sorted, MemoryBytes = 2 << 20 };
        (await _environment.BulkLoadAsync(TreeName, source, options, Token)).IsAtomic.Should().BeTrue();
        StagingTestKit.CheckUnreserved(_environment);
    }

    private async Task<BulkLoad> BeginAsync(SortedDictionary<byte[], byte[]> model)
    {
        var load = await _environment.BeginBulkLoadAsync(TreeName, new BulkLoadOptions { Sorted = true }, Token);
        foreach (var (key, value) in model)
            load.Put(key, value);
        return load;
    }

    // The tree is empty, and has a dictionary.
    private void TrainEmpty()
    {
        _environment.Fill(0, 2_000);
        _environment.Train().Should().BeTrue();
        _environment.Write(writing => writing.OpenTree(TreeName).Clear());
    }

    private void Install(int number)
    {
        using var writing = _environment.BeginWrite();
        var dictionary = new TrainedDictionary(number, Ratio: 500_000, CompressionKit.Noise(1, 4_000));
        writing.Body.InstallDictionary(writing.OpenTree(TreeName).TreeId, dictionary).Should().BeTrue();
        writing.Commit();
    }

    // Transactions replace and delete values of the load, and their pages.
    private void CheckTransactions(SortedDictionary<byte[], byte[]> model)
    {
        var key = model.Keys.First();
        _environment.Write(writing => writing.OpenTree(TreeName).Put(key, CompressionKit.Record(1)));
        model[key] = CompressionKit.Record(1);
        LoadTestKit.Check(_environment, model, TreeName);
    }

    private List<int> Numbers()
    {
        using var reading = _environment.BeginRead();
        var treeId = reading.OpenTree(TreeName).TreeId;
        return [.. Enumerable.Range(1, PackedValue.MostDictionaries).Where(number => !reading.GetDictionary(treeId, (byte)number).IsEmpty)];
    }

    private long PagesOf(string name)
    {
        using var reading = _environment.BeginRead();
        var statistics = reading.OpenTree(name).GetStatistics();
        return statistics.LeafPages + statistics.OverflowPages;
    }
}
