using Voron.Simulation.Harness;

namespace Voron.Torture.Memory;

/// <summary>A fixed-size tree of several leaves, whose pages are divided, merged and freed by each change.</summary>
internal sealed class WholeFixedTree : WholeTree
{
    private const string Name = "fixed";
    private const int Keys = 900;
    private const int ValueBytes = 16;

    /// <summary>Shares no divisor with the number of keys, so that each key occurs once.</summary>
    private const int Step = 7919;

    public override void Change(WriteTransaction writing)
    {
        var tree = writing.CreateFixedTree(Name, ValueBytes);
        tree.DeleteRange(50, Keys - 50);
        Span<byte> value = stackalloc byte[ValueBytes];
        for (var i = 0; i < Keys; i++)
        {
            var key = i * Step % Keys;
            value.Fill(Fill(writing.TransactionId, key));
            tree.Put(key, value);
        }

        for (var key = 0; key < Keys; key += 3)
            tree.Delete(key);
    }

    protected override void Check(ReadTransaction reading, long by, string who)
    {
        var isThere = reading.TryOpenFixedTree(Name, out var tree);
        BrokenPromiseException.Require(isThere == (by != 0), $"{who}: the fixed-size tree is {(isThere ? "there" : "missing")}.");
        if (!isThere)
            return;
        using var cursor = tree.OpenCursor();
        for (var key = 1L; key < Keys; key += key % 3 == 1 ? 1 : 2)
        {
            var isRight = cursor.MoveNext() && cursor.Key == key && cursor.Value.IndexOfAnyExcept(Fill(by, key)) < 0;
            BrokenPromiseException.Require(isRight, $"{who}: key {key} of the fixed-size tree differs from the write of transaction {by}.");
        }

        BrokenPromiseException.Require(!cursor.MoveNext() && tree.Count == Keys * 2 / 3, $"{who}: the fixed-size tree counts {tree.Count} entries.");
    }

    private static byte Fill(long id, long key) => (byte)((id * 31) + key);
}
