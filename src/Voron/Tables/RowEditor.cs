using Voron.Testing;

namespace Voron.Tables;

/// <summary>Writes one row and its index keys. Everything that can be refused is checked before anything is written.</summary>
/// <remarks>
/// <code>
///   fields and keys computed ─▶ unique keys looked up ─▶ row written ─▶ only the keys that differ are removed and added
///   └───────── a failure leaves the transaction as it was ─────────┘   └──── a failure breaks the transaction: no room ────┘
/// </code>
/// An index that is being built rejects nothing: a key that two rows share makes the index fail instead.
/// </remarks>
internal static class RowEditor
{
    /// <summary>
    /// The number of row version bits below the transaction id: each change of a row in one transaction has a separate version. If there are more
    /// changes than that, the versions are those of later transactions, which the table remembers when the row is deleted.
    /// </summary>
    private const int VersionBits = 16;

    /// <summary>Inserts the row in the session's buffer, whose keys have been computed.</summary>
    /// <param name="session">The table.</param>
    /// <param name="givenId">An unused row id; negative to take the next one.</param>
    /// <returns>The version of the row.</returns>
    /// <exception cref="DuplicateKeyException">Another row has the same key in a unique index.</exception>
    public static RowVersion Insert(BoundTable session, long givenId)
    {
        var first = session.Functions.KeyCodec == null ? 0 : 1;
        if (!PlantedFault.CheckUniqueTooLate)
            CheckUnique(session, null, first);
        var rowId = givenId >= 0 ? givenId : session.PeekRowId();
        var version = FirstVersion(session);
        Span<byte> key = stackalloc byte[RowIdBytes.Bytes];
        var row = session.Buffer.Finish(version.Value);
        if (first > 0)
            AddPrimaryKey(session, RowIdBytes.Write(rowId, key));
        try
        {
            new WriteTree(session.Rows).Put(RowIdBytes.Write(rowId, key), row);
            session.Rows.NoteEntry(key, rowId, wasThere: false);
            session.NoteRowId(rowId);
            for (var slot = first; slot < session.Binding.Slots.Length; slot++)
            {
                var keys = session.NewKeys[slot];
                for (var i = 0; i < keys.Count; i++)
                    Add(session, slot, keys, i, rowId);
            }

            if (session.Rows.IsRecorded)
                session.Rows.RecordInsert(KeyOf(session, session.NewKeys, rowId, key), row);
        }
        catch (Exception e) when (session.Break(e))
        {
            throw;
        }

        if (PlantedFault.CheckUniqueTooLate)
            CheckUnique(session, null, first);
        return version;
    }

    /// <summary>
    /// Deletes the expired rows that share a key with a row in the primary key or in a unique index, including one that is being built; and, if
    /// rows are keyed by their ids, the expired row with the given id. A failure leaves the transaction as it was, except for rows that are
    /// already deleted.
    /// </summary>
    /// <param name="session">The table. A deletion overwrites its old keys.</param>
    /// <param name="keys">The keys of the row to be written.</param>
    /// <param name="givenId">The id of the row to be written; negative if its key is not its id.</param>
    /// <returns>True if rows were deleted.</returns>
    public static bool DeleteExpired(BoundTable session, RowIndexKeys keys, long givenId)
    {
        if (session.Now == RowExpiry.Never || PlantedFault.BlockExpiredKeys)
            return false;
        List<long>? expired = null;
        if (givenId >= 0 && RowLookup.IsExpired(session, givenId))
            (expired ??= []).Add(givenId);
        for (var slot = 0; slot < session.Binding.Slots.Length; slot++)
        {
            var index = session.IndexOf(slot);
            if (index.State is not (IndexState.Ready or IndexState.Building) || !index.Schema!.IsUnique)
                continue;
            for (var i = 0; i < keys[slot].Count; i++)
            {
                if (IndexEditor.IsBound(index, keys[slot], i) && RowLookup.TryFindId(session, index.Entries, keys[slot][i], out var other)
                    && RowLookup.IsExpired(session, other) && expired?.Contains(other) != true)
                    (expired ??= []).Add(other);
            }
        }

        if (expired == null)
            return false;
        foreach (var rowId in expired)
            Delete(session, rowId, session.Copy(RowLookup.Get(session, rowId)));
        return true;
    }

