using System.Diagnostics.CodeAnalysis;
using Voron.Trees;

namespace Voron.Tables;

/// <summary>A table opened by a transaction: its trees, and buffers for one row at a time.</summary>
/// <remarks>
/// It is attached to the object of the row tree, which is pooled with its transaction, so opening a table allocates nothing. The schema is compared
/// before each call if its tree has changed, because a rollback to a savepoint, or a call through another handle, may have changed it.
/// </remarks>
internal sealed class BoundTable
{
    private const int MaxKeptBytes = 64 << 10;

    private SystemTreeAccess _trees;
    private Tree _schemas;
    private long _schemaChanges;
    private OpenIndex[] _indexes = [];
    private byte[] _old = [];
    private byte[] _unpacked = [];
    private RowIndexKeys? _newKeys;
    private RowIndexKeys? _oldKeys;
    private long _nextRowId;
    private long _nextVersion;
    private Tree _rows;
    private long _rollbacks;
    private Stamp _stamp;
    private bool _isInCallback;
    private RowBatch? _freeBatch;

    /// <summary>The last decompressed row.</summary>
    public ref byte[] Unpacked => ref _unpacked;

    /// <summary>The definition for which the bound table is set up.</summary>
    public TableFunctions Functions { get; private set; } = null!;

    public TableBinding Binding { get; private set; } = null!;

    /// <summary>The binding whose indexes were last found to fit their functions; null for none.</summary>
    public TableBinding? Sampled { get; set; }

    public TableSchema Schema => Binding.Schema;

    /// <summary>The rows.</summary>
    public ref readonly Tree Rows => ref _rows;

    /// <summary>The transaction.</summary>
    public SystemTreeAccess Trees => _trees;

    /// <summary>
    /// The current time in milliseconds since 1970: rows that expire at or before it count as deleted. The lowest number if no rows expire.
    /// </summary>
    public long Now { get; private set; } = RowExpiry.Never;

    /// <summary>True if written rows get expiry times.</summary>
    public bool WritesExpiry => Functions.ExpirySlot is >= 0 and var slot && _indexes[slot].State is IndexState.Ready or IndexState.Building;

    /// <summary>Receives the changed rows for a build of indexes; null if there is none, or in a read transaction.</summary>
    public RowChanges? Changes { get; private set; }

    /// <summary>The row that is being written.</summary>
    public RowBuffer Buffer { get; } = new();

    /// <summary>The keys of the row after the change.</summary>
    public RowIndexKeys NewKeys => _newKeys!;

    /// <summary>The keys of the row before the change.</summary>
    public RowIndexKeys OldKeys => _oldKeys!;

    /// <summary>The id of the row being written, if that is its key; -1 if the table has keys of another kind.</summary>
    public long GivenRowId { get; set; } = -1;

    /// <summary>Space for a key.</summary>
    public byte[] KeyBuffer { get; private set; } = [];

    /// <summary>
    /// The highest version of the rows that the transaction has deleted. May be left from an earlier transaction, which is harmless: its versions are
    /// lower than any of this one.
    /// </summary>
    public RowVersion NewestDeleted { get; private set; }

    /// <summary>Opens a table; null if it does not exist.</summary>
    /// <exception cref="SchemaMismatchException">The table has keys of another kind.</exception>
    /// <exception cref="CorruptionException">The schema is damaged, or a tree of the table is missing.</exception>
    public static BoundTable? Open(SystemTreeAccess trees, TableFunctions functions)
    {
        if (!trees.TryOpen(SystemTree.Schemas, out Tree schemas) || !schemas.TryGet(functions.SchemaKey, out var bytes))
            return null;
        var binding = functions.Bind(bytes, trees.DataFilePath);
        if (!trees.TryOpen(binding.RowsName, out Tree rows))
            throw MissingTree(binding.Schema, binding.RowsName, trees);
        if (rows.LayerObject is not BoundTable bound)
            rows.Attach(bound = new BoundTable());
        if (bound._isInCallback)
            ThrowInCallback();
        bound.Begin(trees, schemas, functions, binding, rows);
        return bound;
    }

    /// <summary>The tree of an index of the definition.</summary>
    public OpenIndex IndexOf(int slot) => _indexes[slot];

    /// <summary>Prepares a call through a handle of that definition.</summary>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    /// <exception cref="InvalidOperationException">
    /// The table was dropped in this transaction, or a function of the definition calls the table.
    /// </exception>
    public void Enter(TableFunctions functions)
    {
        if (_isInCallback)
            ThrowInCallback();

        // A rollback may have closed trees that were opened since its savepoint, while the row tree remains open.
        if (functions != Functions || !_schemas.IsSettled || _schemas.ChangeCount != _schemaChanges || _rollbacks != _rows.RollbackCount)
            Refresh(functions);
    }

