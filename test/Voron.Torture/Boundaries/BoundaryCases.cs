using System.Buffers.Binary;
using System.Globalization;
using System.Text;
using static Voron.Torture.Boundaries.BoundaryPlace;

namespace Voron.Torture.Boundaries;

/// <summary>Checks that values just inside a limit work and that values just beyond it are refused without changing anything.</summary>
internal static class BoundaryCases
{
    private const int Header = 64;
    private const int SlotBytes = 2;
    private const int LeafRecordBytes = 4;
    private const int BranchRecordBytes = 10;
    private const int LargeValueBytes = 16 << 10;
    private const int ChunkBytes = 64 << 10;

    // Large enough that every value that fits into a leaf stays there.
    private const int LargestInLeaf = 64 << 10;

    private static readonly int[] PageSizes = [4096, 8192, 16384, 32768, 65536];

    public static IReadOnlyList<(string Name, Action Run)> All { get; } = [.. Make()];

    private static IEnumerable<(string Name, Action Run)> Make()
    {
        foreach (var size in PageSizes)
        {
            yield return ($"lengths of keys, pages of {size}", () => KeyLengths(size));
            yield return ($"lengths of values, short key, pages of {size}", () => ValueLengths(size, 1));
            yield return ($"lengths of values, longest key, pages of {size}", () => ValueLengths(size, MaxKey(size)));
            foreach (var order in new[] { 0, 1, 2 })
                yield return ($"a leaf exactly full, order {order}, pages of {size}", () => FullLeaf(size, order));
            yield return ($"a leaf exactly full by an update, pages of {size}", () => FullLeafByUpdate(size));
            yield return ($"a branch exactly full, pages of {size}", () => FullBranch(size));
            yield return ($"keys around a batch, pages of {size}", () => Batches(size));
        }
        yield return ("names of trees", TreeNames);
        yield return ("thousands of trees in one transaction", () => ManyTrees(4_000, 4_000));
        yield return ("thousands of trees, a few in each transaction", () => ManyTrees(3_000, 50));
        yield return ("options", OptionBoundaries.Options);
        foreach ((var name, var run) in SpaceBoundaries.All.Concat(NumberBoundaries.All))
            yield return (name, run);
    }

    private static int MaxKey(int pageSize) => (pageSize / 4) - Header;

    private static void KeyLengths(int pageSize)
    {
        using var place = new BoundaryPlace(pageSize);
        var max = place.Environment.MaxKeyLength;
        Require(max == MaxKey(pageSize), $"the longest key has {max} bytes");
        var entries = NewEntries();
        foreach (var length in new[] { 1, 2, max - 1, max })
        {
            foreach (var fill in new byte[] { 0, 127, 255 })
                entries[Key(length, fill)] = Value(length, 20);
        }
        place.Write(writing =>
        {
            var tree = writing.CreateTree("t");
            foreach ((var key, var value) in entries)
                tree.Put(key, value);
            foreach (var bad in new[] { [], Key(max + 1), Key(70_000) })
            {
                Throws<ArgumentException>(() => tree.Put(bad, [1]), $"a key of {bad.Length} bytes");
                Throws<ArgumentException>(() => tree.Insert(bad, [1]), $"a key of {bad.Length} bytes");
                Throws<ArgumentException>(() => tree.Reserve(bad, 1), $"a key of {bad.Length} bytes");
                Throws<ArgumentException>(
                    () => tree.PutAsync(bad, new MemoryStream([1])).AsTask().GetAwaiter().GetResult(), $"a key of {bad.Length} bytes");
                Require(!tree.TryGet(bad, out _) && !tree.Contains(bad) && !tree.Delete(bad), $"there is a key of {bad.Length} bytes");
                using var cursor = tree.OpenCursor();
                Require(!cursor.SeekExact(bad), $"a cursor finds a key of {bad.Length} bytes");
            }
        });
        place.Check("t", entries);
    }

