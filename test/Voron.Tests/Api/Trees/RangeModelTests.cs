using Voron.Tests.Faults;

namespace Voron.Tests.Api;

/// <summary>Ranges of all kinds are compared with LINQ on a sorted dictionary. A failure names the seed and the range.</summary>
public sealed class RangeModelTests
{
    public static TheoryData<int, int, int, int> Trees() => new()
    {
        { 4096, 0, (int)RangeModel.Keys.Numbers, 1 },
        { 4096, 1, (int)RangeModel.Keys.Numbers, 2 },
        { 4096, 3, (int)RangeModel.Keys.Longest, 3 },
        { 4096, 500, (int)RangeModel.Keys.Longest, 4 },
        { 4096, 400, (int)RangeModel.Keys.FewBytes, 5 },
        { 4096, 3_000, (int)RangeModel.Keys.Numbers, 6 },
        { 4096, 3_000, (int)RangeModel.Keys.AnyLength, 7 },
        { 4096, 20_000, (int)RangeModel.Keys.Numbers, 8 },
        { 65536, 300, (int)RangeModel.Keys.Longest, 9 },
        { 65536, 20_000, (int)RangeModel.Keys.Numbers, 10 },
    };

    [Theory]
    [MemberData(nameof(Trees))]
    public void A_range_has_the_entries_that_its_bounds_and_cuts_leave(int pageSize, int count, int keys, int seed)
    {
        using var environment = StorageEnvironment.OpenInMemory(new StorageOptions { BackgroundFlush = false, PageSize = pageSize });
        var random = new Random(seed);
        var model = new RangeModel(random, environment.MaxKeyLength);
        var entries = RangeModel.NewEntries();
        for (var i = 0; i < count; i++)
        {
            var key = model.NewKey((RangeModel.Keys)keys);
            entries[key] = FaultTestKit.Value(i, random.Next(300) == 0 ? 9_000 : random.Next(40));
        }

        var sorted = entries.Keys.ToList();

        // Before the commit, some of the puts still wait in their buffer.
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.CreateTree("t");
            foreach (var (key, value) in entries.OrderBy(_ => random.Next()))
                tree.Put(key, value);
            Check(tree, entries, sorted, model, random, seed);
            writing.Commit();
        }

        Check(environment, entries, sorted, model, random, seed);
        environment.Flush();
        Check(environment, entries, sorted, model, random, seed);
    }

    private static void Check(
        StorageEnvironment environment, SortedDictionary<byte[], byte[]> entries, List<byte[]> sorted, RangeModel model, Random random, int seed)
    {
        using var reading = environment.BeginRead();
        Check(reading.OpenTree("t"), entries, sorted, model, random, seed);
    }

    private static void Check(
        Tree tree, SortedDictionary<byte[], byte[]> entries, List<byte[]> sorted, RangeModel model, Random random, int seed)
    {
        for (var i = 0; i < SuiteShare.Rounds(250); i++)
        {
            model.DrawBounds(sorted);
            var cuts = model.DrawCuts(sorted.Count);
            try
            {
                CheckRange(tree.Range(model.Range), sorted.Where(model.Contains), entries, cuts);
                CheckNeighbours(tree, sorted, model.DrawBound(sorted));
            }
            catch (Exception e)
            {
                throw new InvalidOperationException($"Seed {seed}, range {i}, {model.Describe(cuts)}: {e.Message}", e);
            }
        }

        CheckRange(tree.GetEntries(), sorted, entries, []);
        if (sorted.Count > 0)
            CheckRange(tree.Prefix(sorted[0].AsSpan(0, 1)), sorted.Where(key => key[0] == sorted[0][0]), entries, []);
        CheckRange(tree.Prefix([0xFF, 0xFF]), sorted.Where(key => key is [0xFF, 0xFF, ..]), entries, [('R', 0)]);
    }

    private static void CheckRange(
        TreeRange uncut, IEnumerable<byte[]> uncutKeys, SortedDictionary<byte[], byte[]> entries, List<(char Method, long Count)> cuts)
    {
        if (RangeModel.ReversesTooOften(cuts))
        {
            try
            {
                RangeModel.Cut(uncut, cuts);
            }
            catch (InvalidOperationException)
            {
                return;
            }

            Assert.Fail("The range was reversed once more than it can be.");
        }

        var range = RangeModel.Cut(uncut, cuts);
        var keys = RangeModel.Cut(uncutKeys, cuts);
        var at = 0;
        foreach (var entry in range)
        {
            if (at == keys.Count || !entry.Key.SequenceEqual(keys[at]))
                Assert.Fail($"Entry {at} of {keys.Count} is {Convert.ToHexString(entry.Key)}.");
            if (!entry.Value.SequenceEqual(entries[keys[at]]))
                Assert.Fail($"Entry {at} has another value.");
            at++;
        }

        at.Should().Be(keys.Count);
        range.Count().Should().Be(keys.Count, "that many are counted");
        range.Any().Should().Be(keys.Count > 0);
        range.TryGetFirst(out var first).Should().Be(keys.Count > 0);
        range.TryGetLast(out var last).Should().Be(keys.Count > 0);
        if (keys.Count > 0)
        {
            first.Key.SequenceEqual(keys[0]).Should().BeTrue("this is the first");
            last.Key.SequenceEqual(keys[^1]).Should().BeTrue("this is the last");
            last.Value.SequenceEqual(entries[keys[^1]]).Should().BeTrue();
        }
    }

    private static void CheckNeighbours(Tree tree, List<byte[]> sorted, byte[] key)
    {
        CheckEntry(tree.TryGetFloor(key, out var entry), entry, sorted.FindLast(other => RangeModel.Order(other, key) <= 0));
        CheckEntry(tree.TryGetCeiling(key, out entry), entry, sorted.Find(other => RangeModel.Order(other, key) >= 0));
        CheckEntry(tree.TryGetEntry(key, out entry), entry, sorted.Find(other => RangeModel.Order(other, key) == 0));
        CheckEntry(tree.TryGetFirst(out entry), entry, sorted.FirstOrDefault());
        CheckEntry(tree.TryGetLast(out entry), entry, sorted.LastOrDefault());
    }

    private static void CheckEntry(bool found, TreeEntry entry, byte[]? expected)
    {
        found.Should().Be(expected != null);
        if (expected != null)
            entry.Key.SequenceEqual(expected).Should().BeTrue("the entry should be {0}", Convert.ToHexString(expected));
    }
}
