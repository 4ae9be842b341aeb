namespace Voron.Sorting;

/// <summary>Merges runs into fewer and longer ones, until memory suffices to read all of them at once.</summary>
internal static class RunMerges
{
    /// <param name="context">The sort.</param>
    /// <param name="file">The spill file.</param>
    /// <param name="runs">The runs, in order of arrival.</param>
    /// <param name="chunks">The number of chunks in memory.</param>
    /// <exception cref="VoronException">A run cannot be read or written, or is damaged.</exception>
    public static void MergeUntilFew(SortContext context, RunFile file, List<SortedRun> runs, int chunks)
    {
        while (runs.Count > 1)
        {
            var readerBytes = RunStream.MemoryOf(context, runs.Max(run => run.LargestBlock));
            var most = context.Sizes.RunsAtOnce(chunks, readerBytes);
            if (runs.Count <= most)
                return;

            // No more than necessary, so that the last merge, which writes nothing, has as many runs as possible.
            var count = Math.Min(most, runs.Count - most + 1);
            var first = Shortest(runs, count);
            var merged = Merge(context, file, runs.GetRange(first, count));
            runs.RemoveRange(first, count);
            runs.Insert(first, merged);
        }
    }

    /// <summary>Returns the first of the adjacent runs that have the fewest bytes together: the runs must stay in order of arrival.</summary>
    private static int Shortest(List<SortedRun> runs, int count)
    {
        var bytes = runs.Take(count).Sum(run => run.Bytes);
        var (best, fewest) = (0, bytes);
        for (var first = 1; first + count <= runs.Count; first++)
        {
            bytes += runs[first + count - 1].Bytes - runs[first - 1].Bytes;
            if (bytes < fewest)
                (best, fewest) = (first, bytes);
        }

        return best;
    }

    private static SortedRun Merge(SortContext context, RunFile file, List<SortedRun> runs)
    {
        var merged = new SortedRun(file.Length);
        using (var merger = new StreamMerger(context, runs.Select(run => new RunStream(context, file, run))))
        {
            merger.MoveNext();
            using var writer = new RunWriter(context, file, merged);
            writer.AddRest(merger);
        }

        foreach (var run in runs)
            file.Free(run);
        return merged;
    }
}
