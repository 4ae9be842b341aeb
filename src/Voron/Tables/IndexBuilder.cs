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
    /// <summary>Runs one step in a transaction.</summary>
    /// <param name="session">The table, open in the transaction.</param>
    /// <param name="options">The limits of a step.</param>
    /// <param name="hold">The time for which rows are read. The commit, which applies the deferred keys, takes the rest of the step.</param>
    /// <returns>What the step did; null if there is nothing to build.</returns>
    /// <exception cref="RowFormatException">The codec cannot read a row.</exception>
    /// <exception cref="IndexKeyException">The function of an index failed for a row.</exception>
    public static IndexStep? Step(BoundTable session, EvolveOptions options, TimeSpan hold)
    {
        var building = Building(session);
        if (building.Count == 0)
            return null;
        var from = building.Min(index => index.Cursor);
        var together = building.Where(index => index.Cursor == from).ToList();
        var others = building.Where(index => index.Cursor > from).Select(index => index.Cursor);
        var to = Math.Min(together.Min(index => index.Limit), others.DefaultIfEmpty(long.MaxValue).Min());
        var (cursor, rows) = AddRows(session, together, (from, to), options, hold);
        var names = together.Select(index => index.Name).ToList();
        var limit = together.Max(index => index.Limit);
        var ready = Move(session, together, cursor, cursor - from);
        return new IndexStep(names, ready, rows, cursor, limit);
    }

    private static List<IndexSchema> Building(BoundTable session) =>
        [.. session.Binding.Slots.Where(index => index?.State == IndexState.Building).Select(index => index!)];

    private static (long Cursor, long Rows) AddRows(
        BoundTable session, List<IndexSchema> together, (long From, long To) range, EvolveOptions options, TimeSpan hold)
    {
        var began = Stopwatch.GetTimestamp();
        var (rows, bytes) = (0L, 0L);
        var writesExpiry = together.Exists(index => index.IsExpiry);
        WantKeys(session, together);
        using var cursor = session.Rows.OpenCursor();
        Span<byte> key = stackalloc byte[RowIdBytes.Bytes];
        for (var found = cursor.Seek(RowIdBytes.Write(range.From, key)); found; found = cursor.MoveNext())
        {
            if (!RowIdBytes.TryRead(cursor.Key, out var rowId))
                throw RowLookup.NoRowId(session.Schema.Name, cursor.Key);
            if (rowId >= range.To)
                break;
            if (rows > 0 && (bytes >= options.MaxBytes || Stopwatch.GetElapsedTime(began) >= hold))
                return (rowId, rows);
            var row = session.Copy(cursor.Value);
            rows++;
            bytes += row.Length;
            if (session.IsExpired(row))
            {
                RowEditor.Delete(session, rowId, row);
                WantKeys(session, together);
                continue;
            }

            if (writesExpiry)
                row = WriteExpiry(session, rowId, row);
            ReadKeys(session, rowId, row);
            if (RowEditor.DeleteExpired(session, session.OldKeys, givenId: -1))
            {
                WantKeys(session, together);
                ReadKeys(session, rowId, session.Copy(RowLookup.Get(session, rowId)));
            }

            foreach (var index in together)
                AddKeys(session, index, rowId);
        }

        return (range.To, rows);
    }

    // Called once for many rows, and again after a deletion, which requests other keys.
    private static void WantKeys(BoundTable session, List<IndexSchema> together)
    {
        for (var slot = 0; slot < session.Binding.Slots.Length; slot++)
            session.OldKeys.Want(slot, together.Contains(session.Binding.Slots[slot]!));
    }

    private static void ReadKeys(BoundTable session, long rowId, ReadOnlySpan<byte> row)
    {
        session.ReadKeys(rowId, row);
        session.RequireUnchanged();
    }

    // Writes the expiry time into the header of a row. This is not a change of the row: it keeps its version, and no feed records it.
    private static ReadOnlySpan<byte> WriteExpiry(BoundTable session, long rowId, ReadOnlySpan<byte> row)
    {
        var expiry = session.ReadExpiry(rowId, row);
        session.RequireUnchanged();
        long? before = RowLayout.TryGetExpiry(row, out var stored) ? stored : null;
        if (expiry == before || PlantedFault.LeaveHeadWithoutExpiry)
            return row;
        var changed = RowLayout.WithExpiry(row, expiry);
        new WriteTree(session.Rows).Put(RowIdBytes.Write(rowId, stackalloc byte[RowIdBytes.Bytes]), changed);
        return session.Copy(changed);
    }

    private static void AddKeys(BoundTable session, IndexSchema index, long rowId)
    {
        for (var slot = 0; slot < session.Binding.Slots.Length; slot++)
        {
            var open = session.IndexOf(slot);
            if (open.Schema?.Id != index.Id)
                continue;
            var keys = session.OldKeys[slot];
            for (var i = 0; i < keys.Count && session.IndexOf(slot).State == IndexState.Building; i++)
                IndexEditor.Add(session, open, keys, i, rowId);
        }
    }

    // Returns the names of the indexes that became ready.
    private static List<string> Move(BoundTable session, List<IndexSchema> together, long cursor, long moved)
    {
        var (schema, ready) = (session.Schema, new List<string>());
        foreach (var index in schema.Indexes.Where(index => index.State == IndexState.Building && together.Exists(built => built.Id == index.Id)))
        {
            var isReady = cursor >= index.Limit || (PlantedFault.ReadyBeforeLastSlice && cursor + moved >= index.Limit);
            if (isReady)
                ready.Add(index.Name);
            schema = schema.With(isReady
                ? index with { State = IndexState.Ready, Cursor = 0, Limit = 0 }
                : index with { Cursor = PlantedFault.MoveCursorAlone && moved > 1 ? cursor - 1 : cursor });
        }

        if (schema.Indexes.All(index => index.State == IndexState.Ready))
            session.SchemasToWrite.Delete(SchemaKeys.Before(schema.Id));
        session.Save(schema);
        return ready;
    }
}

/// <summary>A step of an <see cref="IndexBuilder"/>.</summary>
/// <param name="Indexes">The names of the indexes that were built together.</param>
/// <param name="Ready">The names of those that became ready.</param>
/// <param name="Rows">The rows that were read.</param>
/// <param name="Cursor">The first row id that was not read.</param>
/// <param name="Limit">The first row id whose keys the writers add.</param>
internal sealed record IndexStep(IReadOnlyList<string> Indexes, IReadOnlyList<string> Ready, long Rows, long Cursor, long Limit);
