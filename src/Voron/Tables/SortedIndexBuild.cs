using System.Diagnostics;
using Voron.Loading;
using Voron.Testing;

namespace Voron.Tables;

/// <summary>
/// Builds the new indexes of a table that has many rows, outside the transactions: the keys of all rows are sorted, and put into trees that one
/// commit makes the content of the indexes.
/// </summary>
/// <remarks>
/// <code>
///   rows read in short snapshots ─▶ changed rows read again ─▶ keys sorted, trees built ─▶ changes applied ─▶ synced, adopted
///   └─ changed rows: their ids noted ─┘└──── rows changed again: their ids and old keys noted, and applied to the trees ────┘
/// </code>
/// Meanwhile the indexes are empty, and cover no row: a writer adds no key to them, but notes each row that it changes in <see cref="RowChanges"/>.
/// The commit that adopts the trees applies the last changes, so the indexes are ready or, after a crash or a cancellation, still empty.
/// If anything else has changed an index meanwhile, the trees are given up, and <see cref="IndexBuilder"/> builds it step by step.
/// </remarks>
internal sealed class SortedIndexBuild : IDisposable
{
    // So few changes are left to the commit, which a writer waits for; or rather more, if they come faster than they are applied.
    private const int FewChanges = 256;
    private const int MostChanges = 16 * FewChanges;
    private const int MostRounds = 16;
    private const int MostAttempts = 8;

    private static readonly TimeSpan SnapshotHold = TimeSpan.FromMilliseconds(100);

    private readonly StorageEnvironment _environment;
    private readonly TableFunctions _functions;
    private readonly EvolveOptions _options;
    private readonly CancellationToken _cancelled;
    private readonly CancellationTokenSource _stop;
    private readonly PrivateTrees _trees;
    private readonly List<IndexLoad> _loads = [];
    private readonly List<IndexSchema> _indexes = [];
    private readonly HashSet<long> _readAgain = [];
    private readonly List<long> _expired = [];
    private readonly ushort _table;
    private readonly long _limit;
    private RowChanges? _changes;
    private KnownTables? _known;
    private long _rows;

    // As they were when the writer was last held here.
    private int _left;
    private bool _isOvertaken;

    private SortedIndexBuild(StorageEnvironment environment, BoundTable bound, EvolveOptions options, CancellationToken stop)
    {
        _environment = environment;
        _functions = bound.Functions;
        _options = options;
        _table = bound.Schema.Id;
        _limit = bound.NextRowId();
        _cancelled = stop;
        _stop = CancellationTokenSource.CreateLinkedTokenSource(stop, environment.ClosingToken);
        try
        {
            _trees = environment.CreatePrivateTrees(nameof(TableEvolution.EvolveAsync), _stop.Token);
        }
        catch
        {
            _stop.Dispose();
            throw;
        }
    }

    /// <summary>The number of rows that were read.</summary>
    public long Rows => _rows;

    private long MemoryBytes => _options.MemoryBytes ?? _environment.BulkLoadMemoryBytes;

    /// <summary>Begins a build in the transaction that has added the indexes.</summary>
    /// <param name="environment">The environment.</param>
    /// <param name="writing">The transaction.</param>
    /// <param name="functions">The definition, which the table has.</param>
    /// <param name="options">The limits of the build.</param>
    /// <param name="stop">Cancels the build.</param>
    /// <returns>The build; null if there is none to begin, or another call is already building.</returns>
    public static SortedIndexBuild? TryBegin(
        StorageEnvironment environment, WriteTransaction writing, TableFunctions functions, EvolveOptions options, CancellationToken stop)
    {
        var bound = BoundTable.Open(new SystemTreeAccess(writing), functions)!;
        var indexes = bound.Binding.Slots.Where(IsToBeBuilt).Select(index => index!).ToList();
        if (bound.Rows.Count < options.FewestSortedRows || indexes.Count == 0 || bound.Changes != null)
            return null;
        SortedIndexBuild? build = null;
        try
        {
            build = new SortedIndexBuild(environment, bound, options, stop);
            foreach (var index in indexes)
                build.TryAdd(writing, index, build.MemoryBytes / indexes.Count);
            if (build._loads.Count > 0)
            {
                build.Register(writing, bound);
                return build;
            }
        }
        catch (OutOfMemoryException e)
        {
            build?.Dispose();
            throw NoMemory(functions, e);
        }
        catch
        {
            build?.Dispose();
            throw;
        }

        build.Dispose();
        return null;
    }