    private static void ValueLengths(int pageSize, int keyLength)
    {
        using var place = new BoundaryPlace(pageSize);
        var inline = ((pageSize - Header) / 2) - LeafRecordBytes - SlotBytes - keyLength;
        int[] lengths =
        [
            .. new[]
                {
                    0, 1, inline - 1, inline, inline + 1, pageSize - Header - 1, pageSize - Header, pageSize - Header + 1,
                    pageSize - 1, pageSize, pageSize + 1, (2 * pageSize) - Header - 1, (2 * pageSize) - Header, (2 * pageSize) - Header + 1,
                    LargeValueBytes - 1, LargeValueBytes, LargeValueBytes + 1,
                    ChunkBytes - 1, ChunkBytes, ChunkBytes + 1, (2 * ChunkBytes) - 1, 2 * ChunkBytes, (2 * ChunkBytes) + 1, 1 << 20,
                }.Where(length => length >= 0).Distinct().Order(),
        ];
        var entries = NewEntries();
        var key = Key(keyLength);
        // Puts a value of each length after one of each other length, under the same key: the new value replaces the old one.
        foreach (var before in lengths)
        {
            foreach (var after in lengths.Where(length => Math.Abs(length - before) <= 2 || length % 7 == before % 7))
            {
                place.Write(writing =>
                {
                    var tree = writing.CreateTree("t");
                    tree.Put(key, Value(before, before));
                    var found = tree.TryGet(key, out var read);
                    Require(found && read.SequenceEqual(Value(before, before)), $"a value of {before} bytes is wrong");
                    tree.Put(key, Value(after + 1, after));
                    found = tree.TryGet(key, out read);
                    Require(found && read.SequenceEqual(Value(after + 1, after)), $"a value of {after} bytes over {before} is wrong");
                });
                entries[key] = Value(after + 1, after);
            }
            place.Check("t", entries);
        }
        place.Write(writing =>
        {
            var tree = writing.OpenTree("t");
            Require(tree.Reserve(key, 0).Length == 0, "no room of 0 bytes");
            Require(tree.Reserve(key, LargeValueBytes - 1).Length == LargeValueBytes - 1, "no room of the most bytes");
            Throws<ArgumentOutOfRangeException>(() => tree.Reserve(key, LargeValueBytes), "room for a large value");
            Throws<ArgumentOutOfRangeException>(() => tree.Reserve(key, -1), "room for less than nothing");
            Require(tree.Delete(key), "the key cannot be deleted");
        });
        place.Verify();
        using var reading = place.Environment.BeginRead();
        var statistics = reading.OpenTree("t").GetStatistics();
        Require(statistics is { Entries: 0, LeafPages: 0, Depth: 0 }, $"an empty tree has {statistics}");
    }

    /// <summary>Checks that records that fill a leaf to the last byte stay in one leaf, and that one byte more makes two.</summary>
    private static void FullLeaf(int pageSize, int order)
    {
        foreach (var more in new[] { -1, 0, 1 })
        {
            using var place = new BoundaryPlace(pageSize);
            var entries = NewEntries();
            var left = pageSize - Header + more;
            for (var i = 0; left > 0; i++)
            {
                var size = left >= 2 * pageSize / 8 ? pageSize / 8 : left;
                var key = new byte[4];
                BinaryPrimitives.WriteInt32BigEndian(key, i);
                entries[key] = Value(i, size - LeafRecordBytes - SlotBytes - key.Length);
                left -= size;
            }
            var ordered = order switch
            {
                0 => entries,
                1 => entries.Reverse(),
                _ => entries.OrderBy(entry => entry.Value.Length > 0 ? entry.Value[0] : 0),
            };
            place.Write(writing =>
            {
                var tree = writing.CreateTree("t");
                foreach ((var key, var value) in ordered)
                    tree.Put(key, value);
                var leaves = tree.GetStatistics().LeafPages;
                Require(leaves == (more > 0 ? 2 : 1), $"with {more} bytes more than a leaf holds there are {leaves}");
            });
            place.Check("t", entries);
        }
    }

