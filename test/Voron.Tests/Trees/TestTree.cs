using Voron.Trees;
using Voron.Trees.Pages;

namespace Voron.Tests.Trees;

/// <summary>A tree on fake pages, with a sorted model of its expected contents.</summary>
internal sealed class TestTree : IDisposable
{
    public TestTree(int pageSize = 4096, long dataFileKeyHeadBytes = 0)
    {
        Pages = new FakePages(pageSize, dataFileKeyHeadBytes);
        State = new TreeState(Pages.KeyHeads);
    }

    public FakePages Pages { get; }

    public TreeState State { get; }

    public SortedDictionary<byte[], byte[]> Model { get; } = new(ByteOrder.Instance);

    public int MaxKeyLength => TreeLimits.MaxKeyLength(Pages.PageSize);

    public void Put(byte[] key, byte[] value)
    {
        TreeWriter.Put(Pages, State, key, value);
        Model[key] = value;
    }

    public bool Insert(byte[] key, byte[] value)
    {
        var inserted = TreeWriter.Insert(Pages, State, key, value);
        inserted.Should().Be(Model.TryAdd(key, value));
        return inserted;
    }

    public bool Delete(byte[] key)
    {
        var deleted = TreeWriter.Delete(Pages, State, key);
        deleted.Should().Be(Model.Remove(key));
        return deleted;
    }

    /// <summary>Deletes the keys from one on, and below another.</summary>
    /// <param name="from">The first key; null for the first of the tree.</param>
    /// <param name="to">The key after the last one; null for no end.</param>
    public long DeleteRange(byte[]? from, byte[]? to)
    {
        var keys = Model.Keys
            .Where(key => key.AsSpan().SequenceCompareTo(from) >= 0 && (to == null || key.AsSpan().SequenceCompareTo(to) < 0)).ToList();
        var removed = RangeRemoval.Delete(Pages, State, KeyBound.Before(from), to == null ? KeyBound.End : KeyBound.Before(to));
        removed.Should().Be(keys.Count);
        foreach (var key in keys)
            Model.Remove(key);
        return removed;
    }

    public byte[]? Get(byte[] key) => TreeReader.TryGet(State, Pages, key, out var value) ? value.ToArray() : null;

    public TreeCursor OpenCursor()
    {
        var cursor = new TreeCursor();
        cursor.Open(State, Pages);
        return cursor;
    }

    /// <summary>Checks that the tree is sound, owns every page in use, and has the contents of the model.</summary>
    public void Check()
    {
        CheckStructure();
        State.EntryCount.Should().Be(Model.Count);
        var cursor = OpenCursor();
        foreach (var (key, value) in Model)
        {
            if (!cursor.MoveNext() || !cursor.Key.SequenceEqual(key) || !cursor.Value.SequenceEqual(value))
                throw new InvalidOperationException($"the tree differs from the model at key {Convert.ToHexString(key)}");
        }

        cursor.MoveNext().Should().BeFalse();
        foreach (var (key, _) in Model.Reverse())
        {
            if (!cursor.MovePrevious() || !cursor.Key.SequenceEqual(key))
                throw new InvalidOperationException($"going back, the tree differs at key {Convert.ToHexString(key)}");
        }

        cursor.MovePrevious().Should().BeFalse();
        cursor.Close();
    }

    public void CheckStructure()
    {
        var problems = new List<string>();
        var check = new TreeCheck(Pages, Pages.PageLimit, problems.Add);
        check.Run(State.ToHeader());
        problems.Should().BeEmpty();
        check.Owned.Count.Should().Be((int)Pages.PagesInUse, "the tree owns all pages that are not free");
    }

    public void Dispose() => Pages.Dispose();

    private sealed class ByteOrder : IComparer<byte[]>
    {
        public static readonly ByteOrder Instance = new();

        public int Compare(byte[]? x, byte[]? y) => x.AsSpan().SequenceCompareTo(y);
    }
}
