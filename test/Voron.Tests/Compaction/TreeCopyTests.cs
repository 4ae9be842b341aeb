using System.Text;
using Voron.Format;

namespace Voron.Tests.Compaction;

/// <summary>Trees of all kinds that are copied in several transactions, with as little as possible in each.</summary>
public sealed class TreeCopyTests : IDisposable
{
    private const int Keys = 20;
    private const int Ids = 5000;

    private readonly StorageEnvironment _source = StorageEnvironment.OpenInMemory();
    private readonly StorageEnvironment _copy = StorageEnvironment.OpenInMemory();

    public void Dispose()
    {
        _source.Dispose();
        _copy.Dispose();
    }

    [Fact]
    public void Keys_and_values_are_copied_one_by_one()
    {
        _source.Write(writing =>
        {
            var tree = writing.CreateTree("tree");
            for (var i = 0; i < Keys; i++)
                tree.Put(Key(i), new byte[i * 10_000]);
        });
        Copy(TreeKind.Plain).Should().Equal(Enumerable.Range(0, Keys).Select(i => Key(i).Length + i * 10_000L));
        using var reading = _copy.BeginRead();
        var found = new List<int>();
        foreach (var entry in reading.OpenTree("tree").GetEntries())
            found.Add(entry.Value.Length);
        found.Should().Equal(Enumerable.Range(0, Keys).Select(i => i * 10_000));
    }

    [Fact]
    public void Values_of_a_fixed_size_are_copied_one_by_one()
    {
        _source.Write(writing =>
        {
            var tree = writing.CreateFixedTree("tree", 4);
            for (var i = -Keys / 2; i < Keys / 2; i++)
                tree.Put(i, BitConverter.GetBytes(i));
        });
        Copy(TreeKind.FixedSize).Should().HaveCount(Keys).And.AllBeEquivalentTo(12);
        using var reading = _copy.BeginRead();
        var tree = reading.OpenFixedTree("tree");
        tree.Count.Should().Be(Keys);
        for (var i = -Keys / 2; i < Keys / 2; i++)
        {
            tree.TryGet(i, out var value).Should().BeTrue();
            BitConverter.ToInt32(value).Should().Be(i);
        }
    }

    [Fact]
    public void Large_and_small_sets_of_ids_are_copied_in_parts()
    {
        var ids = Enumerable.Range(0, Ids).Select(i => (long)i * 1000).ToArray();
        var payloads = ids.Select(id => (byte)(id / 1000)).ToArray();
        _source.Write(writing =>
        {
            var tree = writing.CreateIdTree("tree");
            tree.AddMany(Key(1), ids, payloads);
            tree.AddMany(Key(2), ids.AsSpan(0, 1), payloads.AsSpan(0, 1));
            tree.AddMany(Key(3), ids, payloads);
        });
        Copy(TreeKind.IdSets).Should().HaveCount(7).And.OnlyContain(bytes => bytes > 0);
        using var reading = _copy.BeginRead();
        var tree = reading.OpenIdTree("tree");
        (tree.Count, tree.ValueCount).Should().Be((3, 2 * Ids + 1));
        foreach (var key in new[] { 1, 3 })
        {
            using var set = tree.OpenIds(Key(key));
            set.SeekFirst().Should().BeTrue();
            var (found, with) = (new long[Ids], new byte[Ids]);
            set.Fill(found, with).Should().Be(Ids);
            found.Should().Equal(ids);
            with.Should().Equal(payloads);
        }
    }

    [Fact]
    public void Sets_of_values_are_copied_value_by_value()
    {
        _source.Write(writing =>
        {
            var tree = writing.CreateValueSetTree("tree");
            for (var i = 0; i < Keys; i++)
            {
                for (var value = 0; value < 3; value++)
                    tree.Add(Key(i), Key(value));
            }
        });
        Copy(TreeKind.ValueSets).Should().HaveCount(3 * Keys).And.AllBeEquivalentTo(Key(0).Length);
        using var reading = _copy.BeginRead();
        var tree = reading.OpenValueSetTree("tree");
        (tree.Count, tree.ValueCount).Should().Be((Keys, 3 * Keys));
        tree.Contains(Key(Keys - 1), Key(2)).Should().BeTrue();
    }

    [Fact]
    public void An_empty_tree_is_created()
    {
        _source.Write(writing => writing.CreateIdTree("tree"));
        Copy(TreeKind.IdSets).Should().Equal(0);
        using var reading = _copy.BeginRead();
        reading.OpenIdTree("tree").Count.Should().Be(0);
    }

    [Fact]
    public void A_cancelled_copy_keeps_its_place()
    {
        _source.Write(writing => writing.CreateTree("tree").Put("a"u8, "b"u8));
        using var reading = _source.BeginRead();
        using var copy = TreeCopy.Begin(reading, "tree"u8.ToArray(), TreeKind.Plain);
        using var writing = _copy.BeginWrite();
        copy.Invoking(tree => tree.CopySome(writing, 1, new CancellationToken(canceled: true))).Should().Throw<OperationCanceledException>();
        copy.HasMore.Should().BeTrue();
        copy.CopySome(writing, 1, TestContext.Current.CancellationToken).Should().Be(2);
        copy.HasMore.Should().BeFalse();
    }

    private static byte[] Key(int i) => Encoding.UTF8.GetBytes($"key {i:D3}");

    // Returns the bytes of each transaction.
    private List<long> Copy(TreeKind kind)
    {
        var bytes = new List<long>();
        using var reading = _source.BeginRead();
        using var copy = TreeCopy.Begin(reading, "tree"u8.ToArray(), kind);
        do
        {
            using var writing = _copy.BeginWrite();
            bytes.Add(copy.CopySome(writing, 1, TestContext.Current.CancellationToken));
            writing.Commit();
        }
        while (copy.HasMore);
        _copy.Verify().Problems.Should().BeEmpty();
        return bytes;
    }
}
