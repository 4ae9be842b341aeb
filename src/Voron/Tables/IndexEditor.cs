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

        if (!index.Contains(keys, key))
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

    /// <summary>Removes a key of a row from an index that contains it.</summary>
    /// <param name="index">The index.</param>
    /// <param name="key">The key.</param>
    /// <param name="rowId">The row.</param>
    /// <param name="isExpired">True if the row is expired, so no query has returned it.</param>
    public static void Remove(OpenIndex index, ReadOnlySpan<byte> key, long rowId, bool isExpired)
    {
        if (!index.Schema!.IsUnique)
        {
            new WriteIdTree(index.Ids).Remove(key, index.Schema.FirstId + rowId);
            index.Ids.NoteEntry(key, index.Schema.FirstId + rowId, wasThere: !isExpired);
            return;
        }

        // In an index that is being built, the entry may belong to another row with the same key.
        Span<byte> value = stackalloc byte[RowIdBytes.Bytes];
        new WriteTree(index.Entries).DeleteIf(key, RowIdBytes.Write(rowId, value));
        index.Entries.NoteEntry(key, rowId, wasThere: !isExpired);
    }
}
