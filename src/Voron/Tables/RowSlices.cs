using Voron.Loading;

namespace Voron.Tables;

/// <summary>Loads rows into a table in slices: as its transactions insert or replace them, in the order of their primary keys.</summary>
/// <param name="begin">Begins a write transaction.</param>
/// <param name="trees">Where rows are put aside that are too long to be sorted.</param>
/// <param name="definition">The definition of the table.</param>
/// <param name="duplicates">What happens to a row whose primary key the table has already.</param>
internal sealed class RowSlices<TKey, TRow>(
    Func<WriteTransaction> begin, PrivateTrees trees, TableDefinition<TKey, TRow> definition, DuplicateKeys duplicates)
    : SlicedLoad(begin, $"table '{definition.Name}'", duplicates)
{
    private WriteTable<TKey, TRow> _table;

    /// <inheritdoc/>
    public override ReadOnlySpan<byte> TryStore(ReadOnlySpan<byte> value, int mostSorted) =>
        value.Length <= mostSorted ? default : BitConverter.GetBytes(trees.PutAside(value));

    /// <inheritdoc/>
    public override void AddStored(ReadOnlySpan<byte> key, ReadOnlySpan<byte> reference) =>
        Add(key, trees.ReadAside(BitConverter.ToInt32(reference)));

    /// <inheritdoc/>
    protected override long Open(WriteTransaction writing)
    {
        _table = writing.OpenTable(definition);
        return _table.AsReadOnly().Bound.Schema.Id;
    }

    /// <inheritdoc/>
    protected override bool TryPut(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        // A row whose id is its key may leave reading it to the codec. Other rows have none yet.
        if (definition.Functions.KeyCodecName != null || !RowIdBytes.TryRead(key, out var rowId))
            rowId = -1;
        var row = definition.Functions.Read(value, rowId);
        if (!Replaces)
            return _table.TryInsert(row);
        _table.Upsert(row);
        return true;
    }
}