    /// <summary>Prepares a call that writes.</summary>
    /// <exception cref="SchemaMismatchException">The definition must not write.</exception>
    /// <exception cref="InvalidOperationException">An earlier call has broken the transaction.</exception>
    /// <inheritdoc cref="Enter"/>
    public void EnterToWrite(TableFunctions functions)
    {
        _rows.ThrowIfBroken();
        Enter(functions);
        if (Binding.Refusal is { } refusal)
            throw new SchemaMismatchException(functions.Name, refusal);
    }

    /// <summary>Returns true if a row counts as deleted. Accepts arbitrary bytes.</summary>
    public bool IsExpired(ReadOnlySpan<byte> row) => Now != RowExpiry.Never && RowLayout.IsDue(row, Now);

    /// <summary>Takes a batch for a query, which must return it.</summary>
    public RowBatch TakeBatch() => Interlocked.Exchange(ref _freeBatch, null) ?? new RowBatch();

    /// <summary>Takes a batch back, for the next query.</summary>
    public void ReturnBatch(RowBatch batch)
    {
        batch.Clear();
        Volatile.Write(ref _freeBatch, batch);
    }

    /// <summary>Marks the beginning of calls to functions of the definition, which must not call the table.</summary>
    public void BeginCallback()
    {
        if (_isInCallback)
            ThrowInCallback();
        _isInCallback = true;
        _stamp = CurrentStamp();
    }

    public void EndCallback() => _isInCallback = false;

    /// <summary>Called after functions of the definition, before writing a row that was looked up before these calls.</summary>
    /// <exception cref="ObjectDisposedException">The functions have ended the transaction.</exception>
    /// <exception cref="InvalidOperationException">The functions have changed the table, or have rolled back to a savepoint.</exception>
    public void RequireUnchanged()
    {
        _rows.RequireOpen();
        if (_stamp != CurrentStamp())
        {
            throw new InvalidOperationException(
                $"A function of the definition of table '{Functions.Name}' has changed the table or rolled back to a savepoint, so the row was not " +
                "written. An index function and a row codec must depend on the row alone.");
        }
    }

    /// <summary>Reads a row with the functions of the definition, and computes its keys in the indexes that cover it.</summary>
    /// <inheritdoc cref="TableFunctions.ReadKeys"/>
    public void ReadOldKeys(long rowId, ReadOnlySpan<byte> row)
    {
        WantOldKeys(rowId);
        ReadKeys(rowId, row);
        RequireUnchanged();
    }

    /// <summary>Requests the keys of a row in the indexes that cover it.</summary>
    public void WantOldKeys(long rowId)
    {
        for (var slot = 0; slot < _indexes.Length; slot++)
            OldKeys.Want(slot, _indexes[slot].Schema?.Covers(rowId) == true || Changes?.Wants(_indexes[slot].Schema) == true);
    }

    /// <summary>Notes a changed row, whose old keys have been computed, for a build of indexes.</summary>
    /// <param name="rowId">The row.</param>
    /// <param name="isNew">True if it has no old keys.</param>
    public void NoteChange(long rowId, bool isNew)
    {
        if (Changes?.Note(rowId) == true)
            Changes.Keep(rowId, isNew ? [] : CopyOldKeys(Changes));
    }

    /// <summary>Copies the old keys in the indexes that are built.</summary>
    public List<(int Index, byte[] Key)> CopyOldKeys(RowChanges changes)
    {
        var copies = new List<(int, byte[])>();
        for (var slot = 0; slot < _indexes.Length; slot++)
        {
            var (index, keys) = (_indexes[slot], OldKeys[slot]);
            if (changes.Find(index.Schema) is not (>= 0 and var place))
                continue;
            for (var i = 0; i < keys.Count; i++)
            {
                if (index.Contains(keys, i))
                    copies.Add((place, keys[i].ToArray()));
            }
        }

        return copies;
    }

    /// <summary>Requests the new keys of a row in the indexes that writers maintain.</summary>
    public void WantNewKeys()
    {
        for (var slot = 0; slot < _indexes.Length; slot++)
            NewKeys.Want(slot, _indexes[slot].State is IndexState.Ready or IndexState.Building);
    }

