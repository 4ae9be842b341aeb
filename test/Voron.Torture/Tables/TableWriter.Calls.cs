using Voron.Tables;
using Voron.Torture.Model;

namespace Voron.Torture.Tables;

/// <content>The calls.</content>
internal sealed partial class TableWriter<TKey>
{
    private void Insert()
    {
        var row = DrawRow(isThere: _random.Next(8) == 7);
        setting.Add($"insert {row}");
        RowVersion version = default;
        if (Try(RefusalOfInsert(row, Content), () => version = table.Insert(row)))
            NoteVersion(Content.Put(row, setting.Kind.Encode(row)!, setting.Version), version);
    }

    private void Upsert()
    {
        var row = DrawRow(isThere: _random.Next(3) > 0);
        setting.Add($"upsert {row}");
        Put(row, null, () => table.Upsert(row));
    }

    private void UpsertExpected()
    {
        var row = DrawRow(isThere: _random.Next(3) > 0);
        var old = setting.Kind.Encode(row) is { } primary ? Content.Find(primary) : null;
        var actual = old == null ? RowVersion.None : VersionOf(old);
        var expected = DrawExpected(actual);
        setting.Add($"upsert {row}, expected {expected} of {actual}");
        Put(row, expected == actual ? null : Refusal.Stale(expected, actual), () => table.Upsert(row, expected));
    }

    private void Put(TableRow row, Refusal? stale, Func<RowVersion> call)
    {
        var refusal = RefusalOfFunctions(row) ?? stale;
        var primary = setting.Kind.Encode(row);
        var old = primary == null ? null : Content.Find(primary);
        var isSame = old != null && old.IsSame(row, setting.Version);
        if (refusal == null && !isSame)
            refusal = RefusalOfKeys(row, primary!, old);
        RowVersion version = default;
        if (!Try(refusal, () => version = call()))
            return;
        if (isSame)
            CheckUnchanged(old!, version);
        else
            NoteVersion(Content.Put(row, primary!, setting.Version), version);
    }

    private void Update()
    {
        var row = DrawRow(isThere: _random.Next(4) > 0);
        setting.Add($"update {row}");
        var refusal = RefusalOfFunctions(row);
        var primary = setting.Kind.Encode(row);
        var old = primary == null ? null : Content.Find(primary);
        var isSame = old == null || old.IsSame(row, setting.Version);
        if (refusal == null && !isSame)
            refusal = RefusalOfKeys(row, primary!, old);
        var (found, version) = (false, default(RowVersion));
        if (!Try(refusal, () => found = table.TryUpdate(row, out version)))
            return;
        if (found != (old != null) || (version == RowVersion.None) == found)
            throw new ModelMismatchException($"an update says {found} and version {version}, and the row is {(old == null ? "absent" : "there")}");
        if (!isSame)
            NoteVersion(Content.Put(row, primary!, setting.Version), version);
        else if (old != null)
            CheckUnchanged(old, version);
    }

    private void Delete()
    {
        var row = setting.Rows.Draw(setting.Rows.DrawKey());
        var old = Content.Find(setting.Kind.Encode(row)!);
        var key = setting.Kind.KeyOf(row);
        Refusal? refusal = null;
        RowVersion? expected = null;
        if (old != null)
            Learn(old);
        if (_random.Next(3) == 2)
        {
            var actual = old == null ? RowVersion.None : VersionOf(old);
            expected = DrawExpected(actual);
            refusal = expected == actual ? null : Refusal.Stale(expected.Value, actual);
        }

        setting.Add($"delete {row.Name}{(expected == null ? "" : $", expected {expected}")}");
        if (old != null && setting.Traps.Armed is { } armed)
            refusal ??= Refusal.OfFunction(armed, old);
        var found = false;
        if (!Try(refusal, () => found = expected is { } version ? table.Delete(key, version) : table.Delete(key)))
            return;
        if (found != (old != null))
            throw new ModelMismatchException($"a deletion says {found}");
        if (old != null)
            Content.Remove(old);
    }

