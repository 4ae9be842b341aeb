using Voron.Tables;
using Voron.Torture.Model;

namespace Voron.Torture.Tables;

/// <content>The definition changes.</content>
internal sealed partial class EvolvingStore<TKey>
{
    private const int MaxWritesBetween = 30;

    // Since the indexes that are being built were begun, as far as they are known: two rows with one key make one of them fail.
    private int _seenFrom;
    private int _writesLeft;
    private bool _isReplaced;

    /// <summary>False if the environment may have another definition than the model thinks, after a crash.</summary>
    public bool IsKnown { get; set; } = true;

    /// <summary>Brings the table to a definition, in steps between which others change its rows, or stop it.</summary>
    /// <param name="next">The definition.</param>
    /// <param name="isStopped">True if the call may be cancelled, fail by a function, or be overtaken by another one.</param>
    /// <returns>True if all indexes are ready; false if one of them has failed, or the call was stopped.</returns>
    public bool Evolve(TableSetting<TKey> next, bool isStopped)
    {
        var old = Setting;
        var wasReached = IsKnown && old?.Version < next.Version && StatesOf(old).Values.All(state => state is IndexState.Ready or IndexState.Failed);
        var before = StatesOf(next);
        if (!before.ContainsValue(IndexState.Building))
            _seenFrom = Seen.Count;
        Settle();
        Seen.Add(Content.Copy());
        Setting = next;
        using var stop = new CancellationTokenSource();
        var ending = isStopped ? _random.Next(6) : 0;
        var steps = _random.Next(1, 30);
        _isReplaced = false;
        _writesLeft = _random.Next(3) == 0 ? 0 : MaxWritesBetween;
        var options = new EvolveOptions
        {
            MaxBytes = DrawBytes(),
            MaxHold = TimeSpan.FromMinutes(1),
            FewestSortedRows = _random.Next(2) == 0 ? 1 : long.MaxValue,
        };
        var progress = new Counter(made =>
        {
            BetweenSteps(made, old);
            if (--steps == 0 && ending > 2)
                End(ending, stop);
        });
        _run.Report($"evolve to {next.Definition}, steps of {options.MaxBytes} bytes{(options.FewestSortedRows == 1 ? ", sorted" : "")}");
        _run.Tally("evolutions");
        try
        {
            var report = Environment.EvolveAsync(next.Definition, progress, options, stop.Token).AsTask().GetAwaiter().GetResult();
            _run.Report($"{report}");
            CheckReport(report, before, old);
        }
        catch (DuplicateKeyException e)
        {
            _run.Report($"failed: {e.Message}");
            _run.Tally("failed indexes");
            CheckFailed(e, before);
            return FallBack(wasReached ? old : null);
        }
        catch (OperationCanceledException) when (stop.IsCancellationRequested)
        {
            _run.Tally("cancelled");
            return Finish(isReady: false);
        }
        catch (IndexKeyException e) when (next.Traps.Armed == e.IndexName)
        {
            _run.Tally("failed functions");
            return FallBack(wasReached ? old : null);
        }
        catch (SchemaMismatchException) when (_isReplaced)
        {
            _run.Tally("overtaken");
            return Finish(isReady: false);
        }

        return Finish(isReady: true);
    }

    /// <summary>An older instance of the program, which lacks an index, must not drop it as long as the version is the same.</summary>
    public void EvolveWithout()
    {
        var index = Setting.Indexes[_random.Next(Setting.Indexes.Count)];
        if (StatesOf(Setting)[index.Name] is not (IndexState.Ready or IndexState.Building))
            return;
        _run.Report($"evolve without {index}");
        var older = Define([.. Setting.Indexes.Where(other => other != index)], Setting.Version);
        try
        {
            _ = Environment.EvolveAsync(older.Definition).AsTask().GetAwaiter().GetResult();
        }
        catch (SchemaMismatchException)
        {
            Check(isEvolved: true);
            return;
        }

        throw new ModelMismatchException($"a definition of the same version has dropped the index {index}");
    }