    /// <summary>Reads a row, and computes its wanted keys as <see cref="OldKeys"/>.</summary>
    /// <inheritdoc cref="TableFunctions.ReadKeys"/>
    public long ReadKeys(long rowId, ReadOnlySpan<byte> row)
    {
        BeginCallback();
        try
        {
            return Functions.ReadKeys(row, rowId, OldKeys);
        }
        finally
        {
            EndCallback();
        }
    }

    /// <summary>
    /// Notes that a call has failed midway: the transaction can only be rolled back. Always returns false, for use in an exception filter.
    /// </summary>
    public bool Break(Exception cause) => _rows.Break(cause);

    /// <summary>Reads a row, and computes the time at which it expires.</summary>
    /// <inheritdoc cref="TableFunctions.ReadExpiry"/>
    public long? ReadExpiry(long rowId, ReadOnlySpan<byte> row)
    {
        BeginCallback();
        try
        {
            return Functions.ReadExpiry(row, rowId);
        }
        finally
        {
            EndCallback();
        }
    }

    /// <summary>Copies a row, so that functions can read it whatever they do to the transaction.</summary>
    public ReadOnlySpan<byte> Copy(ReadOnlySpan<byte> row)
    {
        if (_old.Length < row.Length)
            _old = GC.AllocateUninitializedArray<byte>(Math.Max(row.Length, Math.Min(2 * _old.Length, MaxKeptBytes)));
        row.CopyTo(_old);
        return _old.AsSpan(0, row.Length);
    }

    /// <summary>Returns the id after all ids that rows have or had. It may exceed the highest valid row id.</summary>
    public long NextRowId()
    {
        if (_nextRowId < 0)
            _nextRowId = Math.Max(StoredNextRowId(), TableSequences.BehindLastRow(Rows));
        return _nextRowId;
    }

    /// <summary>Returns the id for the next new row, which no row has had before.</summary>
    /// <exception cref="StorageFullException">All ids have been used.</exception>
    public long PeekRowId()
    {
        if (NextRowId() > RowIdBytes.Max)
        {
            throw new StorageFullException(
                $"The table '{Schema.Name}' has used all {RowIdBytes.Max + 1} row ids, and reuses none. Copy its rows into another table.");
        }

        return _nextRowId;
    }

    /// <summary>Notes that a row id is used. Ids may be skipped, for example by a rollback.</summary>
    public void NoteRowId(long rowId)
    {
        if (_nextRowId >= 0)
            _nextRowId = Math.Max(_nextRowId, rowId + 1);
    }

    /// <summary>Notes that a row with a version is deleted.</summary>
    public void NoteDeleted(RowVersion version)
    {
        if (version.Value > NewestDeleted.Value)
            NewestDeleted = version;
    }

    /// <summary>Returns the stored row id below which none is reused; 0 if none is stored.</summary>
    public long StoredNextRowId() => Stored(Binding.NextRowKey);

    /// <summary>Returns the stored lowest version for inserted rows; 0 if none is stored.</summary>
    public long NextVersion()
    {
        if (_nextVersion < 0)
            _nextVersion = Stored(Binding.NextVersionKey);
        return _nextVersion;
    }

    /// <summary>Stores the lowest version for inserted rows, unless a higher one is stored.</summary>
    public void SaveNextVersion(long next)
    {
        if (Stored(Binding.NextVersionKey) < next)
            TableSequences.SaveNextOfTable(SchemasToWrite, Binding.NextVersionKey, next);
    }

    /// <summary>Replaces the schema of the table.</summary>
    public void Save(TableSchema schema)
    {
        SchemasToWrite.Put(Functions.SchemaKey, schema.ToBytes());
        Refresh(Functions);
    }

    /// <summary>The schema tree, for writing.</summary>
    public WriteTree SchemasToWrite => new(_schemas);

    /// <summary>Stores the row id below which none is reused.</summary>
    public void SaveNextRowId(long next) => TableSequences.SaveNextOfTable(SchemasToWrite, Binding.NextRowKey, next);

    /// <summary>Returns the exception for a missing tree of the table.</summary>
    public static CorruptionException MissingTree(TableSchema schema, ReadOnlySpan<byte> name, SystemTreeAccess trees) => new(
        $"The {SystemTree.Describe(name)}, '{schema.Name}', is missing in '{trees.DataFilePath}'. Run Verify, or restore a backup.");

    private long Stored(ReadOnlySpan<byte> key) => TableSequences.NextOfTable(_schemas, key);

