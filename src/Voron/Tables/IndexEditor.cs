using Voron.Testing;

namespace Voron.Tables;

/// <summary>Adds and removes single keys of an index.</summary>
internal static class IndexEditor
{
    /// <summary>Adds a key of a row.</summary>
    /// <remarks>
    /// The caller has already looked up the keys of a ready unique index. If another row has the key in an index that is being built, the
    /// index fails.
    /// </remarks>
    public static void Add(BoundTable bound, OpenIndex index, IndexKeyList keys, int key, long rowId)
    {
        if (!index.Schema!.IsUnique)
        {
            var id = PlantedFault.AddWithoutMember ? rowId : index.Schema.FirstId + rowId;
            new WriteIdTree(index.Ids).Add(keys[key], id);
            index.Ids.NoteEntry(keys[key], id, wasThere: false);
            return;
        }

        if (!IsConstrained(index, keys, key))
            return;
        var entries = new WriteTree(index.Entries);
        if (index.State == IndexState.Building && RowLookup.TryFindId(bound, index.Entries, keys[key], out var other) && other != rowId)
        {
            bound.Save(bound.Schema.With(index.Schema with
            {
                State = IndexState.Failed,
                FailedKey = keys[key].ToArray(),
                FailedRows = (other, rowId),
            }));
            return;
        }

        Span<byte> value = stackalloc byte[RowIdBytes.Bytes];
        entries.Put(keys[key], RowIdBytes.Write(rowId, value));
        index.Entries.NoteEntry(keys[key], rowId, wasThere: false);
    }

    /// <summary>Removes a key of a row.</summary>
    /// <param name="index">The index.</param>
    /// <param name="keys">The keys of the row.</param>
    /// <param name="key">The position of the key in the list.</param>
    /// <param name="rowId">The row.</param>
    /// <param name="isExpired">True if the row is expired, so no query has returned it.</param>
    public static void Remove(OpenIndex index, IndexKeyList keys, int key, long rowId, bool isExpired)
    {
        if (!index.Schema!.IsUnique)
        {
            new WriteIdTree(index.Ids).Remove(keys[key], index.Schema.FirstId + rowId);
            index.Ids.NoteEntry(keys[key], index.Schema.FirstId + rowId, wasThere: !isExpired);
            return;
        }

        // In an index that is being built, the entry may belong to another row with the same key.
        Span<byte> value = stackalloc byte[RowIdBytes.Bytes];
        if (!IsConstrained(index, keys, key))
            return;
        new WriteTree(index.Entries).DeleteIf(keys[key], RowIdBytes.Write(rowId, value));
        index.Entries.NoteEntry(keys[key], rowId, wasThere: !isExpired);
    }

    /// <summary>
    /// Returns whether a unique index contains a key: it leaves out keys that contain a null. The primary key contains all keys, whatever its
    /// codec writes.
    /// </summary>
    public static bool IsConstrained(OpenIndex index, IndexKeyList keys, int key) => !keys.HasNull(key) || index.Schema!.Id == IndexSchema.PrimaryKey;
}
