using Voron.Tables;

namespace Voron.Feeds;

/// <summary>Reads the rows of changes.</summary>
public static class ChangedRows
{
    /// <summary>Reads the row as it was after the change.</summary>
    /// <param name="change">The change of a row.</param>
    /// <param name="definition">The definition of the table.</param>
    /// <exception cref="InvalidOperationException">The change does not contain the row: see <see cref="Change.HasNewValue"/>.</exception>
    /// <exception cref="ArgumentException">The change belongs to another table.</exception>
    /// <exception cref="RowFormatException">The row was written with a newer version of the definition, or the codec cannot read it.</exception>
    /// <exception cref="ArgumentNullException">The definition is null.</exception>
    /// <exception cref="ObjectDisposedException">The batch has been refilled.</exception>
    public static TRow GetRow<TKey, TRow>(this Change change, TableDefinition<TKey, TRow> definition)
    {
        Check(change, definition);
        return change.HasNewValue ? definition.Functions.Read(change.NewValue, RowIdOf(change)) : throw NoRow(change, "new");
    }

    /// <summary>Reads the row as it was before the change.</summary>
    /// <param name="change">The change of a row.</param>
    /// <param name="definition">The definition of the table.</param>
    /// <exception cref="InvalidOperationException">The change does not contain the row: see <see cref="Change.HasOldValue"/>.</exception>
    /// <inheritdoc cref="GetRow"/>
    public static TRow GetOldRow<TKey, TRow>(this Change change, TableDefinition<TKey, TRow> definition)
    {
        Check(change, definition);
        return change.HasOldValue ? definition.Functions.Read(change.OldValue, RowIdOf(change)) : throw NoRow(change, "old");
    }

    /// <summary>Returns the key of a row in a table whose keys are its row ids (<see cref="TableDefinition.CreateWithRowIds"/>).</summary>
    /// <param name="change">The change of a row.</param>
    /// <exception cref="InvalidOperationException">The change does not concern a row with such a key.</exception>
    /// <exception cref="ObjectDisposedException">The batch has been refilled.</exception>
    public static long GetRowId(this Change change) =>
        change.Source.IsTable && RowIdBytes.TryRead(change.Key, out var rowId)
            ? rowId
            : throw new InvalidOperationException($"The change {change.Position} of the {change.Source} has a key that is not a row id.");

    /// <summary>Returns the version that the change gave the row. A write to the table can pass it as the expected version.</summary>
    /// <param name="change">The change of a row.</param>
    /// <exception cref="InvalidOperationException">
    /// The change does not concern a row, or does not contain it: see <see cref="Change.HasNewValue"/>.
    /// </exception>
    /// <exception cref="RowFormatException">The row is damaged.</exception>
    /// <exception cref="ObjectDisposedException">The batch has been refilled.</exception>
    public static RowVersion GetVersion(this Change change)
    {
        if (!change.Source.IsTable)
            throw new InvalidOperationException($"The change {change.Position} of the {change.Source} has no version: it is not of a row.");
        if (!change.HasNewValue)
            throw NoRow(change, "new");
        return RowLayout.FindFault(change.NewValue) is { } fault
            ? throw RowFormatException.OnRead(change.Source.Name, RowIdOf(change), fault)
            : RowLayout.Version(change.NewValue);
    }

    private static void Check<TKey, TRow>(Change change, TableDefinition<TKey, TRow> definition)
    {
        ArgumentNullException.ThrowIfNull(definition);
        if (!change.Source.IsTable || change.Source.Name != definition.Name)
        {
            throw new ArgumentException(
                $"The change is of the {change.Source}, but the definition is of table '{definition.Name}'.", nameof(definition));
        }
    }

    // For messages only: a key that is not a row id may have the same length.
    private static long RowIdOf(Change change) => RowIdBytes.TryRead(change.Key, out var rowId) ? rowId : -1;

    private static InvalidOperationException NoRow(Change change, string which)
    {
        var isNew = which == "new";
        var hasNone = change.Operation == (isNew ? ChangeOperation.Delete : ChangeOperation.Insert) || change.Operation > ChangeOperation.Delete;
        var reason = hasNone ? $"{change.Operation} has none."
            : (isNew ? change.IsNewValueLeftOut : change.IsOldValueLeftOut) ? $"it is longer than {nameof(FeedOptions.MaxValueBytes)}. Read it from the table."
            : $"the feed does not record it. {nameof(FeedTransactions.RecordTable)} sets the content to record.";
        return new InvalidOperationException($"The change {change.Position} does not have the {which} row: {reason}");
    }
}
