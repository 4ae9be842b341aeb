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

    /// <summary>Compares the rows with all ready indexes of the definition. Overwrites the keys of the session.</summary>
    /// <param name="session">The table, which the caller has just opened.</param>
    /// <param name="seed">Selects the rows between the first and the last one.</param>
    /// <param name="mustRead">True to throw for rows that the codec or a function refuses; false to skip them.</param>
    /// <exception cref="IndexMismatchException">An index contains other keys of a row than its function returns.</exception>
    /// <exception cref="RowFormatException">The codec cannot read a row.</exception>
    /// <exception cref="IndexKeyException">The function of an index failed for a row.</exception>
    public static void Check(BoundTable session, long seed, bool mustRead)
    {
        using var cursor = session.Rows.OpenCursor();
        if (!cursor.SeekLast())
            return;
        Want(session);
        var last = RowIdOf(session, cursor);
        CheckRow(session, cursor, mustRead);
        for (var slot = 0; slot < session.Binding.Slots.Length; slot++)
        {
            CheckEntry(session, slot, KeyRange.All, isBackward: false);
            CheckEntry(session, slot, KeyRange.All, isBackward: true);
        }

        cursor.SeekFirst();
        var first = RowIdOf(session, cursor);
        CheckRow(session, cursor, mustRead);
        var random = new Random((int)seed);
        Span<byte> key = stackalloc byte[RowIdBytes.Bytes];
        for (var i = 0; i < Math.Min(Rows, session.Rows.Count - 2); i++)
        {
            if (!cursor.Seek(RowIdBytes.Write(random.NextInt64(first, last + 1), key)))
                continue;
            if (CheckRow(session, cursor, mustRead) && i % RowsPerEntry == 0)
                CheckNeighbours(session);
        }
    }

    /// <summary>Compares the rows with the indexes, if the environment has not compared one of these since it was opened.</summary>
    /// <param name="session">The table, which the caller has just opened to write.</param>
    /// <param name="tables">What the environment remembers.</param>
    /// <exception cref="IndexMismatchException">An index contains other keys than its function returns.</exception>
    public static void CheckOnce(BoundTable session, KnownTables tables)
    {
        // A definition that must not write computes no keys.
        if (session.Binding.Refusal != null || PlantedFault.BelieveIndexFunctions)
            return;
        var sampled = tables.SampledOf(session.Functions);
        var ready = session.Binding.Slots.Where(index => index?.State == IndexState.Ready).Select(index => index!.Id).ToList();
        try
        {
            if (!sampled.Contain(session.Schema.Id, ready))
                Check(session, session.Trees.Writing.TransactionId, mustRead: false);
        }
        catch (CorruptionException)
        {
            // The calls that need a damaged page report it. The rows on other pages can still be written.
        }

        sampled.Add(ready);
        session.Sampled = session.Binding;
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

    private static void Want(BoundTable session)
    {
        for (var slot = 0; slot < session.Binding.Slots.Length; slot++)
            session.OldKeys.Want(slot, session.IndexOf(slot).State == IndexState.Ready);
    }

    private static long RowIdOf(BoundTable session, Cursor cursor) =>
        RowIdBytes.TryRead(cursor.Key, out var rowId) ? rowId : throw RowLookup.NoRowId(session.Schema.Name, cursor.Key);

    // False if the row could not be read.
    private static bool CheckRow(BoundTable session, Cursor cursor, bool mustRead)
    {
        var rowId = RowIdOf(session, cursor);
        if (!TryReadKeys(session, rowId, cursor.Value, mustRead))
            return false;
        for (var slot = 0; slot < session.Binding.Slots.Length; slot++)
        {
            var (index, keys) = (session.IndexOf(slot), session.OldKeys[slot]);
            for (var i = 0; index.State == IndexState.Ready && i < keys.Count; i++)
            {
                if (index.Schema!.IsUnique && !IndexEditor.IsBound(index, keys, i))
                    continue;
                if (!Has(index, keys[i], rowId, out _))
                    throw IndexMismatchException.Of(session, slot, rowId, keys[i], FindKey(index, rowId));
            }
        }

        return true;
    }

    private static bool TryReadKeys(BoundTable session, long rowId, ReadOnlySpan<byte> row, bool mustRead)
    {
        try
        {
            session.ReadKeys(rowId, session.Copy(row));
            session.RequireUnchanged();
            return true;
        }
        catch (TableException) when (!mustRead)
        {
            return false;
        }
    }

    // The keys after those of the last row read belong to other rows.
    private static void CheckNeighbours(BoundTable session)
    {
        var froms = new byte[session.Binding.Slots.Length][];
        for (var slot = 0; slot < froms.Length; slot++)
        {
            var hasKeys = session.IndexOf(slot).State == IndexState.Ready && session.OldKeys[slot].Count > 0;
            froms[slot] = hasKeys ? session.OldKeys[slot][0].ToArray() : [];
        }

        for (var slot = 0; slot < froms.Length; slot++)
        {
            if (froms[slot].Length > 0)
                CheckEntry(session, slot, KeyRange.After(froms[slot]), isBackward: false);
        }
    }

    private static void CheckEntry(BoundTable session, int slot, KeyRange range, bool isBackward)
    {
        if (session.IndexOf(slot).State != IndexState.Ready)
            return;
        using var source = OpenEntries(session.IndexOf(slot), range);
        if (!source.MoveNext(isBackward, default))
            return;
        var (rowId, key) = (source.RowId, source.Key.ToArray());
        if (!RowLookup.TryGet(session, rowId, out var row))
        {
            throw session.Functions.Slots[slot].Name is { Length: > 0 } name
                ? IndexMismatchException.OfMissing(session, name, rowId, key)
                : RowLookup.Missing(session, rowId);
        }

        if (!TryReadKeys(session, rowId, row, mustRead: false))
            return;
        var keys = session.OldKeys[slot];
        for (var i = 0; i < keys.Count; i++)
        {
            if (keys[i].SequenceEqual(key))
                return;
        }

        throw IndexMismatchException.Of(session, slot, rowId, keys.Count > 0 ? keys[0] : default, key);
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
