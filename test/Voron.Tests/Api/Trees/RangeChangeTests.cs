using Voron.Tests.Faults;

namespace Voron.Tests.Api;

/// <summary>
/// A range in a write transaction continues behind the last entry that it returned, whatever has happened to the tree in the meantime.
/// </summary>
public sealed class RangeChangeTests : IDisposable
{
    private readonly StorageEnvironment _environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options());

    public void Dispose()
    {
        _environment.Verify().Problems.Should().BeEmpty();
        _environment.Dispose();
    }

    [Theory]
    [InlineData(1, 30, 20)]
    [InlineData(2, 300, 10)]
    [InlineData(3, 2_000, 8)]
    [InlineData(4, 2_000, 8)]
    [InlineData(5, 4_000, 4)]
    public void An_enumeration_follows_the_tree_while_it_changes(int seed, int count, int runs)
    {
        var random = new Random(seed);
        var ranges = new RangeModel(random, _environment.MaxKeyLength);
        using var writing = _environment.BeginWrite();
        var model = new ChangingTree(writing, random);
        for (var i = 0; i < count; i++)
            model.Put(ranges.NewKey(RangeModel.Keys.Numbers));
        for (var run = 0; run < SuiteShare.Rounds(runs); run++)
        {
            ranges.DrawBounds(model.Keys);
            var isReversed = random.Next(2) == 0;
            var left = random.Next(2) == 0 ? long.MaxValue : random.Next(count);
            try
            {
                Enumerate(model, ranges, random, isReversed, left);
            }
            catch (Exception e)
            {
                throw new InvalidOperationException(
                    $"Seed {seed}, run {run}, {ranges.Describe([])}, reversed: {isReversed}, at most {left}: {e.Message}", e);
            }
        }

        writing.Commit();
    }

    private static void Enumerate(ChangingTree model, RangeModel ranges, Random random, bool isReversed, long left)
    {
        var range = model.Tree.Range(ranges.Range);
        using var enumerator = (isReversed ? range.Reverse() : range).Take(left).GetEnumerator();
        byte[]? last = null;
        while (true)
        {
            var ahead = (isReversed ? model.Entries.Keys.Reverse() : model.Entries.Keys).Where(ranges.Contains);
            var step = isReversed ? -1 : 1;
            var expected = left == 0 ? null : ahead.FirstOrDefault(key => last == null || RangeModel.Order(key, last) * step > 0);
            enumerator.MoveNext().Should().Be(expected != null);
            if (expected == null)
                break;
            enumerator.Current.Key.SequenceEqual(expected).Should().BeTrue($"{Convert.ToHexString(expected)} is next");
            enumerator.Current.Value.SequenceEqual(model.Entries[expected]).Should().BeTrue();
            last = expected;
            left--;
            if (random.Next(4) == 0)
                model.Change(ranges, last);
        }

        enumerator.MoveNext().Should().BeFalse("an enumeration that has ended does not continue");
        model.EndSavepoint();
    }

    [Fact]
    public void The_entries_of_a_range_can_be_deleted_and_replaced_on_the_way()
    {
        using var writing = _environment.BeginWrite();
        var tree = Fill(writing, 2_000);
        foreach (var entry in tree.Prefix("0001"u8))
            tree.Delete(entry.Key).Should().BeTrue();
        foreach (var entry in tree.Prefix("0002"u8).Reverse())
            tree.Put(entry.Key, [.. entry.Value, 1]);
        tree.Count.Should().Be(1_900);
        tree.Prefix("0001"u8).Any().Should().BeFalse();
        tree.Get(FaultTestKit.Key(250)).Should().Equal([250, 1]);
        writing.Commit();
    }

    [Fact]
    public void A_range_is_read_page_by_page_although_the_last_key_is_gone()
    {
        using var writing = _environment.BeginWrite();
        var tree = Fill(writing, 500);
        byte[] lastKey = [];
        var seen = new List<int>();
        for (var page = 0; page < 100; page++)
        {
            var before = seen.Count;
            foreach (var entry in tree.Range(KeyRange.Prefix("0"u8).After(lastKey)).Take(7))
            {
                seen.Add(int.Parse(entry.Key, System.Globalization.CultureInfo.InvariantCulture));
                lastKey = entry.Key.ToArray();
            }

            if (seen.Count == before)
                break;
            tree.Delete(lastKey).Should().BeTrue();
        }

        seen.Should().Equal(Enumerable.Range(0, 500));
        tree.Count.Should().Be(500 - 72);
    }

    [Fact]
    public void The_same_range_can_be_enumerated_again_and_inside_itself()
    {
        using var writing = _environment.BeginWrite();
        var range = Fill(writing, 20).GetEntries();
        var pairs = 0;
        foreach (var one in range)
        {
            foreach (var other in range.Reverse())
                pairs += one.Key.SequenceCompareTo(other.Key) < 0 ? 1 : 0;
        }

        pairs.Should().Be(190);
    }

    [Fact]
    public void A_rollback_takes_an_enumeration_to_the_entries_that_it_restores()
    {
        using var writing = _environment.BeginWrite();
        var tree = Fill(writing, 100);
        var savepoint = writing.CreateSavepoint();
        foreach (var i in Enumerable.Range(40, 60))
            tree.Delete(FaultTestKit.Key(i)).Should().BeTrue();
        tree.Put("0000395"u8, [1]);
        using var enumerator = tree.Range(KeyRange.From("000038"u8)).GetEnumerator();
        for (var i = 0; i < 3; i++)
            enumerator.MoveNext().Should().BeTrue();
        enumerator.Current.Key.SequenceEqual("0000395"u8).Should().BeTrue();
        savepoint.Rollback();
        enumerator.MoveNext().Should().BeTrue();
        enumerator.Current.Key.SequenceEqual("000040"u8).Should().BeTrue("the entry before it never existed, and this one exists again");
        savepoint.Release();
        writing.Commit();
    }

    private static WriteTree Fill(WriteTransaction writing, int count)
    {
        var tree = writing.CreateTree("t");
        for (var i = 0; i < count; i++)
            tree.Put(FaultTestKit.Key(i), [(byte)i]);
        return tree;
    }

    /// <summary>A tree that changes at random, with its model.</summary>
    private sealed class ChangingTree(WriteTransaction writing, Random random)
    {
        private Savepoint? _savepoint;
        private List<KeyValuePair<byte[], byte[]>> _saved = [];

        public WriteTree Tree { get; } = writing.CreateTree("t");

        public SortedDictionary<byte[], byte[]> Entries { get; } = RangeModel.NewEntries();

        public List<byte[]> Keys => [.. Entries.Keys];

        public void Put(byte[] key)
        {
            var value = FaultTestKit.Value(random.Next(), random.Next(60));
            Tree.Put(key, value);
            Entries[key] = value;
        }

        /// <summary>Puts and deletes some entries, possibly the one with this key, after beginning a savepoint or rolling back to it.</summary>
        public void Change(RangeModel ranges, byte[] key)
        {
            var isMarked = random.Next(20) == 0;
            if (isMarked && _savepoint == null)
                (_savepoint, _saved) = (writing.CreateSavepoint(), [.. Entries]);
            else if (isMarked)
                Rollback();
            for (var i = random.Next(6); i > 0; i--)
            {
                if (random.Next(2) == 0)
                    Put(ranges.NewKey(RangeModel.Keys.Numbers));
                else if (Entries.Count > 0)
                    Delete(random.Next(3) == 0 && Entries.ContainsKey(key) ? key : Entries.Keys.ElementAt(random.Next(Entries.Count)));
            }
        }

        public void EndSavepoint()
        {
            _savepoint?.Release();
            _savepoint = null;
        }

        private void Rollback()
        {
            _savepoint!.Value.Rollback();
            Entries.Clear();
            foreach (var (key, value) in _saved)
                Entries.Add(key, value);
        }

        private void Delete(byte[] key)
        {
            Tree.Delete(key).Should().BeTrue();
            Entries.Remove(key);
        }
    }
}