    /// <summary>Builds the indexes, and returns the names of those that became ready.</summary>
    /// <param name="progress">Receives the progress after each snapshot, and after each part of the work that follows; null for none.</param>
    /// <exception cref="OperationCanceledException">The build was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The environment was closed.</exception>
    /// <exception cref="StorageMemoryException">There is not enough memory.</exception>
    public async ValueTask<IReadOnlyList<string>> RunAsync(IProgress<EvolveProgress>? progress)
    {
        var names = _indexes.Select(index => index.Name).ToList();
        var report = (long passed) => progress?.Report(new EvolveProgress(names, _rows, passed, _limit));
        try
        {
            await Task.Run(() => ReadRows(report), _stop.Token).ConfigureAwait(false);
            await DeleteExpiredAsync().ConfigureAwait(false);
            await ReadChangedAgainAsync().ConfigureAwait(false);
            report(_limit);
            if (_isOvertaken)
                return [];
            await Task.Run(BuildTrees, _stop.Token).ConfigureAwait(false);
            report(_limit);
            for (var attempt = 0; attempt < MostAttempts && !_isOvertaken; attempt++)
            {
                // The first sync takes long, and the second one has little left.
                for (var syncs = 0; syncs < 2; syncs++)
                {
                    await CatchUpAsync().ConfigureAwait(false);
                    await _trees.MakeDurableAsync().ConfigureAwait(false);
                    report(_limit);
                }

                if (await TryFinishAsync().ConfigureAwait(false) is { } ready)
                    return ready;
            }

            return [];
        }
        catch (OperationCanceledException) when (_environment.ClosingToken.IsCancellationRequested)
        {
            throw _environment.ClosedError($" It was closed while indexes of the table '{_functions.Name}' were built.");
        }
        catch (OperationCanceledException e) when (_cancelled.IsCancellationRequested)
        {
            throw new OperationCanceledException(e.Message, e, _cancelled);
        }
        catch (OutOfMemoryException e)
        {
            throw NoMemory(_functions, e);
        }
    }

    /// <summary>Ends the build. Without a commit that has adopted them, the trees are given up.</summary>
    public void Dispose()
    {
        Unregister();
        foreach (var load in _loads)
            load.Dispose();
        _trees.Dispose();
        _stop.Dispose();
    }

    private static StorageMemoryException NoMemory(TableFunctions functions, OutOfMemoryException e) =>
        new($"There was not enough memory to build the indexes of the table '{functions.Name}': {e.Message}", e);

    private static bool IsToBeBuilt(IndexSchema? index) => index is { State: IndexState.Building, Cursor: 0, IsExpiry: false };

    private void TryAdd(WriteTransaction writing, IndexSchema index, long memoryBytes)
    {
        if (writing.TryBeginLoad(_trees, index.TreeName(_table), RowIdBytes.Bytes, memoryBytes, _stop.Token) is not { } load)
            return;
        _loads.Add(load);
        _indexes.Add(index with { Limit = RowIdBytes.Max + 1 });
    }

    private void Register(WriteTransaction writing, BoundTable bound)
    {
        _changes = new RowChanges([.. _indexes.Select(index => index.Id)], MemoryBytes);
        _known = KnownTables.Of(writing);
        _known.Building[_table] = _changes;
        var schema = bound.Schema;
        foreach (var index in _indexes)
            schema = schema.With(index);
        bound.Save(schema);
    }

    private void Unregister()
    {
        _known?.Building.TryRemove(_table, out _);
        _known = null;
    }

    private void ReadRows(Action<long> report)
    {
        for (long? from = 0; from is { } next;)
        {
            from = ReadRows(next);
            report(from ?? _limit);
        }
    }