    private void Begin(SystemTreeAccess trees, Tree schemas, TableFunctions functions, TableBinding binding, Tree rows)
    {
        // An operation of a group commit opens the table again, in the same transaction.
        if (!_rows.IsSame(rows))
            TrimBuffers();
        _trees = trees;
        _schemas = schemas;
        _nextRowId = _nextVersion = -1;
        _rows = rows;
        if (KeyBuffer.Length != trees.MaxKeyLength)
            KeyBuffer = new byte[trees.MaxKeyLength];
        Bind(functions, binding);
        if (binding.HidesExpired && trees.CanWrite && functions.ExpirySlot >= 0 && binding.Refusal == null)
            KnownTables.Of(trees.Writing).OnExpiring(functions);
    }

    // A single large row must not keep its memory for as long as the transaction's objects are pooled.
    private void TrimBuffers()
    {
        if (_old.Length > MaxKeptBytes)
            _old = [];
        Buffer.Trim(MaxKeptBytes);
        _newKeys?.Trim(MaxKeptBytes);
        _oldKeys?.Trim(MaxKeptBytes);
    }

    private void Refresh(TableFunctions functions)
    {
        // The rollback may have closed the tree of schemas, and the transaction may use its object for another tree.
        var schemas = _schemas;
        var isOpen = _rollbacks == _rows.RollbackCount || _trees.TryOpen(SystemTree.Schemas, out schemas);
        if (!isOpen || !schemas.TryGet(functions.SchemaKey, out var bytes))
            throw new InvalidOperationException($"The table '{functions.Name}' has been dropped in this transaction.");
        _schemas = schemas;
        if (functions == Functions && Binding.IsOf(bytes) && _rollbacks == _rows.RollbackCount)
            _schemaChanges = _schemas.ChangeCount;
        else
            Bind(functions, functions.Bind(bytes, _trees.DataFilePath));
    }

    private void Bind(TableFunctions functions, TableBinding binding)
    {
        if (functions != Functions || _newKeys == null)
        {
            _newKeys = new RowIndexKeys(functions.Slots.Count, _trees.MaxKeyLength);
            _oldKeys = new RowIndexKeys(functions.Slots.Count, _trees.MaxKeyLength);
        }

        // Set last, so that a call after a failure binds again.
        Functions = null!;
        if (_indexes.Length != binding.Slots.Length)
            _indexes = new OpenIndex[binding.Slots.Length];
        for (var slot = 0; slot < _indexes.Length; slot++)
            _indexes[slot] = Open(binding.Schema, binding.Slots[slot], binding.TreeNames[slot]);
        Now = binding.HidesExpired ? _trees.Now : RowExpiry.Never;
        (Functions, Binding) = (functions, binding);
        Changes = binding.IsBuilding && _trees.CanWrite ? KnownTables.Of(_trees.Writing).Building.GetValueOrDefault(binding.Schema.Id) : null;
        _schemaChanges = _schemas.ChangeCount;
        _rollbacks = _rows.RollbackCount;
    }

    private Stamp CurrentStamp() => new(_rows.ChangeCount, _schemas.ChangeCount, _rows.RollbackCount);

    private OpenIndex Open(TableSchema schema, IndexSchema? index, byte[] name)
    {
        if (index == null)
            return default;
        if (index.IsUnique && _trees.TryOpen(name, out Tree entries))
            return new OpenIndex(index, entries, default);
        if (!index.IsUnique && _trees.TryOpen(name, out IdTree ids))
            return new OpenIndex(index, default, ids);
        throw MissingTree(schema, name, _trees);
    }

    [DoesNotReturn]
    private static void ThrowInCallback() => throw new InvalidOperationException(
        "A function of the table's definition calls the table. An index function and a row codec must depend on the row alone.");

    /// <summary>Changes whenever the table does, or its transaction is rolled back to a savepoint.</summary>
    private readonly record struct Stamp(long RowChanges, long SchemaChanges, long Rollbacks);
}

/// <summary>An index opened by a transaction. The default stands for an index that does not exist in the environment.</summary>
/// <param name="Schema">The index.</param>
/// <param name="Entries">The tree of a unique index, from keys to row ids.</param>
/// <param name="Ids">The tree of a non-unique index, from keys to sets of row ids.</param>
internal readonly record struct OpenIndex(IndexSchema? Schema, Tree Entries, IdTree Ids)
{
    public IndexState State => Schema?.State ?? IndexState.Absent;

    /// <summary>
    /// Returns whether the index contains a key of a row: a unique one leaves out keys that contain a null. The primary key contains all keys,
    /// whatever its codec writes.
    /// </summary>
    public bool Contains(IndexKeyList keys, int key) => !Schema!.IsUnique || !keys.HasNull(key) || Schema.Id == IndexSchema.PrimaryKey;
}
