using Voron.Testing;
using Voron.Trees;

namespace Voron.Tables;

/// <summary>
/// The first step of an evolution: compares a definition with the schema, drops indexes, and begins new ones. Also undoes an evolution.
/// </summary>
/// <remarks>
/// <code>
///   version 1 ──Apply──▶ version 2, indexes being built, version 1 noted ──the last index is ready──▶ version 2
///       ▲                                   │
///       └──Withdraw: a row is refused, or two have a unique key: what was added is dropped
/// </code>
/// </remarks>
internal static class SchemaPlan
{
    /// <summary>Adapts the schema to the definition. New indexes of a table with rows are left to the builder.</summary>
    /// <param name="transaction">The transaction, in which the table exists.</param>
    /// <param name="functions">The definition.</param>
    /// <param name="dropped">Receives the names of the dropped indexes.</param>
    /// <returns>The names of the indexes that became ready immediately, and whether pages of dropped indexes remain to be freed.</returns>
    /// <exception cref="SchemaMismatchException">
    /// The table has keys of another kind, was evolved by a newer version of the definition, or has an index that the definition of the same
    /// version lacks.
    /// </exception>
    public static (IReadOnlyList<string> Ready, bool LeavesPages) Apply(WriteTransaction transaction, TableFunctions functions, List<string> dropped)
    {
        var bound = BoundTable.Open(new SystemTreeAccess(transaction), functions)!;
        var schema = bound.Schema;
        if (functions.Version < schema.Version)
        {
            throw new SchemaMismatchException(
                functions.Name,
                $"The table '{functions.Name}' has version {schema.Version}, and the definition of this program has version {functions.Version}: use the " +
                "newer program. Nothing was changed.");
        }

        ThrowIfUnwanted(functions, schema);
        TableCreation.Compress(transaction, new WriteTree(bound.Rows), functions);
        var changed = DropIndexes(transaction, functions, schema with { Version = functions.Version }, dropped, out var leavesPages);
        var kept = changed.Indexes.Select(index => index.Id).ToList();
        var ready = new List<string>();
        var limit = bound.NextRowId();
        var isEmpty = bound.Rows.Count == 0;
        foreach (var shape in functions.Slots.Where(shape => changed.Find(shape.Name) == null))
        {
            changed = TableCreation.AddIndex(transaction, changed, shape, isEmpty ? 0 : limit);
            if (isEmpty)
                ready.Add(shape.Name);
        }

        if (changed.ToBytes().AsSpan().SequenceEqual(schema.ToBytes()))
            return (ready, leavesPages);
        if (changed.Indexes.All(index => index.State != IndexState.Building))
            bound.SchemasToWrite.Delete(SchemaKeys.Before(schema.Id));
        else
            new SchemaBefore(schema.Version, [.. kept]).Save(bound.SchemasToWrite, schema.Id);
        bound.Save(changed);
        return (ready, leavesPages);
    }

    /// <summary>
    /// Undoes an evolution whose indexes cannot be built, so that the previous definition can write again: drops the added indexes, except those that
    /// have failed, and lowers the version.
    /// </summary>
    /// <param name="transaction">The transaction, in which the table exists.</param>
    /// <param name="functions">The definition whose evolution failed.</param>
    /// <returns>True if pages of dropped indexes remain to be freed.</returns>
    public static bool Withdraw(WriteTransaction transaction, TableFunctions functions)
    {
        if (BoundTable.Open(new SystemTreeAccess(transaction), functions) is not { Binding.Refusal: null } bound)
            return false;
        var schema = bound.Schema;
        var before = SchemaBefore.Read(bound.SchemasToWrite, schema);
        var dropped = schema.Indexes
            .Where(index => index.State == IndexState.Building || (index.State == IndexState.Ready && !before.Indexes.Contains(index.Id))).ToList();
        var leavesPages = false;
        foreach (var index in dropped)
            leavesPages |= Drop(transaction, schema, index);
        bound.SchemasToWrite.Delete(SchemaKeys.Before(schema.Id));
        bound.Save(schema with { Version = before.Version, Indexes = [.. schema.Indexes.Except(dropped)] });
        return leavesPages;
    }

    /// <summary>Drops an index of a table, even if definitions still contain it.</summary>
    /// <returns>Null if the index does not exist; otherwise whether its pages remain to be freed.</returns>
    public static bool? DropIndex(WriteTransaction transaction, string table, string name)
    {
        var key = SchemaKeys.Table(table);
        if (new SystemTreeAccess(transaction).FindSchema(table, key) is not { } schema || schema.Find(name) is not { } index)
            return null;
        var leavesPages = Drop(transaction, schema, index);
        var schemas = transaction.FindSystemTree(SystemTree.Schemas)!.Value;
        schemas.Put(key, (schema with { Indexes = [.. schema.Indexes.Where(other => other != index)] }).ToBytes());
        return leavesPages;
    }

    // An older instance of a program, which restarts while a newer one is being rolled out, must not undo the work of the newer one.
    private static void ThrowIfUnwanted(TableFunctions functions, TableSchema schema)
    {
        if (functions.Version > schema.Version || PlantedFault.DropAtSameVersion)
            return;
        foreach (var index in schema.Indexes.Where(index => index.State != IndexState.Failed))
        {
            var place = functions.Slots.ToList().FindIndex(shape => shape.Name == index.Name);
            if (place >= 0 && (functions.Slots[place].Version > index.Version || TableBinding.Fitting(schema, functions.Slots[place]) == index))
                continue;
            throw new SchemaMismatchException(
                functions.Name,
                $"The table '{functions.Name}' has an index '{index.Name}' of version {index.Version} that the definition of this program does not have, although both have " +
                $"version {schema.Version}: it may be that of a newer program. Nothing was changed. To drop the index, raise the version of the definition, or call " +
                $"{nameof(TableEvolution.DropIndexAsync)}.");
        }
    }

    private static bool Drop(WriteTransaction transaction, TableSchema schema, IndexSchema index) =>
        (index.Shared == null || SharedMembers.Leave(transaction, index)) && transaction.DropSystemTree(index.TreeName(schema.Id));

    // A failed index is built again, because the rows may have changed.
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

            leavesPages |= Drop(transaction, schema, index);
            if (!isWanted)
                dropped.Add(index.Name);
        }

        return schema with { Indexes = kept };
    }
}