    // Returns the row at which the next snapshot continues; null at the end.
    private long? ReadRows(long from)
    {
        _stop.Token.ThrowIfCancellationRequested();
        using var reading = _environment.BeginRead();
        var (began, bytes) = (Stopwatch.GetTimestamp(), 0L);
        var bound = Open(new SystemTreeAccess(reading));
        using var cursor = bound.Rows.OpenCursor();
        for (var found = cursor.Seek(RowIdBytes.Write(from, stackalloc byte[RowIdBytes.Bytes])); found; found = cursor.MoveNext())
        {
            if (!RowIdBytes.TryRead(cursor.Key, out var rowId))
                throw RowLookup.NoRowId(_functions.Name, cursor.Key);
            if (rowId >= _limit)
                break;
            if (bytes > 0 && (bytes >= _options.MaxBytes || Stopwatch.GetElapsedTime(began) > SnapshotHold))
                return rowId;
            _rows++;
            var row = bound.Copy(cursor.Value);
            bytes += row.Length;
            if (bound.IsExpired(row))
            {
                _expired.Add(rowId);
                continue;
            }

            bound.ReadKeys(rowId, row);
            for (var slot = 0; slot < bound.Binding.Slots.Length; slot++)
                AddKeys(bound, slot, rowId);
        }

        return null;
    }

    private void AddKeys(BoundTable bound, int slot, long rowId)
    {
        var (index, keys) = (bound.IndexOf(slot), bound.OldKeys[slot]);
        if (_changes!.Find(index.Schema) is not (>= 0 and var place))
            return;
        for (var i = 0; i < keys.Count; i++)
        {
            if (index.Contains(keys, i))
                _loads[place].Add(keys[i], index.Schema!.FirstId + rowId);
        }
    }

    // No query returns an expired row, so it must neither be refused by a function nor have a key that another row has.
    private async ValueTask DeleteExpiredAsync()
    {
        for (var at = 0; at < _expired.Count;)
        {
            using var writing = await _environment.BeginWriteAsync(_stop.Token).ConfigureAwait(false);
            var began = Stopwatch.GetTimestamp();
            var bound = Open(new SystemTreeAccess(writing));
            do
            {
                if (RowLookup.TryGet(bound, _expired[at], out var row) && bound.IsExpired(row))
                    RowEditor.Delete(bound, _expired[at], bound.Copy(row));
                at++;
            }
            while (at < _expired.Count && Stopwatch.GetElapsedTime(began) < _options.MaxHold);
            await writing.CommitAsync(CancellationToken.None).ConfigureAwait(false);
        }

        _expired.Clear();
    }

    private async ValueTask ReadChangedAgainAsync()
    {
        for (var taken = await TakeChangedAsync(keepsKeys: true).ConfigureAwait(false); taken.Count > 0;)
        {
            foreach (var row in taken)
            {
                _readAgain.Add(row.Id);
                foreach (var (place, key) in row.Keys)
                    _loads[place].Add(key, _indexes[place].FirstId + row.Id, isLater: true);
            }

            taken = await TakeChangedAsync(keepsKeys: true).ConfigureAwait(false);
        }
    }

    private void BuildTrees()
    {
        Func<long, bool>? isLeftOut = _readAgain.Count == 0 || PlantedFault.KeepKeysOfChangedRows
            ? null
            : id => _readAgain.Contains(id & RowIdBytes.Max);
        foreach (var load in _loads)
            load.Build(isLeftOut);
    }

    // Until few changes are left, or they have not become fewer for some rounds.
    private async ValueTask CatchUpAsync()
    {
        var fewest = int.MaxValue;
        for (var round = 0; round < MostRounds; round++)
        {
            var taken = await TakeChangedAsync(keepsKeys: false).ConfigureAwait(false);
            foreach (var row in taken)
            {
                foreach (var (place, key) in row.OldKeys)
                    _loads[place].Remove(key, _indexes[place].FirstId + row.Id);
            }

            foreach (var row in taken)
            {
                foreach (var (place, key) in row.Keys)
                    _loads[place].Put(key, _indexes[place].FirstId + row.Id);
            }

            if (_left <= FewChanges)
                return;
            if (_left < fewest)
                (fewest, round) = (_left, 0);
        }
    }

