using System.Collections.Immutable;

namespace Voron.Torture.Model;

/// <summary>Compares a range of a tree with the model, in all forms in which it can be read.</summary>
internal static class ModelRanges
{
    /// <param name="tree">The tree.</param>
    /// <param name="keys">The range.</param>
    /// <param name="entries">The content that the tree should have.</param>
    /// <param name="first">The index of the first entry of the range.</param>
    /// <param name="end">The index after its last entry.</param>
    public static void Check(Tree tree, KeyRange keys, ImmutableSortedSet<ModelEntry> entries, int first, int end)
    {
        var range = tree.Range(keys);
        var count = end - first;
        Check(tree, range, entries, first, 1, count);
        Check(tree, range.Reverse(), entries, end - 1, -1, count);

        // A part from the middle, from either end, and turned.
        var skipped = count / 3;
        var taken = count / 2;
        Check(tree, range.Skip(skipped).Take(taken), entries, first + skipped, 1, taken);
        Check(tree, range.Reverse().Skip(skipped).Take(taken), entries, end - 1 - skipped, -1, taken);
        Check(tree, range.Reverse().Take(taken).Reverse(), entries, end - taken, 1, taken);
        if (count == 0)
            return;
        CheckEntry(tree, tree.TryGetCeiling(entries[first].Key, out var found), found, entries[first]);
        CheckEntry(tree, tree.TryGetFloor(entries[first].Key, out found), found, entries[first]);
    }

    private static void Check(Tree tree, TreeRange range, ImmutableSortedSet<ModelEntry> entries, int first, int step, int count)
    {
        var at = 0;
        foreach (var entry in range)
        {
            if (at == count)
                throw new ModelMismatchException($"a range of {count} entries in tree '{tree.Name}' continues", entry.Key.ToArray());
            CheckEntry(tree, true, entry, entries[first + at * step]);
            at++;
        }

        if (at != count || range.Count() != count || range.Any() != count > 0)
            throw new ModelMismatchException($"a range in tree '{tree.Name}' has {at} entries, counts {range.Count()}, and should have {count}");
        if (count == 0)
            return;
        CheckEntry(tree, range.TryGetFirst(out var found), found, entries[first]);
        CheckEntry(tree, range.TryGetLast(out found), found, entries[first + (count - 1) * step]);
    }

    private static void CheckEntry(Tree tree, bool isFound, TreeEntry entry, in ModelEntry expected)
    {
        if (!isFound || !entry.Key.SequenceEqual(expected.Key))
            throw new ModelMismatchException($"tree '{tree.Name}' has {(isFound ? "another" : "no")} entry in a range where this should be", expected.Key);
        if (entry.ValueLength != expected.Length || !entry.Value.SequenceEqual(expected.Value))
            throw new ModelMismatchException($"tree '{tree.Name}' has a wrong value of {entry.ValueLength} bytes in a range", expected.Key);
    }
}