    /// <summary>
    /// A program whose index function has changed under its version must not write: the index would no longer have the keys of its rows.
    /// </summary>
    public void WriteWithChangedFunction()
    {
        // Each row has a key there, and another one in the other version.
        var changed = Setting.Indexes.FirstOrDefault(index => index.Name == TableIndex.Plain);
        if (changed == null || StatesOf(Setting)[changed.Name] != IndexState.Ready || Content.Count == 0 || !CanWrite())
            return;
        _run.Report($"write with other keys in {changed}");
        var other = Define([.. Setting.Indexes.Select(index => index == changed ? index.WithOtherKeys() : index)], Setting.Version);
        using var writing = Environment.BeginWrite();
        try
        {
            _ = writing.OpenTable(other.Definition);
        }
        catch (IndexMismatchException e) when (e.IndexName == changed.Name)
        {
            _run.Tally("changed functions");
            return;
        }

        throw new ModelMismatchException($"a program writes whose keys in {changed} are others than those of the index");
    }

    private bool Finish(bool isReady)
    {
        // A trap that was set after the last step has met no row.
        Setting.Traps.Armed = null;
        NoteDurable();
        Check(isEvolved: true);
        if (isReady)
            CheckLeftIds();
        return isReady;
    }

    // The definition before can write again. The program continues with those of the new indexes that can be built.
    private bool FallBack(TableSetting<TKey>? reached)
    {
        Setting.Traps.Armed = null;
        NoteDurable();
        Settle();
        if (reached != null)
            WriteAs(reached);
        if (CanWrite())
            return Finish(isReady: false);
        var failed = StatesOf(Setting).Where(index => index.Value != IndexState.Ready).Select(index => index.Key).ToHashSet();
        List<TableIndex> left = [.. Setting.Indexes.Where(index => !failed.Contains(index.Name))];
        if (left.Count == 0)
            left.Add(TableIndex.Of(TableIndex.Plain, 1));
        IsKnown = false;
        _ = Evolve(Define(left, Setting.Version + 1), isStopped: false);
        IsKnown = true;
        return false;
    }

    private bool CanWrite()
    {
        using var reading = Environment.BeginRead();
        return reading.OpenTable(Setting.Definition).Bound.Binding.Refusal == null;
    }

    // Nothing of it is kept.
    private void WriteAs(TableSetting<TKey> old)
    {
        using var writing = Environment.BeginWrite();
        try
        {
            writing.OpenTable(old.Definition).Insert(_rows.Draw(_rows.DrawKey()));
        }
        catch (DuplicateKeyException)
        {
            // The row exists already.
        }
        catch (SchemaMismatchException e)
        {
            throw new ModelMismatchException($"an evolution has failed, and the definition before it does not write: {e.Message}");
        }
    }

    private Dictionary<string, IndexState> StatesOf(TableSetting<TKey> setting)
    {
        using var reading = Environment.BeginRead();
        var isThere = reading.TryOpenTable(setting.Definition, out var table);
        return setting.Indexes.ToDictionary(index => index.Name, index => isThere ? table.GetIndexState(index.Name) : IndexState.Absent);
    }

    private long DrawBytes() => _random.Next(4) switch
    {
        0 => 1,
        1 => _random.Next(1, 400),
        2 => _random.Next(1, 4_000),
        _ => 1 << 20,
    };

    private void BetweenSteps(EvolveProgress made, TableSetting<TKey>? old)
    {
        _random.Mark();
        NoteDurable();
        Settle();

        // A step computes the keys of the indexes that it builds, and may not have met the trap.
        Setting.Traps.Armed = null;
        _run.Report($"  step: {made.RowIdsPassed} of {made.RowIdsTotal}, {string.Join(", ", made.Indexes)}");
        if (made.RowIdsPassed > made.RowIdsTotal)
            throw new ModelMismatchException($"a step has passed {made.RowIdsPassed} of {made.RowIdsTotal} row ids");
        if (_isReplaced)
            return;
        if (_random.Next(8) == 7)
            Check(isEvolved: true);
        if (_random.Next(16) == 15)
            Environment.Flush();
        if (old != null && old.Version < Setting.Version && _random.Next(8) == 7)
            CheckOld(old);
        if (Clock != null && _random.Next(4) == 3)
            PassTime();
        for (; _writesLeft > 0 && _random.Next(3) > 0; _writesLeft--)
            Write(_random.Next(1, 8));
    }

