using Voron.Testing;

namespace Voron.Tables;

/// <summary>
/// Compares a few rows of a table with its indexes, to detect a changed function before it writes: the first row, the last one and some between them,
/// and a few entries of each index.
/// </summary>
internal static class IndexSpotCheck
{
    private const int Rows = 64;
    private const int RowsPerEntry = 8;
    private const int LongestSearch = 100_000;

    /// <summary>Compares the rows with all ready indexes of the definition. Overwrites the keys of the bound table.</summary>
    /// <param name="bound">The table, which the caller has just opened.</param>
    /// <param name="seed">Selects the rows between the first and the last one.</param>
    /// <param name="mustRead">True to throw for rows that the codec or a function refuses; false to skip them.</param>
    /// <exception cref="IndexMismatchException">An index contains other keys of a row than its function returns.</exception>
    /// <exception cref="RowFormatException">The codec cannot read a row.</exception>
    /// <exception cref="IndexKeyException">The function of an index failed for a row.</exception>
    public static void Check(BoundTable bound, long seed, bool mustRead)
    {
        using var cursor = bound.Rows.OpenCursor();
        if (!cursor.SeekLast())
            return;
        Want(bound);
        var last = RowIdOf(bound, cursor);
        CheckRow(bound, cursor, mustRead);
        for (var slot = 0; slot < bound.Binding.Slots.Length; slot++)
        {
            CheckEntry(bound, slot, KeyRange.All, isBackward: false);
            CheckEntry(bound, slot, KeyRange.All, isBackward: true);
        }

        cursor.SeekFirst();
        var first = RowIdOf(bound, cursor);
        CheckRow(bound, cursor, mustRead);
        var random = new Random((int)seed);
        Span<byte> key = stackalloc byte[RowIdBytes.Bytes];
        for (var i = 0; i < Math.Min(Rows, bound.Rows.Count - 2); i++)
        {
            if (!cursor.Seek(RowIdBytes.Write(random.NextInt64(first, last + 1), key)))
                continue;
            if (CheckRow(bound, cursor, mustRead) && i % RowsPerEntry == 0)
                CheckNeighbours(bound);
        }
    }

    /// <summary>Compares the rows with the indexes, if the environment has not compared one of these since it was opened.</summary>
    /// <param name="bound">The table, which the caller has just opened to write.</param>
    /// <param name="tables">What the environment remembers.</param>
    /// <exception cref="IndexMismatchException">An index contains other keys than its function returns.</exception>
    public static void CheckOnce(BoundTable bound, KnownTables tables)
    {
        // A definition that must not write computes no keys.
        if (bound.Binding.Refusal != null || PlantedFault.BelieveIndexFunctions)
            return;
        var sampled = tables.SampledOf(bound.Functions);
        var ready = bound.Binding.Slots.Where(index => index?.State == IndexState.Ready).Select(index => index!.Id).ToList();
        try
        {
            if (!sampled.Contain(bound.Schema.Id, ready))
                Check(bound, bound.Trees.Writing.TransactionId, mustRead: false);
        }
        catch (CorruptionException)
        {
            // The calls that need a damaged page report it. The rows on other pages can still be written.
        }

        sampled.Add(ready);
        bound.Sampled = bound.Binding;
    }

    /// <summary>Returns whether an index contains a key of a row.</summary>
    /// <param name="index">A ready index.</param>
    /// <param name="key">The key.</param>
    /// <param name="rowId">The row.</param>
    /// <param name="other">The row that a unique index stores under the key; negative if there is none.</param>
    public static bool Has(OpenIndex index, ReadOnlySpan<byte> key, long rowId, out long other)
    {
        other = -1;
        if (!index.Schema!.IsUnique)
            return index.Ids.Contains(key, index.Schema.FirstId + rowId);
        return index.Entries.TryGet(key, out var value) && RowIdBytes.TryRead(value, out other) && other == rowId;
    }

