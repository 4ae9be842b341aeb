using System.Buffers.Binary;
using Voron.Testing;
using Voron.Trees;

namespace Voron.Transactions;

/// <summary>Changes of an open tree that depend on the value that it has, which is read before anything changes.</summary>
internal static class TreeUpdater
{
    /// <summary>Sets the value of a key if it has the expected one; false, with nothing changed, if it has another one, or none.</summary>
    public static bool CompareExchange(OpenTree tree, ReadOnlySpan<byte> key, ReadOnlySpan<byte> value, ReadOnlySpan<byte> expected)
    {
        var write = TreeEditor.Begin(tree, key);
        if (!HasValue(tree.SettledState(), write, key, expected) && !PlantedFault.ExchangeUncompared)
            return false;
        TreeEditor.PutNow(tree, key, value);
        return true;
    }

    /// <summary>Adds to a counter, which is 0 if there is none, and returns its new value.</summary>
    /// <exception cref="InvalidOperationException">The value of the key is not a counter.</exception>
    /// <exception cref="OverflowException">The sum is no 64-bit integer.</exception>
    public static long Increment(OpenTree tree, ReadOnlySpan<byte> key, long delta)
    {
        var write = TreeEditor.Begin(tree, key);
        var sum = delta;
        if (TreeReader.TryGet(tree.SettledState(), write.Pages, key, out var value))
        {
            if (value.Length != sizeof(long))
            {
                throw new InvalidOperationException(
                    $"The value of key {KeyText.Of(key)} in tree '{Catalog.Decode(tree.Name)}' has {value.Length} bytes, but a counter has " +
                    $"{sizeof(long)}. Nothing was changed.");
            }

            var count = BinaryPrimitives.ReadInt64LittleEndian(value);
            sum = unchecked(count + delta);
            if (((count ^ sum) & (delta ^ sum)) < 0)
            {
                throw new OverflowException(
                    $"The counter of key {KeyText.Of(key)} in tree '{Catalog.Decode(tree.Name)}' is {count} and cannot be changed by {delta}. " +
                    "Nothing was changed.");
            }
        }

        Span<byte> bytes = stackalloc byte[sizeof(long)];
        BinaryPrimitives.WriteInt64LittleEndian(bytes, sum);
        TreeEditor.PutNow(tree, key, bytes);
        return sum;
    }

    private static unsafe bool HasValue(TreeState state, WriteScope write, ReadOnlySpan<byte> key, ReadOnlySpan<byte> expected)
    {
        // Compared by their lengths first, which needs no page of a value that is stored outside the leaf.
        var record = TreeReader.Find(state, write.Pages, key);
        return record != null && LeafValue.Length(record) == expected.Length && LeafValue.Read(write.Pages, record).SequenceEqual(expected);
    }
}
