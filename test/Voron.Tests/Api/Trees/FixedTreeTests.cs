using Voron.Tests.Faults;

namespace Voron.Tests.Api;

/// <summary>The calls of fixed-size trees, one by one, and their refusals.</summary>
public sealed class FixedTreeTests : IDisposable
{
    private readonly TestDirectory _directory = new();
    private readonly StorageEnvironment _environment;

    public FixedTreeTests() => _environment = StorageEnvironment.Open(_directory.Path, FaultTestKit.Options());

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose()
    {
        _environment.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public void Entries_are_found_by_their_keys_and_by_their_order()
    {
        Fill("t", 0, 10, 3);
        using var reading = _environment.BeginRead();
        var tree = reading.OpenFixedTree("t");
        (tree.Count, tree.Name, tree.ValueSize).Should().Be((10, "t", 8));
        tree.GetStatistics().LeafPages.Should().Be(1);
        tree.TryGet(27, out var value).Should().BeTrue();
        BitConverter.ToInt64(value).Should().Be(27 * 27);
        tree.TryGet(28, out value).Should().BeFalse();
        tree.Contains(0).Should().BeTrue();
        Near(tree.TryGetFirst(out var key, out value), key, value).Should().Be((true, 0, 0));
        Near(tree.TryGetLast(out key, out value), key, value).Should().Be((true, 27, 729));
        Near(tree.TryGetFloor(26, out key, out value), key, value).Should().Be((true, 24, 576));
        Near(tree.TryGetFloor(-1, out key, out value), key, value).Should().Be((false, 0, -1));
        Near(tree.TryGetCeiling(25, out key, out value), key, value).Should().Be((true, 27, 729));
        Near(tree.TryGetCeiling(28, out key, out value), key, value).Should().Be((false, 0, -1));
        var copy = new byte[10];
        tree.TryCopyTo(6, copy).Should().BeTrue();
        BitConverter.ToInt64(copy).Should().Be(36);
        var shortCopy = () => reading.OpenFixedTree("t").TryCopyTo(6, new byte[7]);
        shortCopy.Should().Throw<ArgumentException>().WithMessage("*'t' has values of 8 bytes*7*");
    }

    [Fact]
    public void A_cursor_describes_its_place()
    {
        Fill("t", 0, 10, 3);
        using var reading = _environment.BeginRead();
        var cursor = reading.OpenFixedTree("t").OpenCursor();
        cursor.ToString().Should().Be("cursor not positioned");
        cursor.Seek(7).Should().BeTrue();
        cursor.ToString().Should().Be("cursor at 9");
        cursor.Seek(100).Should().BeFalse();
        cursor.ToString().Should().Be("cursor after the last entry");
        cursor.SeekForPrevious(-1).Should().BeFalse();
        cursor.ToString().Should().Be("cursor before the first entry");
        cursor.Dispose();
        cursor.ToString().Should().Be("cursor (closed)");
        default(FixedCursor).ToString().Should().Be("cursor (never opened)");
    }

    [Theory]
    [InlineData(-30, 40)]
    [InlineData(1, 1)]
    [InlineData(0, 0)]
    [InlineData(40, -30)]
    [InlineData(2_998, long.MaxValue)]
    [InlineData(long.MinValue, long.MaxValue)]
    [InlineData(long.MaxValue, long.MinValue)]
    [InlineData(long.MinValue, -3_000)]
    [InlineData(long.MinValue, -3_001)]
    public void A_range_has_the_entries_between_its_bounds_in_both_orders(long first, long last)
    {
        Fill("t", -3_000, 2_000, 3);
        using var reading = _environment.BeginRead();
        var range = reading.OpenFixedTree("t").Range(first, last);
        var keys = Enumerable.Range(0, 2_000).Select(i => -3_000L + 3 * i).Where(key => key >= first && key <= last).ToArray();
        KeysOf(range).Should().Equal(keys);
        KeysOf(range.Reverse()).Should().Equal(keys.Reverse());
        KeysOf(range.Reverse().Reverse()).Should().Equal(keys);
        var copies = new List<KeyValuePair<long, long>>();
        foreach (var entry in reading.OpenFixedTree<long>("t").Range(first, last).Reverse())
            copies.Add(entry);
        copies.Should().Equal(keys.Reverse().Select(key => KeyValuePair.Create(key, key * key)));
        range.ToString().Should().Be($"range of fixed-size tree 't': {first} to {last}");

        List<long> KeysOf(FixedRange entries)
        {
            var found = new List<long>();
            foreach (var entry in entries)
            {
                BitConverter.ToInt64(entry.Value).Should().Be(entry.Key * entry.Key);
                found.Add(entry.Key);
            }

            return found;
        }
    }

    [Fact]
    public void A_tree_may_change_while_a_range_is_enumerated()
    {
        Fill("t", 0, 1_000, 2);
        using var writing = _environment.BeginWrite();
        var tree = writing.OpenFixedTree<long>("t");
        var seen = 0;
        foreach (var entry in tree.AsBytes().GetEntries())
        {
            seen++;
            if (entry.Key % 4 == 0)
                entry.Delete().Should().BeTrue();
            else if (entry.Key < 2_000 && entry.Key % 2 == 0)
                tree.Put(entry.Key + 1, 5);
        }

        // The entries that were added behind it are among them.
        seen.Should().Be(1_500);
        tree.Count.Should().Be(1_000);
        foreach (var (key, value) in tree.Range(4, 6))
            (key, value).Should().Be((6, 36));

        var enumerator = tree.GetEntries().GetEnumerator();
        while (enumerator.MoveNext())
            seen--;
        seen.Should().Be(500);
        enumerator.MoveNext().Should().BeFalse();
    }

    [Fact]
    public void Many_keys_are_looked_up_together()
    {
        Fill("t", -5_000, 10_000, 2);
        using var reading = _environment.BeginRead();
        var tree = reading.OpenFixedTree("t");
        var random = new Random(1);
        var keys = Enumerable.Range(0, 1_000).Select(_ => random.NextInt64(-6_000, 16_000)).ToArray();
        var values = new long[keys.Length];
        var found = new bool[keys.Length];
        new FixedTree<long>(tree).GetMany(keys, values, found).Should().Be(found.Count(one => one)).And.BeGreaterThan(300);
        for (var i = 0; i < keys.Length; i++)
        {
            found[i].Should().Be(tree.Contains(keys[i]));
            values[i].Should().Be(found[i] ? keys[i] * keys[i] : 0);
        }

        var shortValues = () => reading.OpenFixedTree("t").GetMany(new long[3], new byte[23], new bool[3]);
        shortValues.Should().Throw<ArgumentException>().WithMessage("*3 keys*24*23*");
        var shortFound = () => reading.OpenFixedTree("t").GetMany(new long[3], new byte[24], new bool[2]);
        shortFound.Should().Throw<ArgumentException>().WithMessage("*3 keys*");
    }

    [Fact]
    public void Values_have_a_type()
    {
        using (var writing = _environment.BeginWrite())
        {
            var tree = writing.CreateFixedTree<(int Left, double Right)>("pairs");
            for (var i = 0; i < 1_000; i++)
                tree.Put(i, (i, i / 2.0));
            tree.Get(7).Right.Should().Be(3.5);
            writing.Commit();
        }

        using var reading = _environment.BeginRead();
        var pairs = reading.OpenFixedTree<(int Left, double Right)>("pairs");
        pairs.TryGet(400, out var pair).Should().BeTrue();
        pair.Should().Be((400, 200.0));
        pairs.Get(999).Left.Should().Be(999);
        pairs.TryGetLast(out var last, out pair).Should().BeTrue();
        (last, pair.Left).Should().Be((999, 999));
        using var cursor = pairs.OpenCursor();
        cursor.Seek(500).Should().BeTrue();
        cursor.ValueAs<(int Left, double Right)>().Left.Should().Be(500);
        var missing = () => reading.OpenFixedTree<(int, double)>("pairs").Get(1_000).ToString();
        missing.Should().Throw<KeyNotFoundException>().WithMessage("*'pairs'*1000*");
        var otherSize = () => reading.OpenFixedTree<int>("pairs");
        otherSize.Should().Throw<InvalidOperationException>().WithMessage("*'pairs' has values of 16 bytes*Int32*4*");
    }

    [Fact]
    public void Sizes_and_kinds_that_do_not_fit_are_refused_with_their_numbers()
    {
        Fill("t", 0, 3, 1);
        using var writing = _environment.BeginWrite();
        writing.CreateTree("plain");
        ((Action)(() => writing.CreateFixedTree("large", 513))).Should().Throw<ArgumentOutOfRangeException>().WithMessage("*'large'*512*4096*");
        ((Action)(() => writing.CreateFixedTree("negative", -1))).Should().Throw<ArgumentOutOfRangeException>().WithMessage("*'negative'*");
        ((Action)(() => writing.CreateFixedTree("t", 4))).Should().Throw<InvalidOperationException>().WithMessage("*'t'*8 bytes*4 bytes*");
        ((Action)(() => writing.CreateFixedTree("plain", 8))).Should().Throw<InvalidOperationException>().WithMessage("*'plain'*");
        ((Action)(() => writing.OpenTree("t"))).Should().Throw<InvalidOperationException>().WithMessage("*'t'*fixed-size tree*");
        ((Action)(() => writing.OpenFixedTree("none"))).Should().Throw<KeyNotFoundException>().WithMessage("*none*");
        var tree = writing.OpenFixedTree("t");
        ((Action)(() => tree.Put(1, new byte[7]))).Should().Throw<ArgumentException>().WithMessage("*'t' has values of 8 bytes*7*");
        ((Action)(() => default(FixedTree).Contains(1))).Should().Throw<InvalidOperationException>();
        ((Action)(() => default(FixedCursor).MoveNext())).Should().Throw<InvalidOperationException>();

        // None of this has broken the transaction.
        tree.Put(1, new byte[8]);
        writing.Commit();
        ((Action)(() => tree.Put(1, new byte[8]))).Should().Throw<ObjectDisposedException>();
    }

    [Fact]
    public void Handles_end_with_their_transaction_and_with_the_tree()
    {
        Fill("t", 0, 1_000, 1);
        var reading = _environment.BeginRead();
        var tree = reading.OpenFixedTree("t");
        var cursor = tree.OpenCursor();
        cursor.SeekFirst();
        ((Action)(() => cursor.Delete())).Should().Throw<InvalidOperationException>().WithMessage("*read transaction*");
        reading.Dispose();
        ((Action)(() => tree.Contains(1))).Should().Throw<ObjectDisposedException>();
        ((Action)(() => cursor.MoveNext())).Should().Throw<ObjectDisposedException>();

        using var writing = _environment.BeginWrite();
        var written = writing.OpenFixedTree("t");
        var writeCursor = written.OpenCursor();
        writeCursor.SeekFirst();
        writing.DeleteTree("t");
        ((Action)(() => written.Contains(1))).Should().Throw<InvalidOperationException>().WithMessage("*'t'*deleted*");
        ((Action)(() => writeCursor.MoveNext())).Should().Throw<InvalidOperationException>().WithMessage("*'t'*deleted*");
    }

    [Fact]
    public void A_cursor_stays_at_its_key_through_rollbacks_and_changes()
    {
        Fill("t", 0, 3_000, 1);
        using var writing = _environment.BeginWrite();
        var tree = writing.OpenFixedTree("t");
        using var cursor = tree.OpenCursor();
        cursor.SeekExact(1_500).Should().BeTrue();
        using (var savepoint = writing.CreateSavepoint())
        {
            tree.DeleteRange(1_000, 2_000).Should().Be(1_001);
            cursor.IsOnEntry.Should().BeFalse();
            savepoint.Rollback();
        }

        cursor.Key.Should().Be(1_500);
        BitConverter.ToInt64(cursor.Value).Should().Be(1_500 * 1_500);
        cursor.Delete().Should().BeTrue();
        cursor.MovePrevious().Should().BeTrue();
        cursor.Key.Should().Be(1_499);
        tree.Put(1_500, new byte[8]);
        cursor.MoveNext().Should().BeTrue();
        cursor.Key.Should().Be(1_500);
    }

    [Fact]
    public async Task A_dropped_tree_leaves_no_page()
    {
        Fill("kept", 0, 1_000, 1);
        var before = _environment.Verify().UsedPages;
        Fill("dropped", 0, 200_000, 7);
        (await _environment.DropTreeAsync("dropped", Token)).Should().BeTrue();
        await TestWait.UntilAsync(() => _environment.Verify().UsedPages == before);
        var report = _environment.Verify();
        report.Problems.Should().BeEmpty();
        report.UsedPages.Should().Be(before);
    }

    [Fact]
    public async Task Compaction_moves_the_pages_and_a_dense_copy_has_the_entries()
    {
        Fill("first", 0, 100_000, 1);
        Fill("second", -50_000, 60_000, 3);
        using (var writing = _environment.BeginWrite())
        {
            writing.DeleteTree("first");
            writing.Commit();
        }

        var report = await _environment.CompactAsync(null, Token);
        report.BytesAfter.Should().BeLessThan(report.BytesBefore);
        Check(_environment);

        using var target = new TestDirectory();
        var copied = Path.Combine(target.Path, "copy");
        await _environment.CompactToAsync(copied, null, Token);
        using var copy = StorageEnvironment.Open(copied, FaultTestKit.Options());
        Check(copy);

        static void Check(StorageEnvironment environment)
        {
            environment.Verify().Problems.Should().BeEmpty();
            using var reading = environment.BeginRead();
            var tree = reading.OpenFixedTree<long>("second");
            tree.Count.Should().Be(60_000);
            using var cursor = tree.OpenCursor();
            for (var i = 0; i < 60_000; i++)
            {
                var key = -50_000 + i * 3L;
                cursor.MoveNext().Should().BeTrue();
                (cursor.Key, cursor.ValueAs<long>()).Should().Be((key, key * key));
            }
        }
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Reads_and_changes_allocate_nothing(bool isInOrder)
    {
        using var environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options());
        using var writing = environment.BeginWrite();
        var tree = writing.CreateFixedTree("t", 8);
        var value = new byte[8];
        var keys = Enumerable.Range(0, 64).Select(i => i * 17L).ToArray();
        var values = new byte[8 * keys.Length];
        var found = new bool[keys.Length];

        // Lists of changed pages grow at first.
        ManagedAllocation.Least(() => UseAll(tree, value, keys, values, found, isInOrder), rounds: 10).Should().Be(0);
    }

    private static void UseAll(WriteFixedTree tree, byte[] value, long[] keys, byte[] values, bool[] found, bool isInOrder)
    {
        for (var i = 0; i < 2_000; i++)
            tree.Put(isInOrder ? i : i * 7919 % 2_000, value);
        using (var cursor = tree.OpenCursor())
        {
            for (var has = cursor.SeekFirst(); has; has = cursor.MoveNext())
                _ = cursor.Value;
        }

        tree.GetMany(keys, values, found);
        tree.TryGet(100, out _);
        tree.TryGetCeiling(100, out _, out _);
        tree.Delete(1_500);
        tree.DeleteRange(100, 1_400);
    }

    private static (bool, long, long) Near(bool isFound, long key, ReadOnlySpan<byte> value) =>
        (isFound, key, isFound ? BitConverter.ToInt64(value) : -1);

    private void Fill(string name, long first, int count, int step)
    {
        using var writing = _environment.BeginWrite();
        var tree = writing.CreateFixedTree<long>(name);
        for (var i = 0; i < count; i++)
        {
            var key = first + (long)i * step;
            tree.Put(key, key * key);
        }

        writing.Commit();
    }
}
