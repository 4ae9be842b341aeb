namespace Voron.Tables;

/// <summary>Finds rows of all tables that share an index.</summary>
public static class SharedIndexQueries
{
    /// <summary>
    /// Returns a query for the rows of all tables whose keys in a shared index are in a range, in key order; rows with equal keys in the order in
    /// which their tables joined the index, and then in id order.
    /// </summary>
    /// <remarks>
    /// The query covers the tables that have the index in this snapshot: a table gets it when it is created, or with
    /// <see cref="TableEvolution.EvolveAsync"/>. Call the latter for each definition when the program starts. Definitions are needed only to read
    /// the rows.
    /// </remarks>
    /// <param name="transaction">The transaction.</param>
    /// <param name="index">The index.</param>
    /// <param name="keys">The bytes of the keys, as <see cref="KeyWriter"/> writes their fields. They are copied.</param>
    /// <exception cref="KeyNotFoundException">No table has the index.</exception>
    /// <exception cref="IndexNotReadyException">The index does not contain all rows of one of the tables yet.</exception>
    /// <exception cref="CorruptionException">A page or a schema is damaged.</exception>
    /// <exception cref="ArgumentNullException">The index is null.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public static SharedIndexQuery QuerySharedIndexRaw(this ReadTransaction transaction, SharedIndex index, KeyRange keys)
    {
        ArgumentNullException.ThrowIfNull(index);
        return new SharedIndexQuery(SharedRoster.Read(new SystemTreeAccess(transaction), index), index, keys, canWrite: false);
    }

    /// <inheritdoc cref="QuerySharedIndexRaw(ReadTransaction, SharedIndex, KeyRange)"/>
    public static SharedIndexQuery QuerySharedIndexRaw(this WriteTransaction transaction, SharedIndex index, KeyRange keys)
    {
        ArgumentNullException.ThrowIfNull(index);
        return new SharedIndexQuery(SharedRoster.Read(new SystemTreeAccess(transaction), index), index, keys, canWrite: true);
    }

    /// <summary>Returns a query for all rows in a shared index, in key order.</summary>
    /// <inheritdoc cref="QuerySharedIndexRaw(ReadTransaction, SharedIndex, KeyRange)"/>
    public static SharedIndexQuery QuerySharedIndex(this ReadTransaction transaction, SharedIndex index) =>
        transaction.QuerySharedIndexRaw(index, KeyRange.All);

    /// <summary>Returns a query for the rows of all tables with a key in a shared index.</summary>
    /// <param name="transaction">The transaction.</param>
    /// <param name="index">The index.</param>
    /// <param name="key">The key, or its first fields: a text, a number, a time, a GUID, bytes, or a tuple of such values.</param>
    /// <exception cref="ArgumentException">Values of this type cannot be keys.</exception>
    /// <inheritdoc cref="QuerySharedIndexRaw(ReadTransaction, SharedIndex, KeyRange)"/>
    public static SharedIndexQuery QuerySharedIndex<TIndexKey>(this ReadTransaction transaction, SharedIndex index, TIndexKey key) =>
        transaction.QuerySharedIndex(index, IndexRange<TIndexKey>.All.From(key).Through(key));

    /// <summary>Returns a query for the rows of all tables whose keys in a shared index are in a range of values.</summary>
    /// <param name="transaction">The transaction.</param>
    /// <param name="index">The index.</param>
    /// <param name="keys">The keys: <see cref="IndexRange"/> makes a range.</param>
    /// <exception cref="ArgumentException">Values of this type cannot be keys.</exception>
    /// <inheritdoc cref="QuerySharedIndexRaw(ReadTransaction, SharedIndex, KeyRange)"/>
    public static SharedIndexQuery QuerySharedIndex<TIndexKey>(this ReadTransaction transaction, SharedIndex index, IndexRange<TIndexKey> keys) =>
        transaction.QuerySharedIndexRaw(index, keys.Encode(IndexField.Encode, isWhole: false));

    /// <inheritdoc cref="QuerySharedIndex(ReadTransaction, SharedIndex)"/>
    public static SharedIndexQuery QuerySharedIndex(this WriteTransaction transaction, SharedIndex index) =>
        transaction.QuerySharedIndexRaw(index, KeyRange.All);

    /// <inheritdoc cref="QuerySharedIndex{TIndexKey}(ReadTransaction, SharedIndex, TIndexKey)"/>
    public static SharedIndexQuery QuerySharedIndex<TIndexKey>(this WriteTransaction transaction, SharedIndex index, TIndexKey key) =>
        transaction.QuerySharedIndex(index, IndexRange<TIndexKey>.All.From(key).Through(key));

    /// <inheritdoc cref="QuerySharedIndex{TIndexKey}(ReadTransaction, SharedIndex, IndexRange{TIndexKey})"/>
    public static SharedIndexQuery QuerySharedIndex<TIndexKey>(this WriteTransaction transaction, SharedIndex index, IndexRange<TIndexKey> keys) =>
        transaction.QuerySharedIndexRaw(index, keys.Encode(IndexField.Encode, isWhole: false));
}
