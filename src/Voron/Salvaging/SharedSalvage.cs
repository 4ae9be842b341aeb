using Voron.Tables;
using Voron.Trees;

namespace Voron.Salvaging;

/// <summary>Makes shared indexes usable after a salvage.</summary>
/// <remarks>
/// <code>
///   index and schemas are whole ─▶ a table whose rows are not whole becomes another member, whose index is to be built
///   otherwise                   ─▶ the index becomes empty, and is to be built for each of its tables
/// </code>
/// </remarks>
internal sealed class SharedSalvage
{
    private readonly HashSet<ushort> _emptied = [];

    /// <summary>Prepares an index for being built by one of its tables.</summary>
    /// <param name="writing">The transaction.</param>
    /// <param name="table">The name of the table.</param>
    /// <param name="index">The index in the schema of the table.</param>
    /// <param name="isIndexWhole">True if all ids of the index have been found, and all schemas.</param>
    /// <returns>The place of the table in the index from now on.</returns>
    public SharedPlace Prepare(WriteTransaction writing, string table, IndexSchema index, bool isIndexWhole)
    {
        var place = index.Shared!.Value;
        var name = place.TreeName;
        if (isIndexWhole)
        {
            if (SharedMembers.Leave(writing, index))
                writing.DeleteSystemTree(name);
            var shape = new IndexDefinition(index.Name, index.Version, IsUnique: false) { IsShared = true };
            return SharedMembers.Enter(writing, shape, table);
        }

        var schemas = writing.FindSystemTree(SystemTree.Schemas)!.Value;
        if (_emptied.Add(place.Number))
        {
            writing.DeleteSystemTree(name);
            writing.CreateSystemIdTree(name);
            schemas.DeleteRange(KeyRange.Prefix(SchemaKeys.MembersOf(place.Number)));
        }

        SharedMembers.Restore(schemas, index, table);
        return place;
    }

    /// <summary>Turns members that no schema contains into former members, and removes the entries of indexes that no schema contains.</summary>
    /// <param name="schemas">The tree of schemas.</param>
    /// <param name="known">The schemas.</param>
    public static void RemoveUnknown(WriteTree schemas, List<TableSchema> known)
    {
        var places = new List<SharedPlace>();
        foreach (var entry in schemas.Prefix(SchemaKeys.Members))
        {
            if (SchemaKeys.TryReadMember(entry.Key, out var place) && !known.Exists(schema => schema.Indexes.Any(index => index.Shared == place)))
                places.Add(place);
        }

        var used = known.SelectMany(schema => schema.Indexes)
            .Where(index => index.Shared != null).Select(index => index.Shared!.Value.Number).ToHashSet();
        foreach (var place in places)
        {
            if (used.Contains(place.Number))
                SharedMembers.SaveRest(schemas, place, []);
            else
                schemas.Delete(SchemaKeys.Member(place));
        }

        SharedMembers.RemoveOthers(schemas, used);
    }
}