    /// <summary>Replaces a row with the one in the session's buffer, whose keys have been computed.</summary>
    /// <param name="session">The table.</param>
    /// <param name="rowId">The row.</param>
    /// <param name="old">The current row: a copy without faults.</param>
    /// <param name="hasOldKeys">True if the keys of the current row have been computed.</param>
    /// <returns>The version of the row, which stays the same if nothing changes.</returns>
    /// <exception cref="DuplicateKeyException">Another row has the same key in a unique index.</exception>
    public static RowVersion Update(BoundTable session, long rowId, ReadOnlySpan<byte> old, bool hasOldKeys = false)
    {
        var before = RowLayout.Version(old);
        var version = new RowVersion(Math.Max(before.Value + 1, session.Trees.Writing.TransactionId << VersionBits));
        var row = session.Buffer.Finish(version.Value);
        if (RowLayout.ContentEquals(old, row))
            return before;
        if (!hasOldKeys)
            session.ReadOldKeys(rowId, old);
        CheckUnique(session, rowId, firstSlot: 0);
        Span<byte> key = stackalloc byte[RowIdBytes.Bytes];
        try
        {
            new WriteTree(session.Rows).Put(RowIdBytes.Write(rowId, key), row);
            for (var slot = 0; slot < session.Binding.Slots.Length; slot++)
                ApplyDifference(session, slot, rowId);
            if (session.Rows.IsRecorded)
                session.Rows.RecordUpdate(KeyOf(session, session.NewKeys, rowId, key), old, row);
            return version;
        }
        catch (Exception e) when (session.Break(e))
        {
            throw;
        }
    }

    /// <summary>Deletes a row.</summary>
    /// <param name="session">The table.</param>
    /// <param name="rowId">The row.</param>
    /// <param name="old">The current row: a copy without faults.</param>
    public static void Delete(BoundTable session, long rowId, ReadOnlySpan<byte> old)
    {
        session.ReadOldKeys(rowId, old);
        var version = RowLayout.Version(old);
        session.NoteDeleted(version);
        var isExpired = session.IsExpired(old);
        Span<byte> key = stackalloc byte[RowIdBytes.Bytes];
        try
        {
            KeepRowId(session, rowId);
            if (version.Value >> VersionBits > session.Trees.Writing.TransactionId && !PlantedFault.ReuseRowVersions)
                session.SaveNextVersion(version.Value + 1);
            new WriteTree(session.Rows).Delete(RowIdBytes.Write(rowId, key));
            session.Rows.NoteEntry(key, rowId, wasThere: !isExpired);
            for (var slot = 0; slot < session.Binding.Slots.Length; slot++)
            {
                var keys = session.OldKeys[slot];
                for (var i = 0; i < keys.Count && !(PlantedFault.LeaveExpiryKeys && slot == session.Functions.ExpirySlot); i++)
                    Remove(session, slot, keys, i, rowId, isExpired);
            }

            if (session.Rows.IsRecorded)
                session.Rows.RecordDelete(KeyOf(session, session.OldKeys, rowId, key), old);
        }
        catch (Exception e) when (session.Break(e))
        {
            throw;
        }
    }

    /// <summary>
    /// The version of an inserted row: higher than that of every row that the transaction has deleted. Otherwise a new row could get the key and the
    /// version of a deleted one, and a caller whose operation is merged into the transaction would mistake it for the row that it has read.
    /// </summary>
    private static RowVersion FirstVersion(BoundTable session) => new(
        Math.Max(Math.Max(session.Trees.Writing.TransactionId << VersionBits, session.NewestDeleted.Value + 1), session.NextVersion()));

    private static ReadOnlySpan<byte> KeyOf(BoundTable session, RowIndexKeys keys, long rowId, Span<byte> buffer) =>
        session.Functions.KeyCodec == null ? RowIdBytes.Write(rowId, buffer) : keys[0][0];

    // The next row id is the id of the last row plus one. So if the last row is deleted, the next id is stored.
    private static void KeepRowId(BoundTable session, long rowId)
    {
        if (PlantedFault.ReuseRowId || TableCounters.BehindLastRow(session.Rows) != rowId + 1)
            return;
        if (session.StoredNextRowId() <= rowId)
            session.SaveNextRowId(rowId + 1);
    }

