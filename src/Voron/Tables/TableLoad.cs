using System.Buffers;
using System.Diagnostics;
using Voron.Loading;
using Voron.Testing;
using Voron.Trees;

namespace Voron.Tables;

/// <summary>Builds the rows and the indexes of a new or empty table as private trees, which one short commit makes its content.</summary>
/// <remarks>
/// <code>
///   rows keyed by their ids     sorted by id, duplicates dropped ─▶ rows tree ┐
///   rows with other keys        ids in order of arrival ─▶ rows tree          ├─▶ lost rows deleted ─▶ indexes built ─▶ synced, adopted
///                               keys sorted, duplicates found with the ids ───┘
/// </code>
/// </remarks>
internal sealed class TableLoad : OrderedLoad
{
    // Removes a key, with the row that has it.
    private const long NoRow = -1;

    private readonly StorageEnvironment _environment;
    private readonly TableFunctions _functions;
    private readonly DuplicateKeys _duplicates;
    private readonly PrivateTrees _trees;
    private readonly byte[] _schema;
    private readonly IndexSchema?[] _indexes;

    // By the places of the indexes in the definition; null for those that the table does not have.
    private readonly IndexLoad?[] _loads;
    private readonly long _firstId;
    private readonly bool _isSorted;
    private readonly ArrayBufferWriter<byte> _reference = new();
    private readonly ArrayBufferWriter<byte> _last = new();

    private PrivateTree? _rows;
    private int _lastKeyLength = -1;
    private long _nextId;
    private long _passed;

    private TableLoad(StorageEnvironment environment, WriteTransaction writing, BoundTable bound, BulkLoadOptions options, PrivateTrees trees)
    {
        _environment = environment;
        _functions = bound.Functions;
        _duplicates = options.Duplicates;
        _isSorted = options.Sorted;
        _trees = trees;
        _schema = ReadSchema(writing)!;
        _indexes = bound.Binding.Slots;
        _loads = new IndexLoad[_indexes.Length];
        _firstId = _nextId = bound.NextRowId();
    }

    /// <inheritdoc/>
    public override bool IsAtomic => true;

    /// <inheritdoc/>
    public override bool TakesAnyOrder => !_isSorted && HasKeys;

    /// <inheritdoc/>
    public override long Passed => _passed;

    /// <inheritdoc/>
    public override long SpilledBytes => _loads.Sum(static load => load?.SpilledBytes ?? 0);

    private bool HasKeys => _functions.KeyCodecName != null;

    private string Target => $"table '{_functions.Name}'";

    /// <summary>Begins a load in a transaction, which the caller commits.</summary>
    /// <param name="environment">The environment.</param>
    /// <param name="writing">The transaction.</param>
    /// <param name="bound">The table, open in the transaction.</param>
    /// <param name="options">The options. If rows and keys are both sorted, half of the memory is left to the rows.</param>
    /// <param name="trees">Private trees, without any so far.</param>
    /// <param name="stop">Cancels the sorts.</param>
    /// <returns>The load; null if the table has content, or is not ready or recorded, or shares an index that has content.</returns>
    public static TableLoad? TryBegin(
        StorageEnvironment environment, WriteTransaction writing, BoundTable bound, BulkLoadOptions options, PrivateTrees trees,
        CancellationToken stop)
    {
        if (bound.Schema.Indexes.Any(static index => index.State != IndexState.Ready))
            return null;
        var load = new TableLoad(environment, writing, bound, options, trees);
        try
        {
            if (load.TryBegin(writing, bound, options, stop))
                return load;
        }
        catch
        {
            load.Dispose();
            throw;
        }

        load.Dispose();
        return null;
    }

    /// <inheritdoc/>
    public override void Add(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        // A row that the next one replaces has added no keys.
        if (!_isSorted || _duplicates != DuplicateKeys.LastWins)
        {
            Store(key, value, isStored: false);
            return;
        }

        if (_lastKeyLength >= 0 && !key.SequenceEqual(_last.WrittenSpan[.._lastKeyLength]))
            StoreLast();
        _last.ResetWrittenCount();
        _last.Write(key);
        _last.Write(value);
        _lastKeyLength = key.Length;
    }

    /// <inheritdoc/>
    public override ReadOnlySpan<byte> TryStore(ReadOnlySpan<byte> value, int mostSorted)
    {
        if (value.IsEmpty)
            return default;
        var row = value;
        while (RowEntry.TryTakeKey(ref row, out _, out _))
        {
        }

        var keys = value[..^row.Length];
        var reference = _rows!.TryStore(row, mostSorted - keys.Length);
        if (reference.IsEmpty)
            return default;
        if (keys.Length + reference.Length > mostSorted)
        {
            throw new StorageMemoryException(
                $"A row for a bulk load of the {Target} has {keys.Length} bytes of index keys, and at most {mostSorted - reference.Length} can be " +
                $"sorted in the memory of the load. Raise {nameof(BulkLoadOptions.MemoryBytes)}, or insert the row in a transaction.");
        }

        _reference.ResetWrittenCount();
        _reference.Write(keys);
        _reference.Write(reference);
        return _reference.WrittenSpan;
    }

    /// <inheritdoc/>
    public override void AddStored(ReadOnlySpan<byte> key, ReadOnlySpan<byte> reference) => Store(key, reference, isStored: true);

