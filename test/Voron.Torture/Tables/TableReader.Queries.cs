using Voron.Tables;
using Voron.Torture.Model;

namespace Voron.Torture.Tables;

/// <content>Queries of ranges, and pages of them.</content>
internal sealed partial class TableReader<TKey>
{
    /// <summary>Reads the next page of a query, which others may have begun in another transaction; the rows may have changed since.</summary>
    public void ReadPage(TableContent content, PagedQuery paged)
    {
        if (paged.Index is { } index && !IsReady(index))
            return;
        setting.Add($"page of {paged}");
        LearnAll(content);
        var order = paged.Index == null ? RowIdOrder(content) : content.Entries(paged.Index);
        var expected = order.Where(entry => paged.Range.Contains(entry.Key)).ToList();
        if (paged.IsBackward)
            expected.Reverse();
        var token = PageToken.Parse(paged.Token);
        if (!token.IsStart)
        {
            var key = paged.Index == null ? "" : ModelKey.Of(token.Key);
            expected.RemoveAll(entry => !IsBehind(entry, key, token.RowId, paged.IsBackward));
        }

        using var query = Begin(paged, token);
        Compare(query, expected, 0, paged.Rows);
        paged.Token = query.Token.ToString();
        paged.IsOver = expected.Count <= paged.Rows;
    }

    /// <summary>Asks for the first row of a page.</summary>
    public void Continue(PagedQuery paged, PageToken token)
    {
        setting.Add($"page of {paged} at '{token}'");
        using var query = Begin(paged, token);
        _ = query.MoveNext();
    }

    private RowQuery<TableRow> Begin(PagedQuery paged, PageToken token)
    {
        var begun = paged.Index == null ? table.Scan() : table.FromRaw(paged.Index.Name, paged.Range.ToKeyRange());
        return PagedQuery.Place(begun, paged.IsBackward, token, paged.Rows);
    }

    private static bool IsBehind(ModelEntry entry, string key, long rowId, bool isBackward)
    {
        var order = ModelEntry.Compare(entry.Key, entry.Row.Id, key, rowId);
        return isBackward ? order < 0 : order > 0;
    }

    private void Query(TableContent content, TableIndex index)
    {
        if (!IsReady(index))
            return;
        LearnAll(content);
        var entries = content.Entries(index);
        var range = ModelRange.Draw(_random, entries);
        setting.Add($"query '{index}' {range}");
        var expected = entries.Where(entry => range.Contains(entry.Key)).ToList();
        CheckQuery(content, () => table.FromRaw(index.Name, range.ToKeyRange()), expected, hasKeyOfRow: true);
    }

    private void QueryKeys(TableContent content)
    {
        LearnAll(content);
        var entries = content.ByKey();
        var range = ModelRange.Draw(_random, entries);
        setting.Add($"query by key {range}");
        if (setting.Kind.HasRowIds)
            return;
        CheckQuery(content, () => table.ByKeyRaw(range.ToKeyRange()), [.. entries.Where(entry => range.Contains(entry.Key))], hasKeyOfRow: true);
    }

    // Forwards or backwards; as a whole, a part, or page by page.
    private void CheckQuery(TableContent content, Func<RowQuery<TableRow>> begin, List<ModelEntry> expected, bool hasKeyOfRow)
    {
        var isBackward = _random.Next(2) == 1;
        if (isBackward)
            expected.Reverse();
        var page = _random.Next(3) switch { 0 => int.MaxValue, 1 => _random.Next(4), _ => _random.Next(1, 40) };
        var token = default(PageToken);
        for (var at = 0; ; at += page)
        {
            using var query = PagedQuery.Place(begin(), isBackward, token, page);
            if (at == 0 && !content.HasCount(query.Count(), expected.Count))
                throw new ModelMismatchException($"a query counts {query.Count()} entries instead of {expected.Count}");
            Compare(query, expected, at, page, hasKeyOfRow);
            if (page is 0 or int.MaxValue || expected.Count - at <= page)
                break;
            token = PageToken.Parse(query.Token.ToString());
        }
    }

    private static void Compare(RowQuery<TableRow> query, List<ModelEntry> expected, int from, int most, bool hasKeyOfRow = false)
    {
        for (var i = from; i < expected.Count && i - from < most; i++)
        {
            var (key, row) = expected[i];
            if (!query.MoveNext())
                throw new ModelMismatchException($"a query ends after {i} of {expected.Count} entries, before {row.Row}");
            if (query.RowId != row.Id || query.Version.Value != row.Version || !query.Current.HasSameFields(row.Row))
            {
                throw new ModelMismatchException(
                    $"entry {i} is row {query.RowId}, version {query.Version}, {query.Current}, instead of row {row.Id}, version {row.Version}, {row.Row}");
            }

            if (hasKeyOfRow && ModelKey.Of(query.Key) != key)
                throw new ModelMismatchException($"entry {i} has another key");
        }

        if (query.MoveNext())
            throw new ModelMismatchException($"a query has more entries than {expected.Count}: row {query.RowId}, {query.Current}");
    }
}
