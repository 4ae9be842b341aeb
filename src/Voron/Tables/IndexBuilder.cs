using System.Diagnostics;
using Voron.Testing;

namespace Voron.Tables;

/// <summary>Builds indexes from existing rows, in short transactions while others write.</summary>
/// <remarks>
/// <code>
///   row ids   0 ........ cursor ............. limit ........
///             writers    the builder          writers
/// </code>
/// The schema stores the cursor and the limit, so writers and the builder agree in every transaction, and each step continues where the last one
/// ended. A step adds the keys of some rows and moves the cursor in one transaction. Indexes with equal cursors are built together.
/// </remarks>
internal static class IndexBuilder
{
    /// <summary>Opens a table whose indexes are being built.</summary>
    /// <exception cref="SchemaMismatchException">The table has been dropped or changed.</exception>
    public static BoundTable Open(SystemTreeAccess trees, TableFunctions functions)
    {
        var bound = BoundTable.Open(trees, functions)
            ?? throw new SchemaMismatchException(functions.Name, $"The table '{functions.Name}' was dropped while its indexes were being built.");
        if (bound.Binding.Refusal is { } refusal)
            throw new SchemaMismatchException(functions.Name, $"Another program has changed the table while its indexes were being built. {refusal}");
        return bound;
    }

    /// <summary>Adds the keys of a row to indexes that cover it, unless it does not exist. Deletes it if it is expired.</summary>
    /// <param name="bound">The table.</param>
    /// <param name="indexes">The indexes, which are being built.</param>
    /// <param name="rowId">The row.</param>
    public static void AddRow(BoundTable bound, List<IndexSchema> indexes, long rowId)
    {
        do
        {
            if (!RowLookup.TryGet(bound, rowId, out var row))
                return;
            if (bound.IsExpired(row))
            {
                RowEditor.Delete(bound, rowId, bound.Copy(row));
                return;
            }

            WantKeys(bound, indexes);
            ReadKeys(bound, rowId, bound.Copy(row));
        }
        while (RowEditor.DeleteExpired(bound, bound.OldKeys, givenId: -1));
        foreach (var index in indexes)
            AddKeys(bound, index, rowId);
    }

    /// <summary>Moves the cursor of indexes, and returns the names of those that became ready.</summary>
    /// <param name="bound">The table.</param>
    /// <param name="together">The indexes.</param>
    /// <param name="cursor">The first row whose keys have not been added.</param>
    /// <param name="moved">The number of row ids passed.</param>
    public static List<string> Move(BoundTable bound, List<IndexSchema> together, long cursor, long moved)
    {
        var (schema, ready) = (bound.Schema, new List<string>());
        foreach (var index in schema.Indexes.Where(index => index.State == IndexState.Building))
        {
            if (together.Find(built => built.Id == index.Id) is not { Limit: var limit })
                continue;
            var isReady = cursor >= limit || (PlantedFault.ReadyBeforeLastSlice && cursor + moved >= limit);
            if (isReady)
                ready.Add(index.Name);
            schema = schema.With(isReady
                ? index with { State = IndexState.Ready, Cursor = 0, Limit = 0 }
                : index with { Cursor = PlantedFault.MoveCursorAlone && moved > 1 ? cursor - 1 : cursor, Limit = limit });
        }

        if (schema.Indexes.All(index => index.State == IndexState.Ready))
            bound.SchemasToWrite.Delete(SchemaKeys.Before(schema.Id));
        bound.Save(schema);
        return ready;
    }

    /// <summary>Runs one step in a transaction.</summary>
    /// <param name="bound">The table, open in the transaction.</param>
    /// <param name="options">The limits of a step.</param>
    /// <param name="hold">The time for which rows are read. The commit, which applies the deferred keys, takes the rest of the step.</param>
    /// <returns>What the step did; null if there is nothing to build.</returns>
    /// <exception cref="RowFormatException">The codec cannot read a row.</exception>
    /// <exception cref="IndexKeyException">The function of an index failed for a row.</exception>
    public static IndexStep? Step(BoundTable bound, EvolveOptions options, TimeSpan hold)
    {
        var building = Building(bound);
        if (building.Count == 0)
            return null;
        var from = building.Min(index => index.Cursor);
        var together = building.Where(index => index.Cursor == from).ToList();
        var others = building.Where(index => index.Cursor > from).Select(index => index.Cursor);
        var to = Math.Min(together.Min(index => index.Limit), others.DefaultIfEmpty(long.MaxValue).Min());
        var (cursor, rows) = AddRows(bound, together, (from, to), options, hold);
        var names = together.Select(index => index.Name).ToList();
        var limit = together.Max(index => index.Limit);
        var ready = Move(bound, together, cursor, cursor - from);
        return new IndexStep(names, ready, rows, cursor, limit);
    }

