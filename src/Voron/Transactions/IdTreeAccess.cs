using System.Runtime.CompilerServices;
using Voron.Trees;
using Voron.Trees.Batches;
using Voron.Trees.IdSets;
using Voron.Trees.IdSets.Pages;

namespace Voron.Transactions;

/// <summary>Changes an open tree of id sets: defers single changes, and applies many changes of a set together.</summary>
/// <remarks>A change that fails midway breaks the transaction: see <see cref="WriteContext.Break"/>.</remarks>
internal static class IdTreeAccess
{
    /// <summary>Ids of one set that are applied together: enough for several blocks, few enough for the stack.</summary>
    private const int Together = 512;

    /// <summary>Adds an id to the set of a key, or removes it, immediately or together with other changes.</summary>
    /// <exception cref="ArgumentException">The key is empty or too long.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The id is negative.</exception>
    public static void Change(OpenTree tree, ReadOnlySpan<byte> key, in IdChange change)
    {
        TreeAccess.Begin(tree, key);
        ArgumentOutOfRangeException.ThrowIfNegative(change.Id, "id");
        Span<byte> buffer = stackalloc byte[WaitingIdApplier.MaxOperandBytes];
        var operation = change.IsRemoval ? WaitingOperation.RemoveId : WaitingOperation.AddId;
        if (!tree.TryDefer(key, WaitingIdApplier.Operand(buffer, change), operation))
            ApplyAlone(tree, key, change);
    }

    /// <summary>Adds ids to the set of a key, and returns the number of those that it did not contain.</summary>
    /// <exception cref="ArgumentException">
    /// The key is empty or too long, the ids are not in ascending order, or there are payloads, but not one for each id. Nothing was changed.
    /// </exception>
    [SkipLocalsInit]
    public static long AddMany(OpenTree tree, ReadOnlySpan<byte> key, ReadOnlySpan<long> ids, ReadOnlySpan<byte> payloads)
    {
        TreeAccess.Begin(tree, key);
        CheckOrder(ids);
        if (!payloads.IsEmpty && payloads.Length != ids.Length)
            throw new ArgumentException($"There are {payloads.Length} payloads for {ids.Length} ids: pass one for each id, or none.", nameof(payloads));

        // The key may be a span of the tree's own pages, which the first part changes.
        Span<byte> copy = stackalloc byte[key.Length];
        key.CopyTo(copy);
        Span<IdChange> changes = stackalloc IdChange[Math.Min(Together, ids.Length)];
        var added = 0L;
        for (var from = 0; from < ids.Length; from += Together)
        {
            var count = Math.Min(Together, ids.Length - from);
            for (var i = 0; i < count; i++)
                changes[i] = new IdChange(ids[from + i], payloads.IsEmpty ? (short)0 : payloads[from + i]);
            added += Apply(tree, copy, changes[..count]);
        }

        return added;
    }

    /// <summary>Removes ids from the set of a key, and returns the number of those that it contained.</summary>
    /// <exception cref="ArgumentException">The key is empty or too long, or the ids are not in ascending order. Nothing was changed.</exception>
    [SkipLocalsInit]
    public static long RemoveMany(OpenTree tree, ReadOnlySpan<byte> key, ReadOnlySpan<long> ids)
    {
        TreeAccess.Begin(tree, key);
        CheckOrder(ids);
        // The key may be a span of the tree's own pages, which the first part changes.
        Span<byte> copy = stackalloc byte[key.Length];
        key.CopyTo(copy);
        Span<IdChange> changes = stackalloc IdChange[Math.Min(Together, ids.Length)];
        var removed = 0L;
        for (var from = 0; from < ids.Length; from += Together)
        {
            var count = Math.Min(Together, ids.Length - from);
            for (var i = 0; i < count; i++)
                changes[i] = new IdChange(ids[from + i], IdChange.Removal);
            removed -= Apply(tree, copy, changes[..count]);
        }

        return removed;
    }

    /// <summary>Removes the set of a key, and returns the number of its ids.</summary>
    public static long RemoveAll(OpenTree tree, ReadOnlySpan<byte> key)
    {
        var write = tree.Owner.Write!;
        write.ThrowIfBroken();
        try
        {
            // The key may be a span of the tree's own pages, which the waiting changes change.
            var own = tree.HasWaitingPuts ? key.ToArray() : key;
            var state = tree.SettledState();
            var before = state.NestedValues;
            return TreeWriter.Delete(write.Pages, state, own) ? before - state.NestedValues : 0;
        }
        catch (Exception e) when (write.Break(e))
        {
            throw;
        }
    }

    // The key may be a span of the tree's own pages, which the waiting changes change.
    [SkipLocalsInit]
    private static void ApplyAlone(OpenTree tree, ReadOnlySpan<byte> key, in IdChange change)
    {
        Span<byte> copy = stackalloc byte[key.Length];
        key.CopyTo(copy);
        Apply(tree, copy, [change]);
    }

    private static long Apply(OpenTree tree, ReadOnlySpan<byte> key, scoped ReadOnlySpan<IdChange> changes)
    {
        var write = tree.Owner.Write!;
        try
        {
            return IdTreeWriter.Apply(write.Pages, tree.SettledState(), key, changes);
        }
        catch (Exception e) when (write.Break(e))
        {
            throw;
        }
    }

    private static void CheckOrder(ReadOnlySpan<long> ids)
    {
        for (var i = 0; i < ids.Length; i++)
        {
            if (ids[i] < 0)
                throw new ArgumentOutOfRangeException(nameof(ids), ids[i], $"Id {i} of {ids.Length} is negative. Ids are 0 to {long.MaxValue}.");
            if (i > 0 && ids[i] <= ids[i - 1])
            {
                throw new ArgumentException(
                    $"Id {i} of {ids.Length}, {ids[i]}, is not above the one before it, {ids[i - 1]}. Pass ids in ascending order, each once.", nameof(ids));
            }
        }
    }
}
