using System.Diagnostics;

namespace Voron.Documents.Tool.Compare;

/// <summary>The figures and the answers of one store in one round.</summary>
internal sealed class Measurement
{
    private const int Callers = 64;
    private const double ScoreDigits = 1e6;

    private readonly Dictionary<string, double> _values = [];
    private readonly Dictionary<string, long> _checksums = [];

    public double this[string what] => _values[what];

    /// <summary>Returns the measure whose answers differ from those of another store; null if they are the same.</summary>
    public string? DifferenceFrom(Measurement other) =>
        _checksums.Keys.Union(other._checksums.Keys)
            .FirstOrDefault(what => !_checksums.TryGetValue(what, out var mine) || !other._checksums.TryGetValue(what, out var theirs) || mine != theirs);

    /// <summary>Does all of the work.</summary>
    public static Measurement Run(IComparedStore store, Workload workload)
    {
        var measured = new Measurement();
        measured.Time(Measures.Import, workload.Documents.Count, () => store.Import(workload.Documents));
        measured.Reads(store, workload);
        measured.Ranges(store, workload);
        measured.Searches(store, workload);
        measured.PutAll(store, workload);
        measured._values[Measures.Size] = store.Close();
        return measured;
    }

    /// <summary>Does the puts alone, behind the same import.</summary>
    public static Measurement RunCallers(IComparedStore store, Workload workload)
    {
        var measured = new Measurement();
        store.Import(workload.Documents);
        measured.PutAll(store, workload);
        return measured;
    }

    private void Reads(IComparedStore store, Workload workload)
    {
        var found = new ReadOnlyMemory<byte>[workload.Ids.Count];
        Time(Measures.Read, found.Length, () =>
        {
            for (var i = 0; i < found.Length; i++)
                found[i] = store.Get(workload.Ids[i]);
        });
        AddAll(Measures.Read, found);
    }

    private void Ranges(IComparedStore store, Workload workload)
    {
        var found = new List<IReadOnlyList<ReadOnlyMemory<byte>>>();
        var began = Stopwatch.GetTimestamp();
        foreach (var (first, last) in workload.Sizes)
            found.Add(store.GetBySize(first, last));
        _values[Measures.Range] = found.Sum(static documents => documents.Count) / Stopwatch.GetElapsedTime(began).TotalSeconds;

        // Documents of the same size may come in any order.
        foreach (var documents in found)
            Add(Measures.Range, documents.Sum(static document => HashOf(document.Span)));
    }

    // The second time counts, when each store has seen the words. Of documents with the same score, either may be among the best.
    private void Searches(IComparedStore store, Workload workload)
    {
        var times = new List<double>();
        for (var turn = 0; turn < 2; turn++)
        {
            times.Clear();
            foreach (var search in workload.WordSearches)
            {
                var began = Stopwatch.GetTimestamp();
                var hits = store.Search(search);
                times.Add(Stopwatch.GetElapsedTime(began).TotalMicroseconds);
                Add(Measures.SearchMedian, hits.Count);
                foreach (var (score, json) in hits)
                    Add(Measures.SearchMedian, (long)Math.Round(score * ScoreDigits));
                foreach (var (_, json) in hits.TakeWhile(hit => hit.Score > hits[^1].Score + 1 / ScoreDigits).OrderBy(static hit => HashOf(hit.Json.Span)))
                    Add(Measures.SearchMedian, HashOf(json.Span));
            }
        }

        times.Sort();
        _values[Measures.SearchMedian] = times[times.Count / 2];
        _values[Measures.SearchTail] = times[times.Count * 99 / 100];
    }

    // Each caller waits for its document before it comes with the next one.
    private void PutAll(IComparedStore store, Workload workload)
    {
        var next = -1;
        Time(Measures.Callers, workload.Puts.Count, () =>
        {
            var options = store.NeedsThreads ? TaskCreationOptions.LongRunning : TaskCreationOptions.None;
            var callers = Enumerable.Range(0, Callers)
                .Select(_ => Task.Factory.StartNew(PutSomeAsync, CancellationToken.None, options, TaskScheduler.Default).Unwrap()).ToArray();
            Task.WhenAll(callers).GetAwaiter().GetResult();
        });
        AddAll(Measures.Callers, workload.Puts.Select(put => store.Get(put.Id!)));

        async Task PutSomeAsync()
        {
            for (int i; (i = Interlocked.Increment(ref next)) < workload.Puts.Count;)
                await store.PutAsync(workload.Puts[i]);
        }
    }

    private void Time(string what, int count, Action work)
    {
        var began = Stopwatch.GetTimestamp();
        work();
        _values[what] = count / Stopwatch.GetElapsedTime(began).TotalSeconds;
    }

    private void AddAll(string what, IEnumerable<ReadOnlyMemory<byte>> documents)
    {
        foreach (var document in documents)
            Add(what, HashOf(document.Span));
    }

    private void Add(string what, long value) => _checksums[what] = unchecked(_checksums.GetValueOrDefault(what) * 31 + value);

    // The same within a process, which is all that is asked for.
    private static long HashOf(ReadOnlySpan<byte> bytes)
    {
        var hash = new HashCode();
        hash.AddBytes(bytes);
        return hash.ToHashCode();
    }
}