    private void InsertMany()
    {
        var after = Content.Copy();
        var rows = new TableRow[_random.Next(_random.Next(8) == 7 ? 60 : 8)];
        var put = new List<ModelRow>();
        Refusal? refusal = null;
        for (var i = 0; i < rows.Length; i++)
        {
            rows[i] = i > 0 && _random.Next(20) == 19 ? rows[_random.Next(i)] with { Size = 1 } : DrawRow(isThere: false);

            // Most of many rows would meet an existing one.
            for (var again = 0; again < 8 && RefusalOfInsert(rows[i], after) != null && _random.Next(8) > 0; again++)
                rows[i] = DrawRow(isThere: false);
            if (refusal != null || (refusal = RefusalOfInsert(rows[i], after)) != null)
                continue;
            put.Add(after.Put(rows[i], setting.Kind.Encode(rows[i])!, setting.Version));
        }

        setting.Add($"insert {rows.Length} rows: {string.Join("; ", rows.Select(row => row.ToString()))}");
        if (!Try(refusal, () => table.InsertMany(rows)))
            return;
        Content = after;

        // Most of them learn their ids later, so that what is waiting in the buffers of trees stays there.
        if (_random.Next(3) == 0)
            put.ForEach(Learn);
    }

    private void DeleteWhere()
    {
        var index = setting.Indexes[_random.Next(setting.Indexes.Count)];
        _reader.LearnAll(Content);
        var entries = Content.Entries(index);
        var range = ModelRange.Draw(_random, entries);
        var most = _random.Next(3) switch { 0 => long.MaxValue, 1 => _random.Next(4), _ => _random.Next(20) };
        var rows = entries.Where(entry => range.Contains(entry.Key)).Select(entry => entry.Row).Distinct().ToList();
        if (rows.Count > most)
            rows = rows[..(int)most];
        setting.Add($"delete where '{index}' is {range}, at most {most}: {rows.Count}");
        var refusal = most > 0 && table.GetIndexState(index.Name) != IndexState.Ready ? Refusal.NotReady(index.Name)
            : setting.Traps.Armed is { } armed && rows.Count > 0 ? Refusal.OfFunction(armed, rows[0]) : null;
        var deleted = 0L;
        if (!Try(refusal, () => deleted = table.DeleteWhereRaw(index.Name, range.ToKeyRange(), most)))
            return;
        if (deleted != rows.Count)
            throw new ModelMismatchException($"{deleted} rows were deleted instead of {rows.Count}");
        rows.ForEach(Content.Remove);
    }

    private Refusal? RefusalOfInsert(TableRow row, TableContent into)
    {
        if (RefusalOfFunctions(row) is { } refusal)
            return refusal;
        var primary = setting.Kind.Encode(row)!;
        if (into.Find(primary) is { } holder)
            return Refusal.Duplicate("", primary, holder, null);
        var ready = setting.Indexes.Where(index => table.GetIndexState(index.Name) == IndexState.Ready);
        return into.FindDuplicate(ready, new ModelRow(row, primary)) is var (index, key, other)
            ? Refusal.Duplicate(index.Name, key, other, null)
            : null;
    }

    private RowVersion DrawExpected(RowVersion actual) => _random.Next(6) switch
    {
        0 => RowVersion.None,
        1 => new RowVersion(actual.Value + 1),
        2 => new RowVersion(Math.Max(0, actual.Value - 1)),
        _ => actual,
    };

    private RowVersion VersionOf(ModelRow row)
    {
        Learn(row);
        return new RowVersion(row.Version);
    }

    private void Learn(ModelRow row) => _reader.Learn(Content, row);

    private void NoteVersion(ModelRow row, RowVersion version)
    {
        TableReader<TKey>.TakeVersion(row, version);
        Content.Note(row);
    }

    private void CheckUnchanged(ModelRow row, RowVersion version)
    {
        if (version != VersionOf(row))
            throw new ModelMismatchException($"a row that did not change has version {version} instead of {row.Version}");
    }
}
