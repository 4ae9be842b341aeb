namespace Voron.Tables;

/// <summary>The first step of an evolution: compares a definition with the schema, drops indexes, and begins new ones.</summary>
internal static class SchemaPlan
{
    /// <summary>Brings the schema to the definition. New indexes of a table with rows are to be built from here on.</summary>
    /// <param name="transaction">The transaction, in which the table exists.</param>
    /// <param name="functions">The definition.</param>
    /// <param name="dropped">Receives the names of the indexes that were dropped.</param>
    /// <returns>The names of the indexes that became ready at once, and whether pages of dropped ones are left to be freed.</returns>
    /// <exception cref="SchemaMismatchException">The table has keys of another kind, or was evolved by a newer version of the definition.</exception>
    public static (IReadOnlyList<string> Ready, bool LeavesPages) Apply(WriteTransaction transaction, TableFunctions functions, List<string> dropped)
    {
        var session = TableSession.Open(new TableTrees(transaction), functions)!;
        var schema = session.Schema;
        if (functions.Version < schema.Version)
        {
            throw new SchemaMismatchException(
                functions.Name,
                $"The table '{functions.Name}' has version {schema.Version}, and the definition of this program has version {functions.Version}: use the " +
                "newer program. Nothing was changed.");
        }

        TableCreation.Compress(transaction, session.Rows.Opened, functions);
        var changed = DropIndexes(transaction, functions, schema with { Version = functions.Version }, dropped, out var leavesPages);
        var ready = new List<string>();
        var limit = session.NextRowId();
        var isEmpty = session.Rows.Count == 0;
        foreach (var shape in functions.Slots.Where(shape => changed.Find(shape.Name) == null))
        {
            changed = TableCreation.AddIndex(transaction, changed, shape, isEmpty ? 0 : limit);
            if (isEmpty)
                ready.Add(shape.Name);
        }

        if (!changed.ToBytes().AsSpan().SequenceEqual(schema.ToBytes()))
            session.Save(changed);
        return (ready, leavesPages);
    }

    // An index that has failed is built again: the rows may have changed.
    private static TableSchema DropIndexes(
        WriteTransaction transaction, TableFunctions functions, TableSchema schema, List<string> dropped, out bool leavesPages)
    {
        var kept = new List<IndexSchema>();
        leavesPages = false;
        foreach (var index in schema.Indexes)
        {
            var isWanted = functions.Slots.Any(shape => TableBinding.Fitting(schema, shape) == index);
            if (isWanted && index.State != IndexState.Failed)
            {
                kept.Add(index);
                continue;
            }

            if (index.Shared == null || SharedMembers.Leave(transaction, index))
                leavesPages |= transaction.DropSystemTree(index.TreeName(schema.Id));
            if (!isWanted)
                dropped.Add(index.Name);
        }

        return schema with { Indexes = kept };
    }
}
