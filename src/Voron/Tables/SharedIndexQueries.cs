namespace Voron.Tables;

/// <summary>Finds rows of all tables that share an index.</summary>
public static class SharedIndexQueries
{
    /// <summary>
    /// Returns a query for the rows of all tables whose keys in a shared index are in a range, in the order of the keys; where keys are equal, in the
    /// order in which the tables have got the index, and of the row ids.
    /// </summary>
    /// <remarks>
    /// It answers for the tables that have the index in this snapshot: a table gets it when it is created, or with
    /// <see cref="TableEvolution.EvolveAsync"/>. Call that for each definition when the program starts. Definitions are needed only to read the rows.
    /// </remarks>
    /// <param name="transaction">The transaction.</param>
    /// <param name="index">The index.</param>
    /// <param name="keys">The keys, written as the functions of the index write them. They are copied.</param>
    /// <exception cref="KeyNotFoundException">No table has the index.</exception>
    /// <exception cref="IndexNotReadyException">One of the tables does not have all of its rows in the index yet.</exception>
    /// <exception cref="CorruptionException">A page or a schema is damaged.</exception>
    /// <exception cref="ArgumentNullException">The index is null.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public static SharedIndexQuery QuerySharedIndex(this ReadTransaction transaction, SharedIndex index, KeyRange keys)
    {
        ArgumentNullException.ThrowIfNull(index);
        return new SharedIndexQuery(SharedRoster.Read(new TableTrees(transaction), index), index, keys, canWrite: false);
    }

    /// <inheritdoc cref="QuerySharedIndex(ReadTransaction, SharedIndex, KeyRange)"/>
    public static SharedIndexQuery QuerySharedIndex(this WriteTransaction transaction, SharedIndex index, KeyRange keys)
    {
        ArgumentNullException.ThrowIfNull(index);
        return new SharedIndexQuery(SharedRoster.Read(new TableTrees(transaction), index), index, keys, canWrite: true);
    }
}
