using Voron.Format;
using Voron.Tests.Trees.IdSets;
using Voron.Trees.Batches;
using Voron.Trees.IdSets.Pages;

namespace Voron.Tests.Trees.Batches;

/// <summary>Changes of sets that wait in a buffer, and are applied together, give the same sets as one by one.</summary>
public sealed class WaitingIdApplierTests
{
    [Theory]
    [InlineData(1, 100, 50)]
    [InlineData(2, 30_000, 3)]
    [InlineData(3, 30_000, 2_000)]
    [InlineData(4, 20_000, 1)]
    public void Waiting_changes_agree_with_a_dictionary_of_sets(int seed, int changes, int keys)
    {
        var random = new Random(seed);
        using var tree = new TestIdTree();
        var buffer = new PutBuffer();
        for (var transaction = 0; transaction < 3; transaction++)
        {
            for (var i = 0; i < changes; i++)
            {
                var key = System.Text.Encoding.UTF8.GetBytes($"k{random.Next(keys)}");
                var isRemoval = random.Next(4) == 0;
                var id = random.Next(2) == 0 ? transaction * changes + i : random.Next(changes);
                Add(tree, buffer, key, new IdChange(id, isRemoval ? IdChange.Removal : (short)random.Next(256)));
            }

            buffer.Apply(tree.Pages, tree.State);
            buffer.Count.Should().Be(0);
            tree.Pages.EndTransaction();
            tree.Check();
        }

        buffer.Trim();
    }

    [Fact]
    public void The_last_change_of_an_id_counts()
    {
        using var tree = new TestIdTree();
        var buffer = new PutBuffer();
        foreach (var payload in new short[] { 5, IdChange.Removal, 7, 9 })
            Add(tree, buffer, "key"u8.ToArray(), new IdChange(3, payload));
        foreach (var payload in new short[] { 5, 6, IdChange.Removal })
            Add(tree, buffer, "other"u8.ToArray(), new IdChange(3, payload));
        buffer.Apply(tree.Pages, tree.State);
        tree.Check();
        tree.Model.Should().ContainSingle().Which.Value.Should().Equal(new Dictionary<long, byte> { [3] = 9 });
    }

    [Fact]
    public void Marked_changes_are_applied_without_the_others()
    {
        using var tree = new TestIdTree();
        var buffer = new PutBuffer();
        Add(tree, buffer, "b"u8.ToArray(), new IdChange(3, 0));
        Add(tree, buffer, "a"u8.ToArray(), new IdChange(4, 0));
        buffer.Mark();
        buffer.TryAdd("a"u8, WaitingIdApplier.Operand(new byte[9], new IdChange(9, 0)), WaitingOperation.AddId).Should().BeTrue();
        buffer.ApplyMarked(tree.Pages, tree.State);
        tree.Check();
        buffer.DiscardUnmarked();
        buffer.Apply(tree.Pages, tree.State);
        tree.Check();
    }

    [Fact]
    public void Changes_of_sets_wait_in_whatever_order_their_keys_come()
    {
        using var environment = StorageEnvironment.OpenInMemory();
        using var writing = environment.BeginWrite();
        writing.CreateTree("t").Put([1], [1]);
        writing.CreateTree("t").Put([2], [1]);
        var tree = writing.Body.OpenTree("t"u8, TreeKind.Plain)!;
        tree.SettledState().RightmostLeaf.IsNone.Should().BeFalse("keys are being appended");
        var operand = new byte[WaitingIdApplier.MaxOperandBytes];
        tree.TryDefer([3], [1]).Should().BeFalse();
        tree.TryDefer([3], WaitingIdApplier.Operand(operand, new IdChange(5, 0)), WaitingOperation.AddId).Should().BeTrue();
        tree.DiscardPuts();
        tree.TryDefer([3], WaitingIdApplier.Operand(operand, new IdChange(5, IdChange.Removal)), WaitingOperation.RemoveId).Should().BeTrue();
        tree.DiscardPuts();
    }

    private static void Add(TestIdTree tree, PutBuffer buffer, byte[] key, IdChange change)
    {
        var operation = change.IsRemoval ? WaitingOperation.RemoveId : WaitingOperation.AddId;
        var operand = WaitingIdApplier.Operand(new byte[WaitingIdApplier.MaxOperandBytes], change);
        if (!buffer.TryAdd(key, operand, operation))
        {
            buffer.Apply(tree.Pages, tree.State);
            buffer.TryAdd(key, operand, operation).Should().BeTrue();
        }

        tree.Expect(key, change);
    }
}
