using System.Buffers.Binary;
using Voron.Simulation.Harness;

namespace Voron.Torture.Memory;

/// <summary>
/// A tree that is written as a whole: with more puts than the first buffer holds, so that a larger one is allocated, and more pages than
/// are flushed at once.
/// </summary>
internal sealed class BigTree : WholeTree
{
    private const string Name = "big";
    private const int Keys = 1_500;
    private const int ValueBytes = 200;

    /// <summary>Shares no divisor with the number of keys, so that each key occurs once.</summary>
    private const int Step = 7919;

    public override void Change(WriteTransaction writing)
    {
        var tree = writing.CreateTree(Name);
        var value = new byte[ValueBytes];
        Span<byte> key = stackalloc byte[sizeof(int)];
        for (var i = 0; i < Keys; i++)
        {
            var number = i * Step % Keys;
            BinaryPrimitives.WriteInt32BigEndian(key, number);
            value.AsSpan().Fill(Fill(writing.TransactionId, number));
            tree.Put(key, value);
        }
    }

    protected override void Check(ReadTransaction reading, long by, string who)
    {
        var isThere = reading.TryOpenTree(Name, out var tree);
        BrokenPromiseException.Require(
            isThere == (by != 0), $"{who}: the large tree is {(isThere ? "there" : "missing")}.");
        if (!isThere)
            return;
        var next = 0;
        foreach (var entry in tree.GetEntries())
        {
            var isRight = BinaryPrimitives.ReadInt32BigEndian(entry.Key) == next
                && entry.Value.Length == ValueBytes && entry.Value.IndexOfAnyExcept(Fill(by, next)) < 0;
            BrokenPromiseException.Require(
                isRight, $"{who}: entry {next} of the large tree differs from the write of transaction {by}.");
            next++;
        }
        BrokenPromiseException.Require(
            next == Keys && tree.Count == Keys, $"{who}: the large tree has {next} entries of {Keys}.");
    }

    private static byte Fill(long id, int number) => (byte)((id * 31) + number);
}
