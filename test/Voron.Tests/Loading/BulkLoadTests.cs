using Voron.IO;
using Voron.Paging;
using Voron.Simulation.Disks;
using Voron.Tests.Staging;

namespace Voron.Tests.Loading;

/// <summary>A bulk load stores what its source delivers, in one commit where the tree was new or empty.</summary>
public sealed class BulkLoadTests : IDisposable
{
    private readonly TestDirectory _directory = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _directory.Dispose();

    [Theory]
    [InlineData(0, 100)]
    [InlineData(1, 100)]
    [InlineData(60_000, 100)]
    [InlineData(2_000, 9_000)]
    [InlineData(300, 400_000)]
    public async Task Sorted_entries_are_stored_and_survive(int count, int longest)
    {
        var model = LoadTestKit.Entries(new Random(TestSeed.Choose()), count, longest);
        using (var environment = StorageEnvironment.Open(_directory))
        {
            var report = await environment.BulkLoadAsync("t", LoadTestKit.Sequence(model), new BulkLoadOptions { Sorted = true }, Token);
            (report.EntriesTaken, report.EntriesStored, report.IsAtomic).Should().Be((count, count, true));
            LoadTestKit.Check(environment, model);
            environment.Write(writing => Change(writing.OpenTree("t"), model));
            LoadTestKit.Check(environment, model);
        }

        using var again = StorageEnvironment.Open(_directory);
        LoadTestKit.Check(again, model);
    }

    /// <summary>Branches stay in memory while leaves are written, so no split waits for a write to read one back.</summary>
    [Fact]
    public async Task Sorted_entries_read_no_page_back()
    {
        using var disk = new SimulatedDisk();
        var options = StagingTestKit.Options();

        // A round has 32 KiB.
        options.ScratchMemoryBytes = 4 << 20;
        using var environment = StorageEnvironment.Open(disk, options);
        var model = LoadTestKit.Entries(new Random(TestSeed.Choose()), 10_000, 300);
        var (reads, written) = (0, 0L);
        disk.FailNext(
            call =>
            {
                reads += call.Kind == DiskCallKind.Read ? 1 : 0;
                written += call is { Kind: DiskCallKind.Write, Name: DataFile.FileName } ? call.Length : 0;
                return false;
            },
            DiskError.Failed);
        await environment.BulkLoadAsync("t", LoadTestKit.Sequence(model), new BulkLoadOptions { Sorted = true }, Token);
        disk.ClearFaults();
        reads.Should().BeLessThan(10, "those of the transactions");
        written.Should().BeLessThan(model.Sum(static entry => entry.Key.Length + entry.Value.Length) * 5 / 4);
        LoadTestKit.Check(environment, model);
    }

    [Theory]
    [InlineData(0, 100, 4096)]
    [InlineData(60_000, 100, 4096)]
    [InlineData(3_000, 9_000, 4096)]
    [InlineData(300, 400_000, 4096)]
    [InlineData(20_000, 300, 65_536)]
    public async Task Entries_in_any_order_are_sorted_in_the_memory_of_the_option(int count, int longest, int pageSize)
    {
        var random = new Random(TestSeed.Choose());
        var model = LoadTestKit.Entries(random, count, longest);
        var keys = model.Keys.ToArray();
        random.Shuffle(keys);

        // A tenth of the keys comes twice, first with another value.
        var entries = keys[..(count / 10)].Select(key => KeyValuePair.Create(key, new byte[random.Next(longest)]))
            .Concat(keys.Select(key => KeyValuePair.Create(key, model[key])));
        var spill = Directory.CreateDirectory(Path.Combine(_directory, "spill")).FullName;
        var options = new BulkLoadOptions { MemoryBytes = 1 << 20, SpillDirectory = spill };
        using var environment = StorageEnvironment.Open(Path.Combine(_directory, "store"), new StorageOptions { PageSize = pageSize });
        var report = await environment.BulkLoadAsync("t", LoadTestKit.Sequence(entries), options, Token);
        (report.EntriesTaken, report.EntriesStored, report.IsAtomic).Should().Be((count + count / 10, count, true));
        (report.BytesSpilled > 0).Should().Be(report.BytesTaken > 1 << 20 && longest < 100_000);
        LoadTestKit.Check(environment, model);
        Directory.GetFiles(spill).Should().BeEmpty();
        StagingTestKit.CheckUnreserved(environment);
    }

