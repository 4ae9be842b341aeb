using System.Text;
using Voron.Trees;

namespace Voron.Tables;

/// <summary>The tables that share an index in a snapshot.</summary>
internal sealed class SharedRoster
{
    private readonly Dictionary<int, Member> _members = [];

    private SharedRoster(IdTree ids, long now) => (Ids, Now) = (ids, now);

    /// <summary>The tree of the index.</summary>
    public IdTree Ids { get; }

    /// <summary>The current time for expiry, in milliseconds since 1970.</summary>
    public long Now { get; }

    /// <summary>Reads the tables that share an index.</summary>
    /// <exception cref="KeyNotFoundException">No table has the index.</exception>
    /// <exception cref="IndexNotReadyException">The index does not contain all rows of one of the tables yet.</exception>
    /// <exception cref="CorruptionException">A schema is damaged, or does not match the list of tables.</exception>
    public static SharedRoster Read(SystemTreeAccess trees, SharedIndex index)
    {
        if (!trees.TryOpen(SystemTree.Schemas, out Tree schemas) || !SharedMembers.TryFind(schemas, index.Name, index.Version, out var number))
            throw new KeyNotFoundException($"No table in '{trees.DataFilePath}' has the {index}. {nameof(TableEvolution.EvolveAsync)} adds it.");
        if (!trees.TryOpen(new SharedPlace(number, 0).TreeName, out IdTree ids))
            throw Misfit(index, trees, "its tree is missing");
        var roster = new SharedRoster(ids, trees.Now);
        foreach (var entry in schemas.Prefix(SchemaKeys.MembersOf(number)))
        {
            if (SharedMembers.TableOf(entry.Value) is { } name && SchemaKeys.TryReadMember(entry.Key, out var place))
                roster.Add(trees, schemas, index, place, Encoding.UTF8.GetString(name));
        }

        return roster;
    }

    /// <summary>Finds the table of an id; false if the table has left the index, or was deleted in this transaction.</summary>
    /// <exception cref="ObjectDisposedException">
    /// The transaction was rolled back to a savepoint that is older than the table: another one may have its number.
    /// </exception>
    public bool TryFind(long id, out Member member) => _members.TryGetValue(SharedPlace.MemberOf(id), out member) && !member.Rows.IsDeleted;

    private void Add(SystemTreeAccess trees, Tree schemas, SharedIndex index, SharedPlace place, string table)
    {
        var found = schemas.TryGet(SchemaKeys.Table(table), out var bytes);
        var schema = found ? index.Parse(table, bytes, trees.DataFilePath) : throw Misfit(index, trees, $"it names missing table '{table}'");
        if (schema.Find(index.Name) is not { } own || own.Shared != place || own.Version != index.Version)
            throw Misfit(index, trees, $"it names table '{table}', whose schema does not");
        if (own.State != IndexState.Ready)
            throw new IndexNotReadyException(table, index.Name, own.State);
        if (!trees.TryOpen(SystemTree.RowsName(schema.Id), out Tree rows))
            throw BoundTable.MissingTree(schema, SystemTree.RowsName(schema.Id), trees);
        _members.Add(place.Member, new Member(schema, rows, schema.Expiring?.State == IndexState.Ready));
    }

    private static CorruptionException Misfit(SharedIndex index, SystemTreeAccess trees, string how) => new(
        $"The list of tables that have the {index} in '{trees.DataFilePath}' is damaged: {how}. Run Verify, or restore a backup.");

    /// <summary>A table of the index.</summary>
    /// <param name="Schema">Its schema.</param>
    /// <param name="Rows">Its rows.</param>
    /// <param name="HidesExpired">True if expired rows count as deleted.</param>
    internal readonly record struct Member(TableSchema Schema, Tree Rows, bool HidesExpired);
}
