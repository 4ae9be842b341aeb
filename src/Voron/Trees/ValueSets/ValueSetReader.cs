using System.Runtime.CompilerServices;
using Voron.Format;
using Voron.Paging;
using Voron.Trees.ValueSets.Records;

namespace Voron.Trees.ValueSets;

/// <summary>Finds the sets of a tree of value sets.</summary>
internal static unsafe class ValueSetReader
{
    /// <summary>Returns the number of values under a key; 0 if the tree does not contain it.</summary>
    public static long CountOf(TreeState keys, PageReader reader, ReadOnlySpan<byte> key)
    {
        var record = TreeReader.Find(keys, reader, key);
        return record == null ? 0 : ValueSetRecord.Read(reader, record).Count;
    }

    /// <summary>Returns whether the set of a key contains a value.</summary>
    /// <param name="keys">The tree.</param>
    /// <param name="large">Its companion.</param>
    /// <param name="reader">The pages of the tree.</param>
    /// <param name="key">The key.</param>
    /// <param name="value">The value, of any length.</param>
    [SkipLocalsInit]
    public static bool Contains(TreeState keys, TreeState? large, PageReader reader, ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        var record = TreeReader.Find(keys, reader, key);
        if (record == null || value.Length == 0 || value.Length > ValueSetLayout.MaxValueLength(reader.PageSize))
            return false;
        var set = ValueSetRecord.Read(reader, record);
        if (set.Form == ValueSetForm.One)
            return set.OnlyValue.SequenceEqual(value);
        if (set.Form == ValueSetForm.Few)
            return FewValues.Search(reader, set.Bytes, value) >= 0;
        Span<byte> buffer = stackalloc byte[ValueSetLayout.NumberBytes + value.Length];
        return TreeReader.Contains(Companion(keys, large, reader), reader, ValueSetLayout.Key(set.Large.Number, value, buffer));
    }

    /// <summary>Returns the companion of a tree that contains a large set.</summary>
    /// <exception cref="CorruptionException">The tree has no companion.</exception>
    public static TreeState Companion(TreeState keys, TreeState? large, PageReader reader)
    {
        if (large == null)
            ValueSetErrors.ThrowCompanion(reader, keys.TreeId);
        return large;
    }
}
