using Voron.Tables;

namespace Voron.Feeds;

/// <summary>Reads the rows of changes.</summary>
public static class ChangedRows
{
    /// <summary>Reads the row as the change has left it.</summary>
    /// <param name="change">The change of a row.</param>
    /// <param name="definition">The definition of the table.</param>
    /// <exception cref="InvalidOperationException">The change does not have the row: see <see cref="Change.HasNewValue"/>.</exception>
    /// <exception cref="ArgumentException">The change is of another table.</exception>
    /// <exception cref="RowFormatException">The row is of a newer version of the definition, or the codec cannot read it.</exception>
    /// <exception cref="ArgumentNullException">The definition is null.</exception>
    /// <exception cref="ObjectDisposedException">The batch has been filled again.</exception>
    public static TRow GetRow<TKey, TRow>(this Change change, TableDefinition<TKey, TRow> definition)
    {
        Check(change, definition);
        return change.HasNewValue ? definition.Functions.Read(change.NewValue, RowIdOf(change)) : throw NoRow(change, "new");
    }

    /// <summary>Reads the row as it was before the change.</summary>
    /// <param name="change">The change of a row.</param>
    /// <param name="definition">The definition of the table.</param>
    /// <exception cref="InvalidOperationException">The change does not have the row: see <see cref="Change.HasOldValue"/>.</exception>
    /// <inheritdoc cref="GetRow"/>
    public static TRow GetOldRow<TKey, TRow>(this Change change, TableDefinition<TKey, TRow> definition)
    {
        Check(change, definition);
        return change.HasOldValue ? definition.Functions.Read(change.OldValue, RowIdOf(change)) : throw NoRow(change, "old");
    }

    private static void Check<TKey, TRow>(Change change, TableDefinition<TKey, TRow> definition)
    {
        ArgumentNullException.ThrowIfNull(definition);
        if (!change.Source.IsTable || change.Source.Name != definition.Name)
        {
            throw new ArgumentException(
                $"The change is of the {change.Source}, and the definition of table '{definition.Name}'.", nameof(definition));
        }
    }

    // For messages: the key of a table whose keys are no row ids may be as long as one.
    private static long RowIdOf(Change change) => RowKey.TryRead(change.Key, out var rowId) ? rowId : -1;

    private static InvalidOperationException NoRow(Change change, string which) => new(
        $"The change {change.Position}, a {change.Operation}, does not have the {which} row. The feed records it if RecordTable asks for it.");
}
