using Voron.Tables;
using Voron.Torture.Model;

namespace Voron.Torture.Tables;

/// <summary>Compares what a table answers with the model.</summary>
/// <param name="setting">The table.</param>
/// <param name="table">The table, open in a transaction.</param>
internal sealed partial class TableReader<TKey>(TableSetting<TKey> setting, Table<TKey, TableRow> table)
{
    private readonly Random _random = setting.Random;

    /// <summary>Requires that a version is higher than every one that the key had before, and keeps it.</summary>
    public static void TakeVersion(ModelRow row, RowVersion version)
    {
        if (row.Version == 0 && version.Value <= row.OldVersion)
            throw new ModelMismatchException($"a row has version {version}, and its key had version {row.OldVersion} before");
        if (row.Version != 0 && row.Version != version.Value)
            throw new ModelMismatchException($"a row has version {version}, and had version {row.Version} without a change since");
        row.Version = version.Value;
    }

    /// <summary>Learns the id and the version of a row from the table.</summary>
    public void Learn(TableContent content, ModelRow row)
    {
        if (!table.TryGetReader(setting.Kind.KeyOf(row.Row), out var reader))
            throw new ModelMismatchException($"the row {row.Row} is not found");
        TakeId(row, reader.RowId);
        TakeVersion(row, reader.RowVersion);
        content.Note(row);
    }

    public long IdOf(TableContent content, ModelRow row)
    {
        Learn(content, row);
        return row.Id;
    }

    /// <summary>Learns the ids and versions of all rows that are not known.</summary>
    public void LearnAll(TableContent content)
    {
        foreach (var row in content.Rows)
        {
            if (row.Id < 0 || row.Version == 0)
                Learn(content, row);
        }
    }

    /// <summary>Makes one random query.</summary>
    public void Look(TableContent content)
    {
        switch (_random.Next(12))
        {
            case < 4:
                LookUp(content);
                break;
            case 4:
                LookUpUnique(content);
                break;
            case 5:
                Combine(content);
                break;
            case 6:
                setting.Add("scan");
                LearnAll(content);
                CheckQuery(content, table.Scan, RowIdOrder(content), hasKeyOfRow: false);
                break;
            case 7:
                QueryKeys(content);
                break;
            default:
                Query(content, setting.Indexes[_random.Next(setting.Indexes.Count)]);
                break;
        }
    }

    /// <summary>Compares all rows, and all indexes that are ready, from the first entry to the last.</summary>
    public void LookAtAll(TableContent content)
    {
        setting.Add("all rows and indexes");
        LearnAll(content);
        content.CheckCount(table.Count);
        using (var scan = table.Scan())
            Compare(scan, RowIdOrder(content), 0, int.MaxValue);
        using (var byKey = setting.Kind.HasRowIds ? table.Scan() : table.ByKey())
            Compare(byKey, content.ByKey(), 0, int.MaxValue);
        foreach (var index in setting.Indexes)
        {
            if (!IsReady(index))
                continue;
            using var query = table.From(index.Name);
            Compare(query, content.Entries(index), 0, int.MaxValue);
        }
    }

    /// <summary>Returns whether an index answers. If not, a query must be refused.</summary>
    public bool IsReady(TableIndex index)
    {
        var state = table.GetIndexState(index.Name);
        try
        {
            using var query = table.From(index.Name);
            return state == IndexState.Ready ? true : throw new ModelMismatchException($"the index '{index}' answers in the state {state}");
        }
        catch (IndexNotReadyException e)
        {
            return state != IndexState.Ready && e.State == state && e.IndexName == index.Name
                ? false
                : throw new ModelMismatchException($"the index '{index}' is {state}: {e.Message}");
        }
    }

    private static List<ModelEntry> RowIdOrder(TableContent content)
    {
        var rows = content.Rows.Select(row => new ModelEntry("", row)).ToList();
        rows.Sort();
        return rows;
    }

    private void TakeId(ModelRow row, long id)
    {
        var isRight = row.Id >= 0 ? row.Id == id : setting.Kind.HasRowIds ? id == row.Row.Number : id >= row.LeastId;
        if (!isRight)
        {
            throw new ModelMismatchException(row.Id >= 0
                ? $"row {row.Id} has become row {id}"
                : $"a new row has id {id}, which a row had before: the next is {row.LeastId} or more");
        }

        row.Id = id;
    }

