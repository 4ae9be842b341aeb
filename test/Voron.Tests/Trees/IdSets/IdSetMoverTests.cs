using Voron.Trees;
using Voron.Trees.IdSets;
using Voron.Trees.IdSets.Pages;
using Voron.Trees.Kinds;

namespace Voron.Tests.Trees.IdSets;

[Quick]
public sealed unsafe class IdSetMoverTests
{
    private static readonly byte[] Key = "key"u8.ToArray();

    [Fact]
    public void All_pages_of_sets_are_moved_a_few_at_a_time()
    {
        using var tree = new TestIdTree();
        tree.Apply(Key, [.. Enumerable.Range(0, 300_000).Select(id => new IdChange(id * 1_000L + id % 300, 0))]);
        tree.Apply("small"u8.ToArray(), new IdChange(7, 1));
        tree.Apply("middle"u8.ToArray(), [.. Enumerable.Range(0, 1_000).Select(id => new IdChange(id * 9, 0))]);
        tree.Pages.EndTransaction();
        var tail = tree.Pages.PageLimit / 4;
        var mover = new FakeMover(tree.Pages, tail);
        HasPagesFrom(tree, tail).Should().BeTrue();
        var rounds = 0;
        foreach (var key in tree.Model.Keys)
        {
            do
            {
                mover.Left = 7;
                rounds++;
                tree.Pages.Savepoint();
            }
            while (rounds < 1_000 && !TreeMover.TryMoveExtent(tree.Pages, tree.State, key, mover) && Check(tree));
        }

        rounds.Should().BeGreaterThan(5);
        tree.Check();
        mover.Moved.Should().BeGreaterThan(20);
        HasPagesFrom(tree, tree.Pages.PageLimit).Should().BeFalse();
        tree.Apply(Key, new IdChange(1L << 40, 0));
        tree.Pages.EndTransaction();
        tree.Check();
    }

    [Fact]
    public void The_work_of_moving_a_set_grows_with_its_pages()
    {
        using var tree = new TestIdTree();
        tree.Apply(Key, [.. Enumerable.Range(0, 250_000).Select(id => new IdChange(id * (1L << 44), 0))]);
        var mover = new FakeMover(tree.Pages, tail: 1);
        do
        {
            mover.Left = 4;
            tree.Pages.EndTransaction();
        }
        while (!TreeMover.TryMoveExtent(tree.Pages, tree.State, Key, mover));

        tree.CheckStructure();
        mover.Moved.Should().BeGreaterThan(300);
        mover.Asked.Should().BeLessThan(mover.Moved * 5);
    }

    private static bool Check(TestIdTree tree)
    {
        tree.CheckStructure();
        return true;
    }

    private static bool HasPagesFrom(TestIdTree tree, long first)
    {
        var cursor = new TreeCursor();
        cursor.Open(tree.State, tree.Pages);
        var isFound = false;
        while (cursor.MoveNext())
            isFound |= IdTreeReader.HasPagesFrom(tree.Pages, cursor, first, out _);
        cursor.Close();
        return isFound;
    }
}
