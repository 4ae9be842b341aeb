using Voron.Tables;
using Voron.Torture.Model;

namespace Voron.Torture.Tables;

/// <content>Rows are loaded in bulk.</content>
internal sealed partial class EvolvingStore<TKey>
{
    /// <summary>Loads rows into the table, which is often deleted before, while others write; the model predicts what becomes of them.</summary>
    public void Load()
    {
        Settle();
        if (!CanWrite())
            return;
        if (_random.Next(3) > 0)
            DeleteTable();
        var options = new BulkLoadOptions { Duplicates = (DuplicateKeys)Math.Max(0, _random.Next(6) - 3), MemoryBytes = 1 << 20 };
        _run.Report($"load, {options.Duplicates}");
        var load = Environment.BeginBulkLoadAsync(Setting.Definition, options).AsTask().GetAwaiter().GetResult();
        using (load)
        {
            NoteDurable();
            var rows = PutRows(load, out var isChanged);
            var after = After(rows, options.Duplicates);
            Complete(load, after, isChanged);
        }

        NoteDurable();
        Check(isEvolved: true);
    }

    private void DeleteTable()
    {
        using var writing = Environment.BeginWrite();
        _run.Report($"delete the table in {writing.TransactionId}");
        writing.DeleteTable(Setting.Name);
        var id = writing.TransactionId;
        writing.Commit();
        Content = new TableContent();
        OnCommit?.Invoke(id);
        NoteDurable();
    }

    private List<TableRow> PutRows(TableBulkLoad<TableRow> load, out bool isChanged)
    {
        var rows = new List<TableRow>();
        isChanged = false;
        var writes = _random.Next(6) == 5;
        for (var i = _random.Next(_random.Next(3) == 0 ? 80 : 16); _random.GoesOn(i > 0); i--)
        {
            var row = _rows.Draw(_rows.DrawKey());
            load.Put(row);
            rows.Add(row);
            if (!writes || _random.Next(20) > 0)
                continue;
            using (var reading = Environment.BeginRead())
                isChanged |= reading.TryOpenTable(Setting.Definition, out _);
            Write(_random.Next(1, 8));
        }

        return rows;
    }

    private void Complete(TableBulkLoad<TableRow> load, TableContent? after, bool isChanged)
    {
        try
        {
            var report = load.CompleteAsync().AsTask().GetAwaiter().GetResult();
            _run.Report($"{report.EntriesStored} of {report.EntriesTaken} rows loaded{(report.IsAtomic ? " at once" : "")}");
            _run.Tally(report.IsAtomic ? "loads at once" : "loads in slices");
            Content = after ?? throw new ModelMismatchException("a load with duplicates was not refused");
            Seen.Add(Content.Copy());
            OnCommit?.Invoke(NewestId);
        }
        catch (Exception e) when (e is DuplicateKeyException or InvalidOperationException)
        {
            _run.Report($"refused: {e.Message}");
            _run.Tally("loads refused");
            var mayBeRefused = after == null || (isChanged && e.Message.Contains("changed", StringComparison.Ordinal));
            if (!mayBeRefused)
                throw new ModelMismatchException($"a load was refused: {e.Message}");
        }
    }

    // What a load makes of the table; null if it refuses a row.
    private TableContent? After(List<TableRow> rows, DuplicateKeys duplicates)
    {
        var kept = new SortedDictionary<string, TableRow>(StringComparer.Ordinal);
        foreach (var row in rows)
        {
            var primary = _kind.Encode(row)!;
            if (duplicates == DuplicateKeys.LastWins)
                kept[primary] = row;
            else if (!kept.TryAdd(primary, row) && duplicates == DuplicateKeys.Refuse)
                return null;
        }

        var after = Content.Copy();
        var states = StatesOf(Setting);
        List<TableIndex> ready = [.. Setting.Indexes.Where(index => states[index.Name] == IndexState.Ready)];
        foreach (var (primary, row) in kept)
        {
            if (after.Find(primary) is { } old)
            {
                if (duplicates == DuplicateKeys.Refuse)
                    return null;
                if (duplicates == DuplicateKeys.FirstWins || old.IsSame(row, Setting.Version))
                    continue;
            }

            if (after.FindDuplicate(ready, new ModelRow(row, primary)) != null)
                return null;
            after.Put(row, primary, Setting.Version);
        }

        return after;
    }
}
