using Voron.Testing;

namespace Voron.Tables;

/// <summary>Writes one row and its index keys. Everything that can be refused is checked before the row and its keys are written.</summary>
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

    /// <summary>Inserts the row in the bound table's buffer, whose keys have been computed.</summary>
    /// <param name="bound">The table.</param>
    /// <param name="givenId">An unused row id; negative to take the next one.</param>
    /// <returns>The version of the row.</returns>
    /// <exception cref="DuplicateKeyException">Another row has the same key in a unique index.</exception>
    public static RowVersion Insert(BoundTable bound, long givenId)
    {
        var first = bound.Functions.KeyCodecName == null ? 0 : 1;
        if (!PlantedFault.CheckUniqueTooLate)
            CheckUnique(bound, null, first);
        var rowId = givenId >= 0 ? givenId : bound.PeekRowId();
        var version = FirstVersion(bound);
        Span<byte> key = stackalloc byte[RowIdBytes.Bytes];
        var row = bound.Buffer.Finish(version.Value);
        if (first > 0)
            AddPrimaryKey(bound, RowIdBytes.Write(rowId, key));
        try
        {
            new WriteTree(bound.Rows).Put(RowIdBytes.Write(rowId, key), row);
            bound.Rows.NoteEntry(key, rowId, wasThere: false);
            bound.NoteRowId(rowId);
            bound.NoteChange(rowId, isNew: true);
            for (var slot = first; slot < bound.Binding.Slots.Length; slot++)
            {
                var keys = bound.NewKeys[slot];
                for (var i = 0; i < keys.Count; i++)
                    Add(bound, slot, keys, i, rowId);
            }

            if (bound.Rows.IsRecorded)
                bound.Rows.RecordInsert(KeyOf(bound, bound.NewKeys, rowId, key), row);
        }
        catch (Exception e) when (bound.Break(e))
        {
            throw;
        }

        if (PlantedFault.CheckUniqueTooLate)
            CheckUnique(bound, null, first);
        return version;
    }

    /// <summary>
    /// Deletes the expired rows that share a key with a row in the primary key or in a unique index, including one that is being built; and, if
    /// rows are keyed by their ids, the expired row with the given id. A failure leaves the transaction as it was, except for rows that are
    /// already deleted.
    /// </summary>
    /// <param name="bound">The table. A deletion overwrites its old keys.</param>
    /// <param name="keys">The keys of the row to be written.</param>
    /// <param name="givenId">The id of the row to be written; negative if its key is not its id.</param>
    /// <returns>True if rows were deleted.</returns>
    public static bool DeleteExpired(BoundTable bound, RowIndexKeys keys, long givenId)
    {
        if (bound.Now == RowExpiry.Never || PlantedFault.BlockExpiredKeys)
            return false;
        List<long>? expired = null;
        if (givenId >= 0 && RowLookup.IsExpired(bound, givenId))
            (expired ??= []).Add(givenId);
        for (var slot = 0; slot < bound.Binding.Slots.Length; slot++)
        {
            var index = bound.IndexOf(slot);
            if (index.State is not (IndexState.Ready or IndexState.Building) || !index.Schema!.IsUnique)
                continue;
            for (var i = 0; i < keys[slot].Count; i++)
            {
                if (index.Contains(keys[slot], i) && RowLookup.TryFindId(bound, index.Entries, keys[slot][i], out var other)
                    && RowLookup.IsExpired(bound, other) && expired?.Contains(other) != true)
                    (expired ??= []).Add(other);
            }
        }

        if (expired == null)
            return false;
        foreach (var rowId in expired)
            Delete(bound, rowId, bound.Copy(RowLookup.Get(bound, rowId)));
        return true;
    }

    /// <summary>Replaces a row with the one in the bound table's buffer, whose keys have been computed.</summary>
    /// <param name="bound">The table.</param>
    /// <param name="rowId">The row.</param>
    /// <param name="old">The current row: a copy without faults.</param>
    /// <param name="hasOldKeys">True if the keys of the current row have been computed.</param>
    /// <returns>The version of the row, which stays the same if nothing changes.</returns>
    /// <exception cref="DuplicateKeyException">Another row has the same key in a unique index.</exception>
    public static RowVersion Update(BoundTable bound, long rowId, ReadOnlySpan<byte> old, bool hasOldKeys = false)
    {
        var before = RowLayout.Version(old);
        var version = new RowVersion(Math.Max(before.Value + 1, bound.Trees.Writing.TransactionId << VersionBits));
        var row = bound.Buffer.Finish(version.Value);
        if (RowLayout.ContentEquals(old, row))
            return before;
        if (!hasOldKeys)
            bound.ReadOldKeys(rowId, old);
        CheckUnique(bound, rowId, firstSlot: 0);
        Span<byte> key = stackalloc byte[RowIdBytes.Bytes];
        try
        {
            new WriteTree(bound.Rows).Put(RowIdBytes.Write(rowId, key), row);
            bound.NoteChange(rowId, isNew: false);
            for (var slot = 0; slot < bound.Binding.Slots.Length; slot++)
                ApplyDifference(bound, slot, rowId);
            if (bound.Rows.IsRecorded)
                bound.Rows.RecordUpdate(KeyOf(bound, bound.NewKeys, rowId, key), old, row);
            return version;
        }
        catch (Exception e) when (bound.Break(e))
        {
            throw;
        }
    }

    /// <summary>Deletes a row.</summary>
    /// <param name="bound">The table.</param>
    /// <param name="rowId">The row.</param>
    /// <param name="old">The current row: a copy without faults.</param>
    public static void Delete(BoundTable bound, long rowId, ReadOnlySpan<byte> old)
    {
        bound.ReadOldKeys(rowId, old);
        var version = RowLayout.Version(old);
        bound.NoteDeleted(version);
        var isExpired = bound.IsExpired(old);
        Span<byte> key = stackalloc byte[RowIdBytes.Bytes];
        try
        {
            KeepRowId(bound, rowId);
            if (version.Value >> VersionBits > bound.Trees.Writing.TransactionId && !PlantedFault.ReuseRowVersions)
                bound.SaveNextVersion(version.Value + 1);
            new WriteTree(bound.Rows).Delete(RowIdBytes.Write(rowId, key));
            bound.Rows.NoteEntry(key, rowId, wasThere: !isExpired);
            bound.NoteChange(rowId, isNew: false);
            for (var slot = 0; slot < bound.Binding.Slots.Length; slot++)
            {
                var keys = bound.OldKeys[slot];
                for (var i = 0; i < keys.Count && !(PlantedFault.LeaveExpiryKeys && slot == bound.Functions.ExpirySlot); i++)
                    Remove(bound, slot, keys, i, rowId, isExpired);
            }

            if (bound.Rows.IsRecorded)
                bound.Rows.RecordDelete(KeyOf(bound, bound.OldKeys, rowId, key), old);
        }
        catch (Exception e) when (bound.Break(e))
        {
            throw;
        }
    }

    /// <summary>Takes a version for all rows of a load: no row has had it, and none gets it in another way.</summary>
    public static RowVersion TakeVersion(BoundTable bound)
    {
        var version = FirstVersion(bound);
        bound.SaveNextVersion(version.Value + 1);
        return version;
    }

    /// <summary>
    /// The version of an inserted row: higher than that of every row that the transaction has deleted. Otherwise a new row could get the key and the
    /// version of a deleted one, and a caller whose operation is merged into the transaction would mistake it for the row that it has read.
    /// </summary>
    private static RowVersion FirstVersion(BoundTable bound) => new(
        Math.Max(Math.Max(bound.Trees.Writing.TransactionId << VersionBits, bound.NewestDeleted.Value + 1), bound.NextVersion()));

    private static ReadOnlySpan<byte> KeyOf(BoundTable bound, RowIndexKeys keys, long rowId, Span<byte> buffer) =>
        bound.Functions.KeyCodecName == null ? RowIdBytes.Write(rowId, buffer) : keys[0][0];

    // The next row id is the id of the last row plus one. So if the last row is deleted, the next id is stored.
    private static void KeepRowId(BoundTable bound, long rowId)
    {
        if (PlantedFault.ReuseRowId || TableSequences.BehindLastRow(bound.Rows) != rowId + 1)
            return;
        if (bound.StoredNextRowId() <= rowId)
            bound.SaveNextRowId(rowId + 1);
    }

    // The last check shares a search with the first write: it adds the key unless another row has it.
    private static void AddPrimaryKey(BoundTable bound, ReadOnlySpan<byte> rowId)
    {
        var entries = new WriteTree(bound.IndexOf(0).Entries);
        var key = bound.NewKeys[0][0];
        if (!entries.Insert(key, rowId) && RowLookup.TryFindId(bound, entries, key, out var other))
            throw new DuplicateKeyException(bound.Schema.Name, "", key, null, other);
        if (RowIdBytes.TryRead(rowId, out var id))
            bound.IndexOf(0).Entries.NoteEntry(key, id, wasThere: false);
    }

    private static void CheckUnique(BoundTable bound, long? rowId, int firstSlot)
    {
        for (var slot = firstSlot; slot < bound.Binding.Slots.Length; slot++)
        {
            var index = bound.IndexOf(slot);
            if (index.State != IndexState.Ready || !index.Schema!.IsUnique)
                continue;
            // A key that the row already has is no duplicate.
            var keys = bound.NewKeys[slot];
            for (var i = 0; i < keys.Count; i++)
            {
                if (rowId != null && bound.OldKeys[slot].HasConstrained(keys[i]))
                    continue;
                if (index.Contains(keys, i) && RowLookup.TryFindId(bound, index.Entries, keys[i], out var other) && other != rowId)
                    throw Duplicate(bound, slot, keys[i], rowId, other);
            }
        }
    }

    // If the primary key of a new row is a duplicate too, it is reported instead of the given key.
    private static DuplicateKeyException Duplicate(BoundTable bound, int slot, ReadOnlySpan<byte> key, long? rowId, long other)
    {
        if (rowId == null && bound.Functions.KeyCodecName != null)
        {
            var primary = bound.NewKeys[0][0];
            if (RowLookup.TryFindId(bound, bound.IndexOf(0).Entries, primary, out var same))
                return new DuplicateKeyException(bound.Schema.Name, "", primary, null, same);
        }

        var shape = bound.Functions.Slots[slot];
        return new DuplicateKeyException(bound.Schema.Name, shape.Name, key, rowId, other, shape.KeyType);
    }

    private static void ApplyDifference(BoundTable bound, int slot, long rowId)
    {
        var (removed, added) = (bound.OldKeys[slot], bound.NewKeys[slot]);
        for (int i = 0, j = 0; i < removed.Count || j < added.Count;)
        {
            var order = i == removed.Count ? 1 : j == added.Count ? -1 : removed[i].SequenceCompareTo(added[j]);
            if (order < 0 && !PlantedFault.LeaveOldIndexKeys)
                Remove(bound, slot, removed, i, rowId);
            else if (order > 0)
                Add(bound, slot, added, j, rowId);
            else if (order == 0)
                ApplyNull(bound, slot, (removed, i), (added, j), rowId);
            i += order <= 0 ? 1 : 0;
            j += order >= 0 ? 1 : 0;
        }
    }

    // Equal bytes, of which only one key contains a null: a unique index contains only the key without it.
    private static void ApplyNull(BoundTable bound, int slot, (IndexKeyList Keys, int At) old, (IndexKeyList Keys, int At) changed, long rowId)
    {
        var hadNull = old.Keys.HasNull(old.At);
        if (hadNull == changed.Keys.HasNull(changed.At) || bound.IndexOf(slot).Schema?.IsUnique != true)
            return;
        if (hadNull)
            Add(bound, slot, changed.Keys, changed.At, rowId);
        else
            Remove(bound, slot, old.Keys, old.At, rowId);
    }

    private static void Add(BoundTable bound, int slot, IndexKeyList keys, int key, long rowId)
    {
        var index = bound.IndexOf(slot);
        if (index.Schema?.Covers(rowId) == true)
            IndexEditor.Add(bound, index, keys, key, rowId);
    }

    private static void Remove(BoundTable bound, int slot, IndexKeyList keys, int key, long rowId, bool isExpired = false)
    {
        var index = bound.IndexOf(slot);
        if (index.Schema?.Covers(rowId) == true && index.Contains(keys, key))
            IndexEditor.Remove(index, keys[key], rowId, isExpired);
    }
}
