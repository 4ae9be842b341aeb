using Voron.Loading;

namespace Voron.Tables;

/// <summary>
/// A load of many rows into a table, in any order, which writes each byte about once, and builds the indexes from sorted keys: begun by
/// <see cref="TableLoading.BeginBulkLoadAsync"/>.
/// </summary>
/// <remarks>
/// One thread at a time puts rows, and the functions of the definition run on it. Other callers read and write meanwhile. Until
/// <see cref="CompleteAsync"/>, nothing of an atomic load is visible; if it is never called, or fails, nothing is loaded.
/// Memory, temporary files and pages are freed by <see cref="Dispose"/>, or by the garbage collector. After a call has thrown an exception, only
/// <see cref="Dispose"/> can follow.
/// </remarks>
/// <typeparam name="TRow">The type of a row.</typeparam>
public sealed class TableBulkLoad<TRow> : IDisposable
{
    private readonly BulkLoad _load;
    private readonly RowEncoder<TRow> _encoder;

    internal TableBulkLoad(BulkLoad load, RowEncoder<TRow> encoder) => (_load, _encoder) = (load, encoder);

    /// <summary>
    /// Adds a row. Waits while earlier rows and keys are sorted and written, so that a fast source takes no more memory than the options allow.
    /// </summary>
    /// <param name="row">The row.</param>
    /// <exception cref="RowFormatException">The codec cannot write the row, or has called the load.</exception>
    /// <exception cref="IndexKeyException">The function of an index threw, returned an empty key, or has called the load.</exception>
    /// <exception cref="KeyTooLongException">A key is too long.</exception>
    /// <exception cref="InvalidOperationException">
    /// The primary key is below the last one although <see cref="BulkLoadOptions.Sorted"/> was promised; it is repeated, and
    /// <see cref="BulkLoadOptions.Duplicates"/> refuses that; this thread has a write transaction open, for which the load would wait; another call
    /// is running; or the load has ended.
    /// </exception>
    /// <exception cref="TableException">
    /// Rows that were promised to be sorted are stored in slices, which <see cref="CompleteAsync"/> does otherwise, with the same exceptions.
    /// </exception>
    /// <exception cref="StorageFullException">There is not enough space for the rows.</exception>
    /// <exception cref="StorageAccessException">They could not be written.</exception>
    /// <exception cref="CorruptionException">A temporary file, or a page that was written, has decayed since.</exception>
    /// <exception cref="StorageMemoryException">There is not enough memory.</exception>
    /// <exception cref="OperationCanceledException">The load was cancelled.</exception>
    /// <exception cref="EnvironmentPoisonedException">An earlier write failed.</exception>
    /// <exception cref="ObjectDisposedException">The load was disposed, or the environment is closed.</exception>
    public void Put(in TRow row) => _load.PutEntry(new Entry(_encoder, in row));

    /// <summary>Builds the indexes, stores the rows in the table, and returns when they are durable and visible.</summary>
    /// <param name="cancellationToken">Cancels the load, until its last commit begins.</param>
    /// <exception cref="DuplicateKeyException">
    /// Two rows have the same key in a unique index. Nothing of an atomic load is loaded, and of another one the rows before that in key order.
    /// </exception>
    /// <exception cref="InvalidOperationException">
    /// A primary key is repeated, and <see cref="BulkLoadOptions.Duplicates"/> refuses that; the table, which was new or empty, or an index that it
    /// shares, has been changed meanwhile; another call is running; or the load has ended.
    /// </exception>
    /// <exception cref="KeyNotFoundException">The table, which is filled in slices, was dropped meanwhile.</exception>
    /// <exception cref="SchemaMismatchException">The table, which is filled in slices, was evolved to another definition meanwhile.</exception>
    /// <exception cref="IndexMismatchException">The same, and the function of an index now returns other keys.</exception>
    /// <inheritdoc cref="Put"/>
    public ValueTask<BulkLoadReport> CompleteAsync(CancellationToken cancellationToken = default) => _load.CompleteAsync(cancellationToken);

    /// <inheritdoc cref="BulkLoad.Dispose"/>
    public void Dispose() => _load.Dispose();

    private readonly ref struct Entry(RowEncoder<TRow> encoder, ref readonly TRow row) : IEntryToLoad
    {
        private readonly ref readonly TRow _row = ref row;

        public bool TryMake(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) => encoder.TryEncode(_row, out key, out value);
    }
}
