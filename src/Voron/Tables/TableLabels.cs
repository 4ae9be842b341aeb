using Voron.Trees;

namespace Voron.Tables;

/// <summary>Names the trees of tables as users know them.</summary>
internal static class TableLabels
{
    /// <summary>Describes a system tree by the names of its table and index; by their numbers if no schema contains them.</summary>
    /// <param name="name">The name of the tree in the catalog.</param>
    /// <param name="schemas">The schemas that could be read.</param>
    public static string Of(ReadOnlySpan<byte> name, IEnumerable<TableSchema> schemas)
    {
        foreach (var schema in schemas)
        {
            if (name.SequenceEqual(SystemTree.RowsName(schema.Id)))
                return $"rows of table '{schema.Name}'";
            foreach (var index in schema.Indexes)
            {
                if (!name.SequenceEqual(index.TreeName(schema.Id)))
                    continue;
                if (index.Shared != null)
                    return $"shared index '{index.Name}' version {index.Version}";
                return index.Id == IndexSchema.PrimaryKey ? $"primary key of table '{schema.Name}'" : $"index '{index.Name}' of table '{schema.Name}'";
            }
        }

        return SystemTree.Describe(name);
    }
}
