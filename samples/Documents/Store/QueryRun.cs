using System.Text.Json;
using Voron.Tables;

namespace Voron.Documents;

/// <summary>Answers a query in one snapshot.</summary>
/// <param name="table">The documents.</param>
/// <param name="query">The query.</param>
/// <param name="plan">How it is answered.</param>
/// <param name="expiry">When documents end; null if they do not.</param>
internal readonly ref struct QueryRun(Table<long, Document> table, Query query, QueryPlan plan, Expiry? expiry)
{
    private readonly long _now = expiry?.Now ?? 0;

    public QueryResult Run(PageToken after)
    {
        if (plan.Sorts && !after.IsStart)
            throw new QueryException("The documents of this query are sorted in memory, which has no pages: use 'take', or an index on the path of 'order by'.");
        using var rows = Open(after);
        return plan.Sorts ? Sort(rows) : Collect(rows);
    }

    private RowQuery<Document> Open(PageToken after)
    {
        RowQuery<Document> rows;
        if (plan.Index == null)
        {
            rows = table.Scan();
        }
        else
        {
            var range = plan.Prefix == null ? KeyRange.All : KeyRange.Prefix(plan.Prefix);
            if (plan.First != null)
                range = plan.IsBehindFirst ? range.After(plan.First) : range.From(plan.First);
            if (plan.Last != null)
                range = plan.IsBeforeLast ? range.Before(plan.Last) : range.Through(plan.Last);
            rows = table.FromRaw(plan.Index.Text, range);
        }

        if (query.IsDescending && query.Order != null && !plan.Sorts)
            rows = rows.Backward();
        return after.IsStart ? rows : rows.After(after);
    }

    private QueryResult Collect(RowQuery<Document> rows)
    {
        var found = new List<Document>();
        var seen = plan.Index?.IsMultiple == true ? new HashSet<long>() : null;
        var examined = 0L;
        string? next = null;
        while (found.Count < query.Take && rows.MoveNext())
        {
            if (seen?.Add(rows.RowId) == false)
                continue;
            examined++;
            var document = rows.Current with { Version = rows.Version };
            if (!IsFound(document))
                continue;
            found.Add(document);
            if (found.Count == query.Take)
                next = PageEnd.ToText(query, plan, rows.Token);
        }

        return ToResult(found, examined, next);
    }

    // Keeps the best ones only.
    private QueryResult Sort(RowQuery<Document> rows)
    {
        var order = new KeyOrder(query.IsDescending);
        var best = new PriorityQueue<Document, byte[]>(Comparer<byte[]>.Create((left, right) => order.Compare(right, left)));
        var seen = plan.Index?.IsMultiple == true ? new HashSet<long>() : null;
        var examined = 0L;
        while (rows.MoveNext())
        {
            if (seen?.Add(rows.RowId) == false)
                continue;
            examined++;
            var document = rows.Current with { Version = rows.Version };
            if (!IsFound(document))
                continue;
            var key = KeyOf(query.Order!, query.IsDescending, document);
            if (best.Count < query.Take)
                best.Enqueue(document, key);
            else if (query.Take > 0)
                best.EnqueueDequeue(document, key);
        }

        var found = new Document[best.Count];
        for (var i = found.Length - 1; i >= 0; i--)
            found[i] = best.Dequeue();
        return ToResult(found, examined, null);
    }

    // Of the values of a path that leads to several, the one that comes first in the order. Equal documents come in the order of their numbers.
    private static byte[] KeyOf(JsonPath path, bool isDescending, in Document document)
    {
        var first = new FirstKey(isDescending);
        path.Visit(document.Json.Span, ref first, static (ref Utf8JsonReader value, ref FirstKey first) => first.Take(ref value));
        return first.End(document.Number);
    }

    private bool IsFound(in Document document) =>
        plan.Rest?.Matches(document.Json.Span) != false && expiry?.IsDue(document.Json.Span, _now) != true;

    private QueryResult ToResult(IReadOnlyList<Document> documents, long examined, string? next) => new()
    {
        Documents = documents,
        Next = next,
        Plan = plan.ToString(),
        Examined = examined,
    };

    private sealed class KeyOrder(bool isDescending)
    {
        public int Compare(byte[] left, byte[] right)
        {
            var order = left.AsSpan().SequenceCompareTo(right);
            return isDescending ? -order : order;
        }
    }

    private ref struct FirstKey(bool isDescending)
    {
        private readonly byte[] _next = new byte[ValueKey.MaxBytes];
        private byte[] _first = [];

        public void Take(ref Utf8JsonReader value)
        {
            var writer = new KeyWriter(_next);
            ValueKey.Write(ref value, ref writer);
            var order = _first.Length == 0 ? -1 : writer.Written.SequenceCompareTo(_first);
            if (isDescending ? order > 0 || _first.Length == 0 : order < 0)
                _first = writer.Written.ToArray();
        }

        public readonly byte[] End(long number)
        {
            var writer = new KeyWriter(_next);
            if (_first.Length == 0)
                ValueKey.WriteMissing(ref writer);
            writer.Add(number);
            return [.. _first, .. writer.Written];
        }
    }
}
