using Voron.Simulation.Harness;
using Voron.Tables;
using Voron.Torture.Model;

namespace Voron.Torture.Tables;

/// <summary>Compares what a shared index finds in all tables with the models of these tables.</summary>
internal sealed class SharedReader<TKey>
{
    private readonly Func<SharedIndex, KeyRange, SharedIndexQuery> _query;
    private readonly Func<TableSetting<TKey>, Table<TKey, TableRow>?> _open;
    private readonly List<Table<TKey, TableRow>> _tables = [];
    private readonly List<Entry> _entries = [];
    private long _mostExpired;

    private SharedReader(Func<SharedIndex, KeyRange, SharedIndexQuery> query, Func<TableSetting<TKey>, Table<TKey, TableRow>?> open)
    {
        _query = query;
        _open = open;
    }

    public static SharedReader<TKey> Of(ReadTransaction reading) =>
        new(
            (index, range) => reading.QuerySharedIndexRaw(index, range),
            setting => reading.TryOpenTable(setting.Definition, out var table) ? table : null);

    public static SharedReader<TKey> Of(WriteTransaction writing) =>
        new(
            (index, range) => writing.QuerySharedIndexRaw(index, range),
            setting => writing.TryOpenTable(setting.Definition, out var table) ? table.AsReadOnly() : null);

    /// <summary>Adds a table that has the index, if the table exists.</summary>
    public void Add(TableSetting<TKey> setting, TableIndex index, TableContent content)
    {
        if (_open(setting) is not { } table)
            return;
        new TableReader<TKey>(setting, table).LearnAll(content);
        _tables.Add(table);
        _mostExpired += content.MostExpiredEntries;
        foreach (var (key, row) in content.Entries(index))
            _entries.Add(new Entry(key, setting.Name, row.Id, row.Row));
    }

    /// <summary>Reads a range of the index, forwards, backwards, and page by page.</summary>
    public void Check(Tape random, TableIndex index)
    {
        var shared = TableIndex.SharedOf(index.Version);
        if (_tables.Count == 0)
        {
            CheckAbsent(shared);
            return;
        }

        var range = ModelRange.Draw(random, [.. _entries.Select(entry => new ModelEntry(entry.Key, new ModelRow(entry.Row, "")))]);
        var expected = _entries.Where(entry => range.Contains(entry.Key)).ToList();
        var found = Read(() => _query(shared, range.ToKeyRange()), int.MaxValue);
        Compare(found, expected);
        using (var count = _query(shared, range.ToKeyRange()))
        {
            if (count.Count() < expected.Count || count.Count() > expected.Count + _mostExpired)
                throw new ModelMismatchException($"the {shared} counts {count.Count()} entries instead of {expected.Count}");
        }

        var isBackward = random.Next(2) == 1;
        if (isBackward)
            found.Reverse();
        var paged = Read(() => Direct(_query(shared, range.ToKeyRange())), random.Next(1, 12));
        if (!paged.Select(Place).SequenceEqual(found.Select(Place)))
            throw new ModelMismatchException($"the pages of the {shared} have {paged.Count} entries, others than the {found.Count} of the whole");

        SharedIndexQuery Direct(SharedIndexQuery query) => isBackward ? query.Backward() : query;

        static (string, string, long) Place(Entry entry) => (entry.Key, entry.Table, entry.RowId);
    }

    private void CheckAbsent(SharedIndex shared)
    {
        try
        {
            _query(shared, KeyRange.All).Dispose();
        }
        catch (KeyNotFoundException)
        {
            return;
        }

        throw new ModelMismatchException($"the {shared} answers, and no table has it");
    }

    private List<Entry> Read(Func<SharedIndexQuery> begin, int page)
    {
        var found = new List<Entry>();
        var token = default(PageToken);
        while (true)
        {
            var before = found.Count;
            using var query = begin().After(token).Take(page);
            foreach (var (table, rowId) in query)
                found.Add(new Entry(ModelKey.Of(query.Key), table, rowId, RowOf(query, table)));
            if (found.Count - before < page)
                return found;
            token = PageToken.Parse(query.Token.ToString());
        }
    }

    private TableRow RowOf(SharedIndexQuery query, string name)
    {
        TableRow? found = null;
        foreach (var table in _tables)
        {
            if (query.TryGetRow(table, out var row) != (table.Name == name))
                throw new ModelMismatchException($"a row of table '{name}' is taken for one of '{table.Name}'");
            found = row ?? found;
        }

        return found ?? throw new ModelMismatchException($"a row is one of table '{name}', which is not there");
    }

    // Of one key, the rows of a table lie together, in the order of their ids.
    private static void Compare(List<Entry> found, List<Entry> expected)
    {
        var left = expected.ToDictionary(entry => (entry.Key, entry.Table, entry.RowId), entry => entry.Row);
        for (var i = 0; i < found.Count; i++)
        {
            var (key, table, rowId, row) = found[i];
            if (!left.Remove((key, table, rowId), out var known) || !known.HasSameFields(row))
                throw new ModelMismatchException($"a shared index has row {rowId} of table '{table}', {row}, under a key that it does not have, or twice");
            if (i == 0)
                continue;
            var before = found[i - 1];
            var order = string.CompareOrdinal(before.Key, key);
            if (order > 0 || (order == 0 && before.Table == table && before.RowId >= rowId))
                throw new ModelMismatchException($"a shared index has row {rowId} of table '{table}' behind row {before.RowId} of table '{before.Table}'");
            if (order == 0 && before.Table != table && found.Take(i - 1).Any(entry => entry.Key == key && entry.Table == table))
                throw new ModelMismatchException($"under one key, a shared index mixes the rows of table '{table}' with those of '{before.Table}'");
        }

        if (left.Count > 0)
        {
            var (_, table, rowId) = left.Keys.First();
            throw new ModelMismatchException($"a shared index has {found.Count} of {expected.Count} entries; row {rowId} of table '{table}' is missing");
        }
    }

    private readonly record struct Entry(string Key, string Table, long RowId, TableRow Row);
}