    // A program with the old definition does not write any more. It reads until a row has a newer version than its own.
    private void CheckOld(TableSetting<TKey> old)
    {
        Settle();
        using var writing = Environment.BeginWrite();
        var table = writing.OpenTable(old.Definition);
        try
        {
            table.Insert(_rows.Draw(_rows.DrawKey()));
        }
        catch (SchemaMismatchException)
        {
            if (Content.Rows.All(row => row.Definition <= old.Version))
                new TableReader<TKey>(old, table).LookAtAll(Content);
            return;
        }

        throw new ModelMismatchException("a definition of an older version has written");
    }

    // Cancelled, ended by the function of an index, or overtaken by a call with a newer definition.
    private void End(int ending, CancellationTokenSource stop)
    {
        switch (ending)
        {
            case 3:
                Setting.Traps.Armed = Setting.Indexes[_random.Next(Setting.Indexes.Count)].Name;
                break;
            case 4:
                var next = Define(DrawNext().Indexes, Setting.Version + 1);
                _ = Evolve(next, isStopped: false);
                _isReplaced = true;
                break;
            default:
                stop.Cancel();
                break;
        }
    }

    private void CheckReport(EvolveReport report, Dictionary<string, IndexState> before, TableSetting<TKey>? old)
    {
        if (_isReplaced)
            throw new ModelMismatchException("a call was overtaken by one with a newer definition, and succeeds");
        var built = before.Where(index => index.Value != IndexState.Ready).Select(index => index.Key);
        if (!report.Built.ToHashSet().SetEquals(built))
            throw new ModelMismatchException($"the indexes {string.Join(", ", report.Built)} have been built instead of {string.Join(", ", built)}");
        var dropped = old == null ? [] : old.Indexes.Except(Setting.Indexes).Select(index => index.Name);
        if (IsKnown && !report.Dropped.ToHashSet().SetEquals(dropped))
            throw new ModelMismatchException($"the indexes {string.Join(", ", report.Dropped)} were dropped instead of {string.Join(", ", dropped)}");
        Settle();
        foreach (var row in Content.Rows)
        {
            if (Content.FindDuplicate(Setting.Indexes, row) is var (index, key, _))
                throw new ModelMismatchException($"the unique index '{index}' is ready, and two rows have the key {key}");
        }
    }

    private void CheckFailed(DuplicateKeyException failed, Dictionary<string, IndexState> before)
    {
        var index = Setting.Indexes.First(index => index.Name == failed.IndexName);
        var key = new ModelKey(ModelKey.Of(failed.Key.Span));
        // Rows expire only once all have their times.
        var canExpire = before.GetValueOrDefault(RowExpiry.IndexName) == IndexState.Ready;
        if (!Seen.Skip(_seenFrom).Any(content => Holders(content, index, key, canExpire).Count > 1))
            throw new ModelMismatchException($"the index '{index}' has failed, and no two rows had the key at any time: {failed.Message}");
        if (StatesOf(Setting)[index.Name] is var state && state != IndexState.Failed && state != before[index.Name])
            throw new ModelMismatchException($"the index '{index}' has failed, and has another state");
    }

    private static List<ModelRow> Holders(TableContent content, TableIndex index, ModelKey key, bool canExpire) =>
        [.. content.Rows.Concat(canExpire ? [] : content.Expired).Where(row => row.KeysIn(index).Contains(key))];

    private sealed class Counter(Action<EvolveProgress> count) : IProgress<EvolveProgress>
    {
        public void Report(EvolveProgress value) => count(value);
    }
}
