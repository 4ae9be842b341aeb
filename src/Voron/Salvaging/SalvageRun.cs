using Voron.Format;
using Voron.Recovery;

namespace Voron.Salvaging;

/// <summary>Chooses the state of a damaged environment of which most is left, and extracts it.</summary>
/// <remarks>
/// <code>
///   newer slot ─▶ older slot ─▶ record of the last flush: the first that nothing contradicts
///                                      └▶ none: the one with the fewest contradictions, or the catalog that the pages themselves show
/// </code>
/// </remarks>
internal sealed class SalvageRun(DamagedSource source, SalvageOptions options, CancellationToken stop)
{
    /// <summary>Extracts what there is.</summary>
    /// <param name="makeTarget">Makes the new environment for pages of a size.</param>
    public SalvageFindings Run(Func<int, ISalvageTarget> makeTarget)
    {
        var chosen = Choose();
        using var pages = chosen.Pages;
        foreach (var problem in chosen.Result?.Problems ?? [])
            source.Damage.Add("", problem);
        var isProven = chosen.Result is { FitsDataFile: true, IsNewest: false };
        using var extraction = new Extraction(pages, makeTarget(source.PageSize), options, isProven, stop);
        extraction.Run();
        return new SalvageFindings(pages.State, chosen.Origin, isProven, extraction.Catalog, extraction.Trees);
    }

    private StartPoint Choose()
    {
        StartPoint? best = null;
        try
        {
            foreach (var (header, origin) in source.StartPoints())
            {
                stop.ThrowIfCancellationRequested();
                var next = Try(header, origin);
                if (best == null || IsBetter(next, best))
                    (best, next) = (next, best);
                next?.Pages.Dispose();
                if (best.Rank == default)
                    return best;
            }

            if (best is { Result.FitsDataFile: true })
                return best;
            var found = Find();
            if (best != null && Judge(best.Pages).CompareTo(Judge(found.Pages)) <= 0)
                (best, found) = (found, best);
            best?.Pages.Dispose();
            return found;
        }
        catch
        {
            best?.Pages.Dispose();
            throw;
        }
    }

    private bool IsBetter(StartPoint next, StartPoint best) =>
        next.Rank.Contradicts && best.Rank.Contradicts ? Judge(next.Pages).CompareTo(Judge(best.Pages)) < 0 : next.Rank.CompareTo(best.Rank) < 0;

    private StartPoint Try(in CheckpointHeader header, string origin)
    {
        var pages = source.OpenPages(header);
        try
        {
            return new StartPoint(pages, source.Recover(pages, header, options.TakeNewest), origin);
        }
        catch
        {
            pages.Dispose();
            throw;
        }
    }

    // Without a header: the pages of the data file, and the catalog among them.
    private StartPoint Find()
    {
        var pages = source.OpenPages(new CheckpointHeader { Version = source.Version });
        try
        {
            var catalog = new TreeHeader { RootPage = CatalogFinder.Find(pages, stop) };
            pages.State = new EnvironmentState { PageCount = pages.Capacity, Catalog = catalog };
            return new StartPoint(pages, null, "the pages of the data file");
        }
        catch
        {
            pages.Dispose();
            throw;
        }
    }

    // How damaged the trees look that a start leads to; lower is better. The number of entries says nothing: an older state may have more.
    private (bool LacksTrees, int Incomplete) Judge(SalvagePages pages)
    {
        using var extraction = new Extraction(pages, new NoTarget(), new SalvageOptions(), isProven: false, stop);
        extraction.WalkFromRoot();
        return (extraction.Catalog.IsIncomplete || extraction.Trees.Count == 0, extraction.Trees.Count(tree => tree.IsIncomplete));
    }

    private sealed record StartPoint(SalvagePages Pages, TolerantResult? Result, string Origin)
    {
        /// <summary>What speaks against it; lower is better, and the default is best.</summary>
        public (bool Contradicts, int Lost, int Problems) Rank =>
            Result == null ? default : (!Result.FitsDataFile, Result.Lost.Count, Result.Problems.Count + (IsEmpty ? 1 : 0));

        // Perhaps new, or the journal does not go back to the beginning.
        private bool IsEmpty => Pages.State.TransactionId == 0;
    }

    private sealed class NoTarget : ISalvageTarget
    {
        public void EnterTree(string name)
        {
        }

        public bool TryAdd(ReadOnlySpan<byte> key, ValueSource value, out string? fault)
        {
            fault = null;
            return true;
        }
    }
}

/// <summary>The result of a salvage.</summary>
/// <param name="State">The state that was extracted.</param>
/// <param name="Origin">What named it.</param>
/// <param name="IsProven">True if the pages are as of that state.</param>
/// <param name="Catalog">What was found of the catalog.</param>
/// <param name="Trees">What was found of the trees.</param>
internal sealed record SalvageFindings(EnvironmentState State, string Origin, bool IsProven, TreeFindings Catalog, IReadOnlyList<TreeFindings> Trees);
