namespace Voron.Tables;

/// <summary>
/// The keys in an index differ from those that its function returns: the function was changed without a new index version. Nothing was written.
/// </summary>
/// <remarks>
/// Raise the version of the index when its function returns other keys; <see cref="TableEvolution.EvolveAsync"/> then rebuilds it. If the function
/// has not changed, <see cref="TableVerification"/> compares all rows with all indexes.
/// </remarks>
public sealed class IndexMismatchException : TableException
{
    private readonly byte[] _returned;
    private readonly byte[] _found;

    private IndexMismatchException(string table, string index, long rowId, byte[] returned, byte[] found, string message)
        : base(table, message)
    {
        IndexName = index;
        RowId = rowId;
        _returned = returned;
        _found = found;
    }

    /// <summary>The name of the index; empty for the primary key.</summary>
    public string IndexName { get; }

    /// <summary>The id of the row whose keys differ.</summary>
    public long RowId { get; }

    /// <summary>The key that the function returns for the row and the index lacks; empty if there is none, or if the row does not exist.</summary>
    public ReadOnlyMemory<byte> ReturnedKey => _returned;

    /// <summary>The key under which the index contains the row; empty if none was found.</summary>
    public ReadOnlyMemory<byte> FoundKey => _found;

    /// <param name="bound">The table.</param>
    /// <param name="slot">The place of the index in the definition.</param>
    /// <param name="rowId">The row.</param>
    /// <param name="returned">The key that the function returns; empty for none.</param>
    /// <param name="found">The key under which the index contains the row; empty for none.</param>
    internal static IndexMismatchException Of(BoundTable bound, int slot, long rowId, ReadOnlySpan<byte> returned, ReadOnlySpan<byte> found)
    {
        var (table, index) = (bound.Schema.Name, bound.Functions.Slots[slot].Name);
        var type = bound.Functions.Slots[slot].KeyType;
        var keys = $"the function returns {Describe(type, returned)} for row {rowId}, and the index stores the row under {Describe(type, found)}";
        return new IndexMismatchException(table, index, rowId, returned.ToArray(), found.ToArray(), index.Length == 0
            ? $"The primary keys of table '{table}' in '{bound.Trees.DataFilePath}' do not fit the definition of this program: {keys}. Nothing was written. " +
                (found.IsEmpty
                    ? $"If a salvage has lost the key, {nameof(TableEvolution.RebuildKeysAsync)} restores it."
                    : "The keys of a table cannot change: copy the rows into another table.")
            : $"The index '{index}' of table '{table}' in '{bound.Trees.DataFilePath}' does not fit its function in this program: {keys}. Nothing was written. " +
                $"If the function has changed, raise the version of the index and call {nameof(TableEvolution.EvolveAsync)} to rebuild it; " +
                $"if not, run {nameof(TableVerification.VerifyTable)}.");
    }

    /// <param name="bound">The table.</param>
    /// <param name="index">The name of the index, which is not the primary key.</param>
    /// <param name="rowId">The missing row.</param>
    /// <param name="key">The key under which the index contains it; empty if unknown.</param>
    internal static IndexMismatchException OfMissing(BoundTable bound, string index, long rowId, ReadOnlySpan<byte> key) => new(
        bound.Schema.Name, index, rowId, [], key.ToArray(),
        $"The index '{index}' of table '{bound.Schema.Name}' in '{bound.Trees.DataFilePath}' names row {rowId}, which does not exist. A " +
        "program whose function returns other keys for the same version of the index has deleted or changed the row. Raise the version of the " +
        $"index and call {nameof(TableEvolution.EvolveAsync)} to rebuild it; {nameof(TableVerification.VerifyTable)} lists all rows that " +
        "differ, and Verify finds damage.");

    private static string Describe(Type? type, ReadOnlySpan<byte> key) => key.IsEmpty ? "no key" : IndexField.Describe(type, key);
}
