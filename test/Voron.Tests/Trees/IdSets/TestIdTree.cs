using Voron.Format;
using Voron.Trees;
using Voron.Trees.IdSets;
using Voron.Trees.IdSets.Pages;
using Voron.Trees.Pages;

namespace Voron.Tests.Trees.IdSets;

/// <summary>A tree of id sets on fake pages, with a sorted model of its expected content.</summary>
internal sealed class TestIdTree : IDisposable
{
    public const uint TreeId = 6;

    private readonly IdSetCursor _ids = new();

    public TestIdTree(int pageSize = 4096)
    {
        Pages = new FakePages(pageSize);
        State = new TreeState(new TreeHeader { Kind = TreeKind.IdSets, TreeId = TreeId }, Pages.KeyHeads);
    }

    public FakePages Pages { get; }

    public TreeState State { get; }

    public SortedDictionary<byte[], SortedDictionary<long, byte>> Model { get; } =
        new(Comparer<byte[]>.Create(static (left, right) => left.AsSpan().SequenceCompareTo(right)));

    public void Apply(byte[] key, params IdChange[] changes) =>
        IdTreeWriter.Apply(Pages, State, key, changes).Should().Be(Expect(key, changes));

    /// <summary>Changes the model alone, and returns by how many ids the set has grown.</summary>
    public int Expect(byte[] key, params IdChange[] changes)
    {
        var set = Model.TryGetValue(key, out var found) ? found : [];
        var before = set.Count;
        foreach (var change in changes)
        {
            if (change.IsRemoval)
                set.Remove(change.Id);
            else
                set[change.Id] = (byte)change.Payload;
        }

        if (set.Count == 0)
            Model.Remove(key);
        else
            Model[key] = set;
        return set.Count - before;
    }

    public void RemoveAll(byte[] key) => TreeWriter.Delete(Pages, State, key).Should().Be(Model.Remove(key));

    public void DeleteRange(byte[] from, byte[] to)
    {
        var keys = Model.Keys.Where(key => key.AsSpan().SequenceCompareTo(from) >= 0 && key.AsSpan().SequenceCompareTo(to) < 0).ToList();
        RangeRemoval.Delete(Pages, State, KeyBound.Before(from), KeyBound.Before(to)).Should().Be(keys.Count);
        foreach (var key in keys)
            Model.Remove(key);
    }

    public List<long> IdsOf(byte[] key)
    {
        var ids = new List<long>();
        if (!IdTreeReader.TryOpen(State, Pages, key, _ids))
            return ids;
        while (_ids.MoveNext())
            ids.Add(_ids.Current);
        return ids;
    }

    /// <summary>Checks that the tree is sound, owns every page in use, counts what it has, and has the content of the model.</summary>
    public void Check()
    {
        CheckStructure();
        State.EntryCount.Should().Be(Model.Count);
        State.NestedValues.Should().Be(Model.Values.Sum(set => (long)set.Count));
        foreach (var (key, set) in Model)
        {
            IdTreeReader.CountOf(State, Pages, key).Should().Be(set.Count);
            IdTreeReader.TryOpen(State, Pages, key, _ids).Should().BeTrue();
            foreach (var (id, payload) in set)
            {
                if (!_ids.MoveNext() || _ids.Current != id || _ids.Payload != payload)
                    throw new InvalidOperationException($"the set of key {Convert.ToHexString(key)} differs from the model at id {id}");
            }

            _ids.MoveNext().Should().BeFalse();
        }
    }

    public void CheckStructure()
    {
        var problems = Problems(out var owned);
        problems.Should().BeEmpty();
        owned.Should().Be((int)Pages.PagesInUse, "the tree owns all pages that are not free");
    }

    public List<string> Problems(out int owned)
    {
        var problems = new List<string>();
        var check = new TreeCheck(Pages, Pages.PageLimit, problems.Add);
        check.Run(State.ToHeader());
        owned = check.Owned.Count;
        return problems;
    }

    public void Dispose() => Pages.Dispose();
}