    // The last check shares a search with the first write: it adds the key unless another row has it.
    private static void AddPrimaryKey(BoundTable session, ReadOnlySpan<byte> rowId)
    {
        var entries = new WriteTree(session.IndexOf(0).Entries);
        var key = session.NewKeys[0][0];
        if (!entries.Insert(key, rowId) && RowLookup.TryFindId(session, entries, key, out var other))
            throw new DuplicateKeyException(session.Schema.Name, "", key, null, other);
        if (RowIdBytes.TryRead(rowId, out var id))
            session.IndexOf(0).Entries.NoteEntry(key, id, wasThere: false);
    }

    private static void CheckUnique(BoundTable session, long? rowId, int firstSlot)
    {
        for (var slot = firstSlot; slot < session.Binding.Slots.Length; slot++)
        {
            var index = session.IndexOf(slot);
            if (index.State != IndexState.Ready || !index.Schema!.IsUnique)
                continue;
            // A key that the row already has is no duplicate.
            var keys = session.NewKeys[slot];
            for (var i = 0; i < keys.Count; i++)
            {
                if (rowId != null && session.OldKeys[slot].HasBound(keys[i]))
                    continue;
                if (IndexEditor.IsBound(index, keys, i) && RowLookup.TryFindId(session, index.Entries, keys[i], out var other) && other != rowId)
                    throw Duplicate(session, slot, keys[i], rowId, other);
            }
        }
    }

    // If the primary key of a new row is a duplicate too, it is reported instead of the given key.
    private static DuplicateKeyException Duplicate(BoundTable session, int slot, ReadOnlySpan<byte> key, long? rowId, long other)
    {
        if (rowId == null && session.Functions.KeyCodec != null)
        {
            var primary = session.NewKeys[0][0];
            if (RowLookup.TryFindId(session, session.IndexOf(0).Entries, primary, out var same))
                return new DuplicateKeyException(session.Schema.Name, "", primary, null, same);
        }

        var shape = session.Functions.Slots[slot];
        return new DuplicateKeyException(session.Schema.Name, shape.Name, key, rowId, other, shape.KeyType);
    }

    private static void ApplyDifference(BoundTable session, int slot, long rowId)
    {
        var (removed, added) = (session.OldKeys[slot], session.NewKeys[slot]);
        for (int i = 0, j = 0; i < removed.Count || j < added.Count;)
        {
            var order = i == removed.Count ? 1 : j == added.Count ? -1 : removed[i].SequenceCompareTo(added[j]);
            if (order < 0 && !PlantedFault.LeaveOldIndexKeys)
                Remove(session, slot, removed, i, rowId);
            else if (order > 0)
                Add(session, slot, added, j, rowId);
            else if (order == 0)
                ApplyNull(session, slot, (removed, i), (added, j), rowId);
            i += order <= 0 ? 1 : 0;
            j += order >= 0 ? 1 : 0;
        }
    }

    // Equal bytes, of which only one key contains a null: a unique index contains only the key without it.
    private static void ApplyNull(BoundTable session, int slot, (KeyList Keys, int At) old, (KeyList Keys, int At) changed, long rowId)
    {
        var hadNull = old.Keys.HasNull(old.At);
        if (hadNull == changed.Keys.HasNull(changed.At) || session.IndexOf(slot).Schema?.IsUnique != true)
            return;
        if (hadNull)
            Add(session, slot, changed.Keys, changed.At, rowId);
        else
            Remove(session, slot, old.Keys, old.At, rowId);
    }

    private static void Add(BoundTable session, int slot, KeyList keys, int key, long rowId)
    {
        var index = session.IndexOf(slot);
        if (index.Schema?.Covers(rowId) == true)
            IndexEditor.Add(session, index, keys, key, rowId);
    }

    private static void Remove(BoundTable session, int slot, KeyList keys, int key, long rowId, bool isExpired = false)
    {
        var index = session.IndexOf(slot);
        if (index.Schema?.Covers(rowId) == true)
            IndexEditor.Remove(index, keys, key, rowId, isExpired);
    }
}
