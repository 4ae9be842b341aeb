using System.Diagnostics;

namespace Voron.Documents.Tool.Compare;

/// <summary>What one store did in one round.</summary>
internal sealed class Measurement
{
    private const int Callers = 64;

    private readonly Dictionary<string, double> _values = [];
    private readonly Dictionary<string, long> _checksums = [];

    public double this[string what] => _values[what];

    /// <summary>Returns what another store has answered differently; null if the answers are the same.</summary>
    public string? DifferenceFrom(Measurement other) => _checksums.FirstOrDefault(answer => other._checksums[answer.Key] != answer.Value).Key;

    /// <summary>Does all of the work.</summary>
    public static Measurement Run(IComparedStore store, Workload workload)
    {
        var measured = new Measurement();
        measured.Time(Measures.Import, workload.Documents.Count, () => store.Import(workload.Documents));
        measured.Time(Measures.Read, workload.Ids.Count, () => measured.ReadAll(store, workload));
        measured.Ranges(store, workload);
        measured.Searches(store, workload);
        measured.PutAll(store, workload);
        measured._values[Measures.Size] = store.Close();
        return measured;
    }

    /// <summary>Does only what callers do that wait for their own documents.</summary>
    public static Measurement RunCallers(IComparedStore store, Workload workload)
    {
        var measured = new Measurement();
        measured.PutAll(store, workload);
        return measured;
    }

    private void ReadAll(IComparedStore store, Workload workload)
    {
        foreach (var id in workload.Ids)
            Add(Measures.Read, store.Get(id).Length);
    }

    private void Ranges(IComparedStore store, Workload workload)
    {
        var count = 0;
        var began = Stopwatch.GetTimestamp();
        foreach (var (first, last) in workload.Sizes)
        {
            var (documents, bytes) = store.GetBySize(first, last);
            count += documents;
            Add(Measures.Range, bytes);
        }

        _values[Measures.Range] = count / Stopwatch.GetElapsedTime(began).TotalSeconds;
    }

    // The second time counts, when each store has seen the words.
    private void Searches(IComparedStore store, Workload workload)
    {
        var times = new List<double>();
        for (var turn = 0; turn < 2; turn++)
        {
            times.Clear();
            foreach (var search in workload.WordSearches)
            {
                var began = Stopwatch.GetTimestamp();
                var scores = store.Search(search);
                times.Add(Stopwatch.GetElapsedTime(began).TotalMicroseconds);
                foreach (var score in scores)
                    Add(Measures.SearchMedian, (long)Math.Round(score * 1e6));
            }
        }

        times.Sort();
        _values[Measures.SearchMedian] = times[times.Count / 2];
        _values[Measures.SearchTail] = times[times.Count * 99 / 100];
    }

    private void PutAll(IComparedStore store, Workload workload) => Time(Measures.Callers, workload.Puts.Count, () =>
    {
        var next = -1;
        var threads = Enumerable.Range(0, Callers).Select(_ => new Thread(() =>
        {
            for (int i; (i = Interlocked.Increment(ref next)) < workload.Puts.Count;)
                store.Put(workload.Puts[i]);
        })).ToList();
        threads.ForEach(static thread => thread.Start());
        threads.ForEach(static thread => thread.Join());
    });

    private void Time(string what, int count, Action work)
    {
        var began = Stopwatch.GetTimestamp();
        work();
        _values[what] = count / Stopwatch.GetElapsedTime(began).TotalSeconds;
    }

    private void Add(string what, long value) => _checksums[what] = unchecked(_checksums.GetValueOrDefault(what) * 31 + value);
}