    /// <summary>Opens the entries of a ready index.</summary>
    public static RowSource OpenEntries(OpenIndex index, KeyRange range) =>
        index.Schema!.IsUnique ? new EntrySource(index.Entries, range, isOfRows: false) : new IdSource(index, range);

    private static void Want(BoundTable bound)
    {
        for (var slot = 0; slot < bound.Binding.Slots.Length; slot++)
            bound.OldKeys.Want(slot, bound.IndexOf(slot).State == IndexState.Ready);
    }

    private static long RowIdOf(BoundTable bound, Cursor cursor) =>
        RowIdBytes.TryRead(cursor.Key, out var rowId) ? rowId : throw RowLookup.NoRowId(bound.Schema.Name, cursor.Key);

    // False if the row could not be read.
    private static bool CheckRow(BoundTable bound, Cursor cursor, bool mustRead)
    {
        var rowId = RowIdOf(bound, cursor);
        if (!TryReadKeys(bound, rowId, cursor.Value, mustRead))
            return false;
        for (var slot = 0; slot < bound.Binding.Slots.Length; slot++)
        {
            var (index, keys) = (bound.IndexOf(slot), bound.OldKeys[slot]);
            for (var i = 0; index.State == IndexState.Ready && i < keys.Count; i++)
            {
                if (!index.Contains(keys, i))
                    continue;
                if (!Has(index, keys[i], rowId, out _))
                    throw IndexMismatchException.Of(bound, slot, rowId, keys[i], FindKey(index, rowId));
            }
        }

        return true;
    }

    private static bool TryReadKeys(BoundTable bound, long rowId, ReadOnlySpan<byte> row, bool mustRead)
    {
        try
        {
            bound.ReadKeys(rowId, bound.Copy(row));
            bound.RequireUnchanged();
            return true;
        }
        catch (TableException) when (!mustRead)
        {
            return false;
        }
    }

    // The keys after those of the last row read belong to other rows.
    private static void CheckNeighbours(BoundTable bound)
    {
        var froms = new byte[bound.Binding.Slots.Length][];
        for (var slot = 0; slot < froms.Length; slot++)
        {
            var hasKeys = bound.IndexOf(slot).State == IndexState.Ready && bound.OldKeys[slot].Count > 0;
            froms[slot] = hasKeys ? bound.OldKeys[slot][0].ToArray() : [];
        }

        for (var slot = 0; slot < froms.Length; slot++)
        {
            if (froms[slot].Length > 0)
                CheckEntry(bound, slot, KeyRange.After(froms[slot]), isBackward: false);
        }
    }

    private static void CheckEntry(BoundTable bound, int slot, KeyRange range, bool isBackward)
    {
        if (bound.IndexOf(slot).State != IndexState.Ready)
            return;
        using var source = OpenEntries(bound.IndexOf(slot), range);
        if (!source.MoveNext(isBackward, default))
            return;
        var (rowId, key) = (source.RowId, source.Key.ToArray());
        if (!RowLookup.TryGet(bound, rowId, out var row))
        {
            throw bound.Functions.Slots[slot].Name is { Length: > 0 } name
                ? IndexMismatchException.OfMissing(bound, name, rowId, key)
                : RowLookup.Missing(bound, rowId);
        }

        if (!TryReadKeys(bound, rowId, row, mustRead: false))
            return;
        var keys = bound.OldKeys[slot];
        for (var i = 0; i < keys.Count; i++)
        {
            if (keys[i].SequenceEqual(key))
                return;
        }

        throw IndexMismatchException.Of(bound, slot, rowId, keys.Count > 0 ? keys[0] : default, key);
    }

    // Finds the key for the message, unless too many entries precede it.
    private static ReadOnlySpan<byte> FindKey(OpenIndex index, long rowId)
    {
        using var source = OpenEntries(index, KeyRange.All);
        for (var i = 0; i < LongestSearch && source.MoveNext(isBackward: false, default); i++)
        {
            if (source.RowId == rowId)
                return source.Key.ToArray();
        }

        return default;
    }
}
