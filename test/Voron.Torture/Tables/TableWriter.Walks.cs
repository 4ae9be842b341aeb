using Voron.Tables;
using Voron.Torture.Model;

namespace Voron.Torture.Tables;

/// <content>Queries that continue while the table changes.</content>
internal sealed partial class TableWriter<TKey>
{
    private const int MaxWalk = 40;

    private bool _isWalking;

    // The query keeps its place: the next row is the first one behind it that existed when the query was made, and still does.
    private void Walk()
    {
        _reader.LearnAll(Content);
        var index = _random.Next(4) == 3 && !setting.Kind.HasRowIds ? null : setting.Indexes[_random.Next(setting.Indexes.Count)];
        if (index != null && !_reader.IsReady(index))
            return;
        var entries = EntriesOf(index);
        var range = ModelRange.Draw(_random, entries);
        var isBackward = _random.Next(2) == 1;
        setting.Add($"walk through {(index == null ? "keys" : $"'{index}'")} {range}{(isBackward ? " backwards" : "")}");
        var begun = index == null ? table.ByKeyRaw(range.ToKeyRange()) : table.FromRaw(index.Name, range.ToKeyRange());
        using var query = PagedQuery.Place(begun, isBackward, default, int.MaxValue);
        var first = entries.Select(static entry => (entry.Key, entry.Row.Id)).ToHashSet();
        _isWalking = true;
        (string Key, long Id)? place = null;
        for (var i = 0; i < MaxWalk; i++)
        {
            _reader.LearnAll(Content);
            entries = EntriesOf(index);
            if (isBackward)
                entries.Reverse();
            var isUnique = index?.IsUnique != false;
            var expected = entries.FirstOrDefault(entry =>
                range.Contains(entry.Key) && first.Contains((entry.Key, entry.Row.Id)) && IsBehind(entry, place, isUnique, isBackward));
            if (!Advance(query, expected))
                break;
            place = (expected.Key, expected.Row.Id);
            for (var calls = _random.Next(3); calls > 0 && setting.GoesOn(); calls--)
                Call();
        }

        _isWalking = false;
    }

    private List<ModelEntry> EntriesOf(TableIndex? index) => index == null ? Content.ByKey() : Content.Entries(index);

    private static bool IsBehind(ModelEntry entry, (string Key, long Id)? place, bool isUnique, bool isBackward)
    {
        if (place is not var (key, id))
            return true;
        var order = isUnique ? string.CompareOrdinal(entry.Key, key) : ModelEntry.Compare(entry.Key, entry.Row.Id, key, id);
        return isBackward ? order < 0 : order > 0;
    }

    private static bool Advance(RowQuery<TableRow> query, ModelEntry expected)
    {
        var isFound = query.MoveNext();
        if (isFound != (expected.Row != null))
        {
            throw new ModelMismatchException(isFound
                ? $"a query beside changes returns row {query.RowId} instead of none"
                : $"a query beside changes ends before row {expected.Row!.Id}");
        }

        if (isFound && (query.RowId != expected.Row!.Id || ModelKey.Of(query.Key) != expected.Key || !query.Current.HasSameFields(expected.Row.Row)))
            throw new ModelMismatchException($"a query beside changes returns row {query.RowId} instead of row {expected.Row.Id}");
        return isFound;
    }
}