    /// <inheritdoc/>
    /// <exception cref="DuplicateKeyException">Two rows have the same key in a unique index.</exception>
    /// <exception cref="InvalidOperationException">
    /// A primary key is repeated, which is refused; or the table has been filled, dropped or changed meanwhile. Nothing was loaded.
    /// </exception>
    public override async ValueTask CompleteAsync(CancellationToken stop)
    {
        if (_lastKeyLength >= 0)
            StoreLast();
        BuildIndexes(stop);
        _rows!.FreeUnused();
        await _trees.MakeDurableAsync().ConfigureAwait(false);
        stop.ThrowIfCancellationRequested();
        await _rows.InstallDictionariesAsync(stop).ConfigureAwait(false);
        using var writing = await _environment.BeginWriteAsync(stop).ConfigureAwait(false);
        writing.Durability = Durability.Durable;
        if (!IsUnchanged(writing) || !writing.TryAdopt(_trees, _loads.OfType<IndexLoad>(), _rows))
            throw LoadErrors.Changed(Target, _environment.Path);
        await writing.CommitAsync(CancellationToken.None).ConfigureAwait(false);
    }

    public override void Dispose()
    {
        foreach (var load in _loads)
            load?.Dispose();
        base.Dispose();
    }

    private bool TryBegin(WriteTransaction writing, BoundTable bound, BulkLoadOptions options, CancellationToken stop)
    {
        _rows = writing.TryBeginLoad(_trees, bound.Binding.RowsName);
        if (_rows == null)
            return false;
        var memory = options.MemoryBytes ?? _environment.BulkLoadMemoryBytes;
        var count = _indexes.Count(static index => index != null);
        if (!_isSorted && !HasKeys && count > 0)
            options.MemoryBytes = memory /= 2;
        for (var slot = 0; slot < _loads.Length; slot++)
        {
            if (_indexes[slot] == null)
                continue;
            _loads[slot] = writing.TryBeginLoad(_trees, bound.Binding.TreeNames[slot], RowIdBytes.Bytes, memory / count, stop);
            if (_loads[slot] == null)
                return false;
        }

        return true;
    }

    private void StoreLast() => Store(_last.WrittenSpan[.._lastKeyLength], _last.WrittenSpan[_lastKeyLength..], isStored: false);

    private void Store(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value, bool isStored)
    {
        long rowId;
        if (value.IsEmpty)
        {
            _passed++;
            if (TakesAnyOrder)
                _loads[0]!.Add(key, NoRow);
            return;
        }

        if (HasKeys)
            _loads[0]!.Add(key, rowId = TakeId());
        else if (!RowIdBytes.TryRead(key, out rowId))
            throw new UnreachableException("The key of the row is its id.");
        while (RowEntry.TryTakeKey(ref value, out var slot, out var indexKey))
            _loads[slot]!.Add(indexKey, _indexes[slot]!.FirstId + rowId);
        Span<byte> id = stackalloc byte[RowIdBytes.Bytes];
        if (isStored)
            _rows!.PutStored(RowIdBytes.Write(rowId, id), value);
        else
            _rows!.Put(RowIdBytes.Write(rowId, id), value);
    }

    private long TakeId() => _nextId <= RowIdBytes.Max
        ? _nextId++
        : throw new StorageFullException(
            $"The {Target} has used all {RowIdBytes.Max + 1} row ids, and reuses none. Copy its rows into another table.");

    private void BuildIndexes(CancellationToken stop)
    {
        if (HasKeys && _loads[0]!.Build(null, _duplicates) is { } repeated)
            throw LoadErrors.Duplicate(repeated.Key, Target);
        var lost = HasKeys ? _loads[0]!.Displaced : new HashSet<long>();
        Span<byte> id = stackalloc byte[RowIdBytes.Bytes];
        foreach (var rowId in lost.Order())
        {
            stop.ThrowIfCancellationRequested();
            _rows!.Delete(RowIdBytes.Write(rowId, id));
        }

        // Their trees use the pages that the lost rows have freed.
        Func<long, bool>? isLost = lost.Count == 0 || PlantedFault.KeepKeysOfLostRows ? null : id => lost.Contains(id & RowIdBytes.Max);
        for (var slot = HasKeys ? 1 : 0; slot < _loads.Length; slot++)
        {
            if (_loads[slot]?.Build(isLost, DuplicateKeys.Refuse) is not { } shared)
                continue;
            var index = _functions.Slots[slot];
            throw new DuplicateKeyException(_functions.Name, index.Name, shared.Key, null, shared.First, index.KeyType);
        }

        _passed += lost.Count;
    }

    // A row that others have inserted and deleted meanwhile has left its id behind.
    private bool IsUnchanged(WriteTransaction writing) =>
        _schema.AsSpan().SequenceEqual(ReadSchema(writing))
        && (!HasKeys || BoundTable.Open(new SystemTreeAccess(writing), _functions)!.NextRowId() == _firstId);

    private byte[]? ReadSchema(WriteTransaction writing) =>
        new SystemTreeAccess(writing).TryOpen(SystemTree.Schemas, out Tree schemas) && schemas.TryGet(_functions.SchemaKey, out var bytes)
            ? bytes.ToArray()
            : null;
}
