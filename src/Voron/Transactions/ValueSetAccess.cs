using System.Runtime.CompilerServices;
using Voron.Trees.Pages;
using Voron.Trees.ValueSets;
using Voron.Trees.ValueSets.Records;

namespace Voron.Transactions;

/// <summary>The changes of one open tree of value sets, and of the companion that was opened with it.</summary>
/// <remarks>A change that fails midway breaks the transaction: see <see cref="WriteContext.Break"/>.</remarks>
internal static class ValueSetAccess
{
    /// <summary>Adds a value to the set of a key; false, with nothing changed, if the set contains it.</summary>
    /// <exception cref="ArgumentException">The key or the value is empty or too long. Nothing was changed.</exception>
    public static bool Add(OpenTree tree, ReadOnlySpan<byte> key, ReadOnlySpan<byte> value) => Change(tree, key, value, adds: true);

    /// <summary>Removes a value from the set of a key; false, with nothing changed, if the set does not contain it.</summary>
    /// <inheritdoc cref="Add"/>
    public static bool Remove(OpenTree tree, ReadOnlySpan<byte> key, ReadOnlySpan<byte> value) => Change(tree, key, value, adds: false);

    /// <summary>Removes the set of a key, and returns the number of its values.</summary>
    [SkipLocalsInit]
    public static long RemoveAll(OpenTree tree, ReadOnlySpan<byte> key)
    {
        var write = TreeAccess.Begin(tree, key);
        Span<byte> copy = stackalloc byte[key.Length];
        key.CopyTo(copy);
        try
        {
            return ValueSetWriter.RemoveAll(write.Pages, tree.SettledState(), tree.LargeSets?.SettledState(), copy);
        }
        catch (Exception e) when (write.Break(e))
        {
            throw;
        }
    }

    /// <summary>Removes the keys of a range with their sets, and returns the number of keys.</summary>
    public static long DeleteRange(OpenTree tree, KeyBound start, KeyBound end)
    {
        var write = tree.Owner.Write!;
        write.ThrowIfBroken();
        try
        {
            return start.CompareTo(end) >= 0
                ? 0
                : ValueSetWriter.DeleteRange(write.Pages, tree.SettledState(), tree.LargeSets?.SettledState(), start, end);
        }
        catch (Exception e) when (write.Break(e))
        {
            throw;
        }
    }

    /// <summary>Removes all keys with their sets.</summary>
    public static void Clear(OpenTree tree)
    {
        var write = tree.Owner.Write!;
        write.BeginChange();
        try
        {
            ValueSetWriter.Clear(write.Pages, tree.SettledState(), tree.LargeSets?.SettledState());
        }
        catch (Exception e) when (write.Break(e))
        {
            throw;
        }
    }

    [SkipLocalsInit]
    private static bool Change(OpenTree tree, ReadOnlySpan<byte> key, ReadOnlySpan<byte> value, bool adds)
    {
        var write = TreeAccess.Begin(tree, key);
        ValueSetErrors.CheckValue(write.Pages.PageSize, value);

        // Both may be spans of the tree's own pages, which the change moves.
        Span<byte> copy = stackalloc byte[key.Length + value.Length];
        key.CopyTo(copy);
        value.CopyTo(copy[key.Length..]);
        try
        {
            var (keys, large) = (tree.SettledState(), tree.LargeSets?.SettledState());
            return adds
                ? ValueSetWriter.Add(write.Pages, keys, large, copy[..key.Length], copy[key.Length..])
                : ValueSetWriter.Remove(write.Pages, keys, large, copy[..key.Length], copy[key.Length..]);
        }
        catch (Exception e) when (write.Break(e))
        {
            throw;
        }
    }
}