    [Fact]
    public async Task A_tree_with_entries_is_filled_in_key_order()
    {
        var model = LoadTestKit.Entries(new Random(TestSeed.Choose()), 40_000, 600);
        var keys = model.Keys.ToArray();
        new Random(2).Shuffle(keys);
        using var environment = StorageEnvironment.Open(_directory);
        environment.Write(writing =>
        {
            foreach (var key in keys[..20_000])
                writing.CreateTree("t").Put(key, "old"u8);
        });
        var source = LoadTestKit.Sequence(keys.Select(key => KeyValuePair.Create(key, model[key])));
        var report = await environment.BulkLoadAsync("t", source, new BulkLoadOptions { MemoryBytes = 2 << 20 }, Token);
        (report.EntriesStored, report.IsAtomic).Should().Be((40_000, false));
        LoadTestKit.Check(environment, model);
    }

    [Theory]
    [InlineData(DuplicateKeys.LastWins)]
    [InlineData(DuplicateKeys.FirstWins)]
    public async Task Long_values_in_any_order_go_into_a_tree_with_entries(DuplicateKeys duplicates)
    {
        var model = LoadTestKit.Entries(new Random(TestSeed.Choose()), 60, 300_000);
        model["longest"u8.ToArray()] = new byte[5 << 20];
        using var environment = StorageEnvironment.Open(_directory);
        var first = model.Keys.First();
        environment.Write(writing => writing.CreateTree("t").Put(first, "old"u8));
        var options = new BulkLoadOptions { MemoryBytes = 1 << 20, Duplicates = duplicates };
        var report = await environment.BulkLoadAsync("t", LoadTestKit.Sequence(model.Reverse()), options, Token);
        (report.EntriesStored, report.IsAtomic).Should().Be((duplicates == DuplicateKeys.LastWins ? model.Count : model.Count - 1, false));
        if (duplicates == DuplicateKeys.FirstWins)
            model[first] = "old"u8.ToArray();
        LoadTestKit.Check(environment, model);
        StagingTestKit.CheckUnreserved(environment);
    }

    [Theory]
    [InlineData(4096)]
    [InlineData(8192)]
    [InlineData(16384)]
    [InlineData(32768)]
    [InlineData(65536)]
    public async Task The_longest_keys_are_sorted_in_the_least_memory(int pageSize)
    {
        using var environment = StorageEnvironment.Open(_directory, new StorageOptions { PageSize = pageSize });
        var model = LoadTestKit.Entries(new Random(TestSeed.Choose()), 400, 100);
        foreach (var start in new byte[] { 1, 100, 200 })
            model[[start, .. new byte[environment.MaxKeyLength - 1]]] = [start];
        await environment.BulkLoadAsync("t", LoadTestKit.Sequence(model.Reverse()), new BulkLoadOptions { MemoryBytes = 1 << 20 }, Token);
        LoadTestKit.Check(environment, model);
    }

    /// <summary>Changes some of the loaded entries, so that pages of the load are copied, freed and split.</summary>
    private static void Change(WriteTree tree, SortedDictionary<byte[], byte[]> model)
    {
        foreach (var key in model.Keys.Where((_, i) => i % 7 == 0).ToList())
        {
            if (key[^1] % 2 == 0)
            {
                tree.Delete(key);
                model.Remove(key);
            }
            else
            {
                tree.Put(key, "changed"u8);
                model[key] = "changed"u8.ToArray();
            }
        }
    }
}