    // Holds the writer for the time that the options allow: the rows are read as they are then, and a later change is noted again.
    private async ValueTask<List<ChangedRow>> TakeChangedAsync(bool keepsKeys)
    {
        using var writing = await _environment.BeginWriteAsync(_stop.Token).ConfigureAwait(false);
        var (began, taken) = (Stopwatch.GetTimestamp(), new List<ChangedRow>());
        if (keepsKeys)
            _changes!.KeepKeys();
        var bound = Open(new SystemTreeAccess(writing));
        List<(int, byte[])> old = [];
        while (taken.Count == 0 || Stopwatch.GetElapsedTime(began) < _options.MaxHold)
        {
            if (!(keepsKeys ? _changes!.TryTakeUnread(out var rowId) : _changes!.TryTakeChanged(out rowId, out old)))
                break;
            var isThere = RowLookup.TryGet(bound, rowId, out var row);
            if (isThere && bound.IsExpired(row))
            {
                _expired.Add(rowId);
                isThere = false;
            }
            else if (isThere)
            {
                bound.ReadKeys(rowId, bound.Copy(row));
                bound.RequireUnchanged();
            }

            taken.Add(new ChangedRow(rowId, old, isThere ? bound.CopyOldKeys(_changes) : []));
        }

        _left = _changes!.Changed;
        _isOvertaken = IsOvertaken(bound);
        return taken;
    }

    private bool IsOvertaken(BoundTable bound) =>
        _changes!.IsOverfull || bound.Schema.Id != _table || !_indexes.TrueForAll(index => bound.Schema.Indexes.Contains(index));

    // Returns null if there are too many changes for the commit.
    private async ValueTask<IReadOnlyList<string>?> TryFinishAsync()
    {
        using var writing = await _environment.BeginWriteAsync(_stop.Token).ConfigureAwait(false);
        var bound = Open(new SystemTreeAccess(writing));
        if (IsOvertaken(bound))
            return [];
        if (_changes!.Changed > MostChanges)
            return null;
        if (!writing.TryAdopt(_trees, _loads))
            return [];
        var changed = _loads.SelectMany(load => load.Displaced).Concat(_expired).ToHashSet();
        while (_changes.TryTakeChanged(out var rowId, out var keys) && !PlantedFault.ForgetLastChanges)
        {
            foreach (var (place, key) in keys)
                IndexEditor.Remove(Opened(bound, place), key, rowId, isExpired: false);
            changed.Add(rowId);
        }

        // From here on, the indexes cover all rows.
        Unregister();
        var schema = bound.Schema;
        foreach (var index in _indexes)
            schema = schema.With(index with { Cursor = index.Limit });
        bound.Save(schema);
        foreach (var rowId in changed)
            IndexBuilder.AddRow(bound, _indexes, rowId);
        var ready = IndexBuilder.Move(bound, _indexes, RowIdBytes.Max + 1, moved: 0);
        await writing.CommitAsync(CancellationToken.None).ConfigureAwait(false);
        return ready;
    }

    private OpenIndex Opened(BoundTable bound, int place)
    {
        var slot = Array.FindIndex(bound.Binding.Slots, index => index?.Id == _indexes[place].Id);
        return bound.IndexOf(slot);
    }

    private BoundTable Open(SystemTreeAccess trees)
    {
        var bound = IndexBuilder.Open(trees, _functions);
        for (var slot = 0; slot < bound.Binding.Slots.Length; slot++)
            bound.OldKeys.Want(slot, _changes!.Find(bound.Binding.Slots[slot]) >= 0);
        return bound;
    }

    /// <summary>A row that a writer has changed.</summary>
    /// <param name="Id">Its id.</param>
    /// <param name="OldKeys">The keys that the trees have of it.</param>
    /// <param name="Keys">The keys that it has now.</param>
    private sealed record ChangedRow(long Id, List<(int Place, byte[] Key)> OldKeys, List<(int Place, byte[] Key)> Keys);
}
