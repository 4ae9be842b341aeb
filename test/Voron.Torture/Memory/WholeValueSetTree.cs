using System.Buffers.Binary;
using Voron.Simulation.Harness;

namespace Voron.Torture.Memory;

/// <summary>A tree of value sets of all forms: one of them moves to the companion and back within each change.</summary>
internal sealed class WholeValueSetTree : WholeTree
{
    private const string Name = "sets";
    private const int Left = 40;

    /// <summary>The numbers of values: one, few in the leaf, and many in the companion.</summary>
    private static readonly int[] Counts = [1, 12, 600];

    public override void Change(WriteTransaction writing)
    {
        var tree = writing.CreateValueSetTree(Name);
        Span<byte> value = stackalloc byte[2 * sizeof(long)];
        for (var set = 0; set < Counts.Length; set++)
        {
            byte[] key = [(byte)('a' + set)];
            tree.RemoveAll(key);
            for (var i = 0; i < Counts[set]; i++)
                tree.Add(key, Write(value, i, writing.TransactionId));
        }

        // Large, and small again.
        for (var i = 1; i < Counts[^1]; i++)
            tree.Add("z"u8, Write(value, i, writing.TransactionId));
        tree.RemoveAll("z"u8);
        for (var i = 0; i < Left; i++)
            tree.Add("z"u8, Write(value, i, writing.TransactionId));
        _ = tree.ValueCount;
    }

    protected override void Check(ReadTransaction reading, long by, string who)
    {
        var isThere = reading.TryOpenValueSetTree(Name, out var tree);
        BrokenPromiseException.Require(isThere == (by != 0), $"{who}: the tree of value sets is {(isThere ? "there" : "missing")}.");
        if (!isThere)
            return;
        for (var set = 0; set < Counts.Length; set++)
            CheckSet(tree, [(byte)('a' + set)], Counts[set], by, who);
        CheckSet(tree, [(byte)'z'], Left, by, who);
        BrokenPromiseException.Require(
            tree.ValueCount == Counts.Sum() + Left, $"{who}: the tree of value sets counts {tree.ValueCount} values after transaction {by}.");
    }

    private static void CheckSet(ValueSetTree tree, byte[] key, int count, long by, string who)
    {
        Span<byte> expected = stackalloc byte[2 * sizeof(long)];
        using var values = tree.OpenValues(key);
        for (var i = 0; i < count; i++)
        {
            var isRight = values.MoveNext() && values.Value.SequenceEqual(Write(expected, i, by));
            BrokenPromiseException.Require(isRight, $"{who}: value {i} of set {(char)key[0]} differs from the write of transaction {by}.");
        }

        BrokenPromiseException.Require(!values.MoveNext(), $"{who}: set {(char)key[0]} has more values than transaction {by} has written.");
    }

    private static ReadOnlySpan<byte> Write(Span<byte> value, int number, long transaction)
    {
        BinaryPrimitives.WriteInt64BigEndian(value, number);
        BinaryPrimitives.WriteInt64BigEndian(value[sizeof(long)..], transaction);
        return value;
    }
}
