using System.Runtime.InteropServices;
using Voron.Testing;
using Voron.Trees;
using Voron.Trees.Batches;

namespace Voron.Transactions;

/// <summary>Changes of an open tree that depend on a key's current value, which is read before anything changes.</summary>
internal static class TreeUpdater
{
    /// <summary>Sets a key's value if the current value is the expected one; otherwise returns false and changes nothing.</summary>
    public static bool CompareExchange(OpenTree tree, ReadOnlySpan<byte> key, ReadOnlySpan<byte> value, ReadOnlySpan<byte> expected)
    {
        var write = TreeAccess.Begin(tree, key);
        if (!HasValue(tree.SettledState(), write, key, expected) && !PlantedFault.ExchangeUncompared)
            return false;
        TreeAccess.PutNow(tree, key, value);
        return true;
    }

    /// <summary>Adds to a counter, which is 0 if there is none, and returns its new value.</summary>
    /// <exception cref="InvalidOperationException">The value of the key is not a counter.</exception>
    /// <exception cref="OverflowException">The sum is no 64-bit integer.</exception>
    public static unsafe long Add(OpenTree tree, ReadOnlySpan<byte> key, long delta)
    {
        var write = TreeAccess.Begin(tree, key);
        long sum;
        try
        {
            sum = Counter.Sum(write.Pages, TreeReader.Find(tree.SettledState(), write.Pages, key), key, [delta]);
        }
        catch (CounterException e)
        {
            throw e.Describe(Catalog.Decode(tree.Name), "Nothing was changed.");
        }

        TreeAccess.PutNow(tree, key, MemoryMarshal.AsBytes(new ReadOnlySpan<long>(in sum)));
        return sum;
    }

    /// <summary>Adds to a counter together with other puts. The first increment of a transaction is applied immediately.</summary>
    /// <inheritdoc cref="WriteTree.Increment"/>
    public static void Increment(OpenTree tree, ReadOnlySpan<byte> key, long delta)
    {
        var write = TreeAccess.Begin(tree, key);
        if (tree.StateAsIs.IsRecorded)
        {
            IncrementRecorded(write, tree, key, delta);
            return;
        }

        if (tree.TryDefer(key, MemoryMarshal.AsBytes(new ReadOnlySpan<long>(in delta)), WaitingOperation.Increment))
            return;
        try
        {
            TreeWriter.Add(write.Pages, tree.SettledState(), key, [delta]);
        }
        catch (CounterException e)
        {
            // Fails as if it had waited: whether a transaction may continue must not depend on that.
            throw tree.NoCounter(e);
        }
        catch (Exception e) when (write.Break(e))
        {
            throw;
        }
    }

    // A feed records the sum, which is known only when the increment is applied. A failure breaks the transaction, as if the increment had waited.
    private static unsafe void IncrementRecorded(WriteContext write, OpenTree tree, ReadOnlySpan<byte> key, long delta)
    {
        long sum;
        try
        {
            sum = Counter.Sum(write.Pages, TreeReader.Find(tree.SettledState(), write.Pages, key), key, [delta]);
        }
        catch (CounterException e)
        {
            throw tree.NoCounter(e);
        }

        TreeAccess.PutNow(tree, key, MemoryMarshal.AsBytes(new ReadOnlySpan<long>(in sum)));
    }

    /// <summary>Removes an entry if its value is the expected one; otherwise returns false and changes nothing.</summary>
    public static bool DeleteIf(OpenTree tree, ReadOnlySpan<byte> key, ReadOnlySpan<byte> expected)
    {
        var write = tree.Owner.Write!;
        write.ThrowIfBroken();
        return HasValue(tree.SettledState(), write, key, expected) && TreeAccess.Delete(tree, key);
    }

    private static unsafe bool HasValue(TreeState state, WriteContext write, ReadOnlySpan<byte> key, ReadOnlySpan<byte> expected)
    {
        var record = TreeReader.Find(state, write.Pages, key);
        return record != null && LeafValue.HasBytes(write.Pages, record, state.TreeId, expected);
    }
}