    private void LookUp(TableContent content)
    {
        var drawn = setting.Rows.Draw(setting.Rows.DrawKey());
        var key = setting.Kind.KeyOf(drawn);
        setting.Add($"look up {drawn.Name}");
        var row = content.Find(setting.Kind.Encode(drawn)!);
        var isThere = row != null;
        var isFound = table.TryGet(key, out var found, out var version);
        var hasVersion = table.TryGetVersion(key, out var again);
        if (isFound != isThere || hasVersion != isThere || table.Contains(key) != isThere)
            throw new ModelMismatchException($"the row {drawn.Name} is {(isThere ? "not found" : "found, and deleted")}");
        if (row == null)
        {
            if (version != RowVersion.None || again != RowVersion.None)
                throw new ModelMismatchException("a row that is not there has a version");
            return;
        }

        Learn(content, row);
        if (version.Value != row.Version || again != version)
            throw new ModelMismatchException($"a row has version {version} or {again} instead of {row.Version}");
        CheckRow(found!, row);
        if (!table.TryGetByRowId(row.Id, out found))
            throw new ModelMismatchException($"row {row.Id} is not found by its id");
        CheckRow(found, row);
    }

    private void LookUpUnique(TableContent content)
    {
        var unique = setting.Indexes.Where(index => index.IsUnique).ToList();
        if (unique.Count == 0)
            return;
        var index = unique[_random.Next(unique.Count)];
        var keys = content.Count > 0 && _random.Next(4) > 0
            ? content.Rows.ElementAt(_random.Next(content.Count)).KeysIn(index)
            : index.KeysOf(setting.Rows.Draw(setting.Rows.DrawKey()));
        if (keys.Length == 0 || !IsReady(index))
            return;
        var key = keys[_random.Next(keys.Length)];
        setting.Add($"look up by '{index}'");
        var row = content.Rows.FirstOrDefault(row => row.KeysIn(index).Contains(new ModelKey(key.Bytes)));
        if (table.TryGetByRaw(index.Name, key.ToBytes(), out var found) != (row != null))
            throw new ModelMismatchException($"a key of the unique index '{index}' is {(row == null ? "found" : "not found")}");
        if (row != null)
            CheckRow(found!, row);
    }

    // Sets of row ids, cut with each other, joined and taken from each other.
    private void Combine(TableContent content)
    {
        var plain = setting.Indexes.Where(index => !index.IsUnique && IsReady(index)).ToList();
        if (plain.Count == 0 || content.Count == 0)
            return;
        LearnAll(content);
        var (first, firstRows) = DrawSet(content, plain);
        var (second, secondRows) = DrawSet(content, plain);
        var kind = _random.Next(3);
        setting.Add($"combination {kind} of ids");
        var combined = kind switch
        {
            0 => IdQuery.And(first, second),
            1 => IdQuery.Or(first, second),
            _ => IdQuery.AndNot(first, second),
        };
        var rows = kind switch
        {
            0 => firstRows.Intersect(secondRows),
            1 => firstRows.Union(secondRows),
            _ => firstRows.Except(secondRows),
        };
        var expected = rows.OrderBy(row => row.Id).Select(row => new ModelEntry("", row)).ToList();
        using var query = table.Rows(combined);
        Compare(query, expected, 0, int.MaxValue);
    }

    private (IdQuery Query, List<ModelRow> Rows) DrawSet(TableContent content, List<TableIndex> indexes)
    {
        var index = indexes[_random.Next(indexes.Count)];
        var keys = content.Rows.ElementAt(_random.Next(content.Count)).KeysIn(index);
        var key = keys.Length == 0 ? new ModelKey("none") : keys[_random.Next(keys.Length)];
        return (table.IdsRaw(index.Name, key.ToBytes()), [.. content.Rows.Where(row => row.KeysIn(index).Any(other => other.Bytes == key.Bytes))]);
    }

    private static void CheckRow(TableRow found, ModelRow row)
    {
        if (!found.HasSameFields(row.Row))
            throw new ModelMismatchException($"a row is {found} instead of {row.Row}");
    }
}
