using Voron.Simulation.Harness;

namespace Voron.Torture.Memory;

/// <summary>An id tree with sets of all forms, whose pages are divided, merged and freed by each change.</summary>
internal sealed class WholeIdTree : WholeTree
{
    private const string Name = "ids";
    private const int Ids = 700;

    /// <summary>Sets of one id, of few, and with pages of their own.</summary>
    private static readonly int[] Strides = [Ids, 20, 1];

    public override void Change(WriteTransaction writing)
    {
        var tree = writing.CreateIdTree(Name);
        for (var set = 0; set < Strides.Length; set++)
        {
            byte[] key = [(byte)('a' + set)];
            tree.RemoveAll(key);
            for (var id = 0; id < Ids; id += Strides[set])
                tree.Add(key, IdOf(id), Payload(writing.TransactionId, id));
            if (set == Strides.Length - 1)
                tree.RemoveMany(key, [.. Enumerable.Range(0, Ids / 2).Select(id => IdOf(2 * id + 1))]);
        }

        // Waiting changes are made by the first read: a failure shows here.
        _ = tree.ValueCount;
    }

    protected override void Check(ReadTransaction reading, long by, string who)
    {
        var isThere = reading.TryOpenIdTree(Name, out var tree);
        BrokenPromiseException.Require(isThere == (by != 0), $"{who}: the id tree is {(isThere ? "there" : "missing")}.");
        for (var set = 0; isThere && set < Strides.Length; set++)
        {
            using var cursor = tree.OpenIds([(byte)('a' + set)]);
            for (var id = 0; id < Ids; id += Math.Max(2, Strides[set]))
            {
                var isRight = cursor.MoveNext() && cursor.Id == IdOf(id) && cursor.Payload == Payload(by, id);
                BrokenPromiseException.Require(isRight, $"{who}: id {IdOf(id)} of set {set} differs from the write of transaction {by}.");
            }

            BrokenPromiseException.Require(!cursor.MoveNext(), $"{who}: set {set} has more ids than transaction {by} has written.");
        }
    }

    private static long IdOf(int id) => id * 1_000_003L;

    private static byte Payload(long transaction, int id) => (byte)((transaction * 31) + id);
}