    private static void FullLeafByUpdate(int pageSize)
    {
        using var place = new BoundaryPlace(pageSize);
        var entries = NewEntries();
        var quarter = (pageSize - Header) / 4;
        var overhead = LeafRecordBytes + SlotBytes + 1;
        for (var i = 0; i < 4; i++)
            entries[[(byte)i]] = Value(i, (quarter / 2) - overhead);
        place.Write(writing =>
        {
            foreach ((var key, var value) in entries)
                writing.CreateTree("t").Put(key, value);
        });
        // The values grow one after the other until the page is full to the last byte; then one of them grows by one more byte.
        for (var i = 0; i < 4; i++)
            Update((byte)i, quarter - overhead);
        using (var reading = place.Environment.BeginRead())
            Require(reading.OpenTree("t").GetStatistics().LeafPages == 1, "a leaf that is exactly full was divided");
        place.Check("t", entries);
        Update(2, quarter - overhead + 1);
        using (var reading = place.Environment.BeginRead())
            Require(reading.OpenTree("t").GetStatistics().LeafPages == 2, "a leaf has more than it can hold");
        place.Check("t", entries);

        void Update(byte key, int length)
        {
            entries[[key]] = Value(key + length, length);
            place.Write(writing => writing.OpenTree("t").Put([key], entries[[key]]));
        }
    }

    /// <summary>Checks that separators can fill a branch to the last byte, and that one byte more divides it.</summary>
    private static void FullBranch(int pageSize)
    {
        foreach (var more in new[] { -1, 0, 1 })
        {
            using var place = new BoundaryPlace(pageSize, LargestInLeaf);
            var prefix = MaxKey(pageSize) - 4;
            var entry = BranchRecordBytes + SlotBytes + prefix + 4;
            var left = pageSize - Header - BranchRecordBytes - SlotBytes + more;
            var count = left / entry;
            // The last separator takes the rest: it is shorter, and sorts behind the others.
            while (left - (count * entry) < BranchRecordBytes + SlotBytes + 2)
                count--;
            left -= count * entry;
            var entries = NewEntries();
            var half = (pageSize - Header) / 2;
            // Two records fill a leaf, so every second key becomes a separator.
            for (var i = 0; i < 2 * (count + 1); i++)
            {
                var key = Key(prefix + 4, (byte)'x');
                BinaryPrimitives.WriteInt32BigEndian(key.AsSpan(prefix), i);
                entries[key] = Value(i, half - LeafRecordBytes - SlotBytes - key.Length);
            }
            var last = Key(left - BranchRecordBytes - SlotBytes, (byte)'x');
            last[^1] = (byte)'y';
            Require(last.Length <= MaxKey(pageSize), "the separators do not fill a branch");
            entries[last] = Value(1, 10);
            place.Write(writing =>
            {
                var tree = writing.CreateTree("t");
                foreach ((var key, var value) in entries)
                    tree.Put(key, value);
                var branches = tree.GetStatistics().BranchPages;
                Require(branches == (more > 0 ? 3 : 1), $"with {more} bytes more than a branch holds there are {branches}");
            });
            place.Check("t", entries);
        }
    }

