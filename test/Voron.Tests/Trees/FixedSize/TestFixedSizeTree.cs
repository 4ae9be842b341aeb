using System.Runtime.InteropServices;
using Voron.Format;
using Voron.Trees;
using Voron.Trees.FixedSize;

namespace Voron.Tests.Trees.FixedSize;

/// <summary>A fixed-size tree on fake pages, with a sorted model of its expected contents. Values repeat the bytes of a number.</summary>
internal sealed unsafe class TestFixedSizeTree : IDisposable
{
    public TestFixedSizeTree(int pageSize = 4096, int valueSize = 8)
    {
        ValueSize = valueSize;
        Pages = new FakePages(pageSize);
        State = new TreeState(new TreeHeader { Kind = TreeKind.FixedSize, NestedValues = valueSize }, Pages.KeyHeads);
    }

    public FakePages Pages { get; }

    public TreeState State { get; }

    public int ValueSize { get; }

    public SortedDictionary<long, int> Model { get; } = [];

    public void Put(long key, int value)
    {
        FixedSizeWriter.Put(Pages, State, key, Value(value));
        Model[key] = value;
    }

    public bool Delete(long key)
    {
        var deleted = FixedSizeWriter.Delete(Pages, State, key);
        deleted.Should().Be(Model.Remove(key));
        return deleted;
    }

    public void DeleteRange(long first, long last)
    {
        var keys = Model.Keys.Where(key => key >= first && key <= last).ToList();
        FixedSizeRemoval.Delete(Pages, State, first, last).Should().Be(keys.Count);
        foreach (var key in keys)
            Model.Remove(key);
    }

    public ReadOnlySpan<byte> Get(long key)
    {
        var value = FixedSizeReader.Find(State, Pages, key);
        return value == null ? default : new ReadOnlySpan<byte>(value, ValueSize);
    }

    public bool Contains(long key) => FixedSizeReader.Find(State, Pages, key) != null;

    public long? Near(long key, int step) => FixedSizeReader.FindNear(State, Pages, key, step, out var found) == null ? null : found;

    public byte[] Value(int number)
    {
        var value = new byte[ValueSize];
        for (var i = 0; i < value.Length; i++)
            value[i] = MemoryMarshal.AsBytes(new ReadOnlySpan<int>(in number))[i % 4];
        return value;
    }

    public FixedSizeCursor OpenCursor()
    {
        var cursor = new FixedSizeCursor();
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
            if (!cursor.MoveNext() || cursor.Key != key || !cursor.Value.SequenceEqual(Value(value)))
                throw new InvalidOperationException($"the tree differs from the model at key {key}");
        }

        cursor.MoveNext().Should().BeFalse();
        foreach (var (key, _) in Model.Reverse())
        {
            if (!cursor.MovePrevious() || cursor.Key != key)
                throw new InvalidOperationException($"going back, the tree differs at key {key}");
        }

        cursor.MovePrevious().Should().BeFalse();
        cursor.Close();
    }

    public void CheckStructure()
    {
        foreach (var slice in (int[])[0, 3])
        {
            var problems = new List<string>();
            var check = new TreeCheck(Pages, Pages.PageLimit, problems.Add) { SlicePages = slice };
            check.Run(State.ToHeader());
            problems.Should().BeEmpty();
            check.Owned.Count.Should().Be((int)Pages.PagesInUse, "the tree owns all pages that are not free");
        }
    }

    public void Dispose() => Pages.Dispose();
}