    // An index whose sorted build was given up has no limit. No row has an id from the next one on, so writers can cover these.
    private static List<IndexSchema> Building(BoundTable bound) =>
    [
        .. bound.Binding.Slots.Where(index => index?.State == IndexState.Building)
            .Select(index => index! with { Limit = Math.Max(index.Cursor, Math.Min(index.Limit, bound.NextRowId())) }),
    ];

    private static (long Cursor, long Rows) AddRows(
        BoundTable bound, List<IndexSchema> together, (long From, long To) range, EvolveOptions options, TimeSpan hold)
    {
        var began = Stopwatch.GetTimestamp();
        var (rows, bytes) = (0L, 0L);
        var writesExpiry = together.Exists(index => index.IsExpiry);
        WantKeys(bound, together);
        using var cursor = bound.Rows.OpenCursor();
        Span<byte> key = stackalloc byte[RowIdBytes.Bytes];
        for (var found = cursor.Seek(RowIdBytes.Write(range.From, key)); found; found = cursor.MoveNext())
        {
            if (!RowIdBytes.TryRead(cursor.Key, out var rowId))
                throw RowLookup.NoRowId(bound.Schema.Name, cursor.Key);
            if (rowId >= range.To)
                break;
            if (rows > 0 && (bytes >= options.MaxBytes || Stopwatch.GetElapsedTime(began) >= hold))
                return (rowId, rows);
            var row = bound.Copy(cursor.Value);
            rows++;
            bytes += row.Length;
            if (bound.IsExpired(row))
            {
                RowEditor.Delete(bound, rowId, row);
                WantKeys(bound, together);
                continue;
            }

            if (writesExpiry)
                row = WriteExpiry(bound, rowId, row);
            ReadKeys(bound, rowId, row);
            if (RowEditor.DeleteExpired(bound, bound.OldKeys, givenId: -1))
            {
                WantKeys(bound, together);
                ReadKeys(bound, rowId, bound.Copy(RowLookup.Get(bound, rowId)));
            }

            foreach (var index in together)
                AddKeys(bound, index, rowId);
        }

        return (range.To, rows);
    }

    // Called once for many rows, and again after a deletion, which requests other keys.
    private static void WantKeys(BoundTable bound, List<IndexSchema> together)
    {
        for (var slot = 0; slot < bound.Binding.Slots.Length; slot++)
            bound.OldKeys.Want(slot, together.Exists(index => index.Id == bound.Binding.Slots[slot]?.Id));
    }

    private static void ReadKeys(BoundTable bound, long rowId, ReadOnlySpan<byte> row)
    {
        bound.ReadKeys(rowId, row);
        bound.RequireUnchanged();
    }

    // Writes the expiry time into the header of a row. This is not a change of the row: it keeps its version, and no feed records it.
    private static ReadOnlySpan<byte> WriteExpiry(BoundTable bound, long rowId, ReadOnlySpan<byte> row)
    {
        var expiry = bound.ReadExpiry(rowId, row);
        bound.RequireUnchanged();
        long? before = RowLayout.TryGetExpiry(row, out var stored) ? stored : null;
        if (expiry == before || PlantedFault.LeaveHeadWithoutExpiry)
            return row;
        var changed = RowLayout.WithExpiry(row, expiry);
        new WriteTree(bound.Rows).Put(RowIdBytes.Write(rowId, stackalloc byte[RowIdBytes.Bytes]), changed);
        return bound.Copy(changed);
    }

    private static void AddKeys(BoundTable bound, IndexSchema index, long rowId)
    {
        for (var slot = 0; slot < bound.Binding.Slots.Length; slot++)
        {
            var open = bound.IndexOf(slot);
            if (open.Schema?.Id != index.Id)
                continue;
            var keys = bound.OldKeys[slot];
            for (var i = 0; i < keys.Count && bound.IndexOf(slot).State == IndexState.Building; i++)
                IndexEditor.Add(bound, open, keys, i, rowId);
        }
    }
}

/// <summary>A step of an <see cref="IndexBuilder"/>.</summary>
/// <param name="Indexes">The names of the indexes that were built together.</param>
/// <param name="Ready">The names of those that became ready.</param>
/// <param name="Rows">The rows that were read.</param>
/// <param name="Cursor">The first row id that was not read.</param>
/// <param name="Limit">The first row id whose keys the writers add.</param>
internal sealed record IndexStep(IReadOnlyList<string> Indexes, IReadOnlyList<string> Ready, long Rows, long Cursor, long Limit);