    private static void Batches(int pageSize)
    {
        using var place = new BoundaryPlace(pageSize);
        place.Write(writing =>
        {
            var tree = writing.CreateTree("t");
            for (var i = 0; i < 2_000; i += 2)
                tree.Put(Number(i), Value(i, 40));
        });
        for (var pass = 0; pass < 2; pass++)
        {
            using var reading = place.Environment.BeginRead();
            var tree = reading.OpenTree("t");
            var batch = new LookupBatch();
            foreach (var count in new[] { 0, 1, 31, 32, 33, 63, 64, 65, 1_000 })
            {
                batch.Clear();
                for (var i = 0; i < count; i++)
                    batch.Add(Number(i * 1999 / Math.Max(1, count)));
                var found = tree.GetMany(batch);
                for (var i = 0; i < count; i++)
                {
                    var number = i * 1999 / Math.Max(1, count);
                    var has = batch.TryGetValue(i, out var value);
                    Require(has == (number % 2 == 0) && (!has || value.SequenceEqual(Value(number, 40))), $"key {i} of {count} is wrong");
                    found -= has ? 1 : 0;
                }
                Require(found == 0 && batch.Count == count, $"a batch of {count} is miscounted");
            }
            // The second pass reads from the data file.
            place.Environment.Flush();
        }
    }

    private static void TreeNames()
    {
        using var place = new BoundaryPlace(4096);
        string[] good = ["x", new('x', 254), new('x', 255), new string('é', 127) + "a", "\0", "\U0001F600"];
        string[] bad = ["", new('x', 256), new('é', 128), "\uD800", "a\uDC00b"];
        place.Write(writing =>
        {
            foreach (var name in good)
                writing.CreateTree(name).Put([1], Encoding.UTF8.GetBytes(name));
            foreach (var name in bad)
            {
                Throws<ArgumentException>(() => writing.CreateTree(name), $"a name of {name.Length} characters");
                Throws<ArgumentException>(() => writing.OpenTree(name), $"a name of {name.Length} characters");
                Throws<ArgumentException>(() => writing.DeleteTree(name), $"a name of {name.Length} characters");
                Throws<ArgumentException>(() => writing.RenameTree(good[0], name), $"a name of {name.Length} characters");
            }
        });
        place.Reopen();
        place.Verify();
        using var reading = place.Environment.BeginRead();
        Require(reading.GetTreeNames().ToHashSet().SetEquals(good), "the names have changed");
        foreach (var name in good)
        {
            var found = reading.OpenTree(name).TryGet([1], out var value);
            Require(found && value.SequenceEqual(Encoding.UTF8.GetBytes(name)), $"the tree '{name}' has the content of another");
        }
    }

    private static void ManyTrees(int count, int perTransaction)
    {
        using var place = new BoundaryPlace(4096);
        for (var from = 0; from < count; from += perTransaction)
        {
            place.Write(writing =>
            {
                for (var i = from; i < Math.Min(count, from + perTransaction); i++)
                    writing.CreateTree(Name(i)).Put(Number(i), Value(i, 30));
            });
        }
        CheckTrees(place, count, i => true);
        place.Environment.Flush();
        place.Reopen();
        CheckTrees(place, count, i => true);
        place.Write(writing =>
        {
            for (var i = 0; i < count; i += 2)
                Require(writing.DeleteTree(Name(i)), $"there is no tree {i}");
        });
        place.Reopen();
        CheckTrees(place, count, i => i % 2 == 1);
        place.Verify();

        static string Name(int i) => $"tree {i.ToString("D6", CultureInfo.InvariantCulture)}";

        static void CheckTrees(BoundaryPlace place, int count, Func<int, bool> isThere)
        {
            using var reading = place.Environment.BeginRead();
            Require(reading.GetTreeNames().SequenceEqual(Enumerable.Range(0, count).Where(isThere).Select(Name)), "the names of the trees are wrong");
            for (var i = 0; i < count; i++)
            {
                var opened = reading.TryOpenTree(Name(i), out var tree);
                Require(opened == isThere(i), $"tree {i} {(opened ? "is still there" : "is missing")}");
                if (opened)
                    Require(tree.TryGet(Number(i), out var value) && value.SequenceEqual(Value(i, 30)), $"tree {i} has a wrong value");
            }
        }
    }

    private static byte[] Number(int number)
    {
        var key = new byte[8];
        BinaryPrimitives.WriteInt64BigEndian(key, number);
        return key;
    }
}
