using Voron.Format;
using Voron.Recovery;

namespace Voron.Salvaging;

/// <summary>Chooses the state of a damaged environment, and extracts it.</summary>
/// <remarks>
/// <code>
///   newer slot ─▶ older slot ─▶ record of the last flush: the first that fits the data file
///                                      └▶ none: the one whose trees look best, or the catalog that the pages themselves show
/// </code>
/// </remarks>
internal sealed class SalvageRun(DamagedSource source, SalvageOptions options, CancellationToken stop)
{
    private const int MostTries = 8;

    /// <summary>Extracts the remaining data.</summary>
    /// <param name="makeTarget">Creates the new environment, given a page size.</param>
    public SalvageFindings Run(Func<int, ISalvageTarget> makeTarget)
    {
        using var chosen = Choose();
        if (chosen.Result?.Misfit is { } misfit)
            source.Damage.Add("", misfit);
        foreach (var problem in chosen.Result?.Problems ?? [])
            source.Damage.Add("", problem);
        var isProven = chosen is { Fits: true, Result.IsNewest: false };
        using var extraction = new Extraction(chosen.Pages, makeTarget(source.PageSize), options, isProven, stop);
        extraction.Run();
        return new SalvageFindings(chosen.Pages.State, chosen.Origin, isProven, extraction.Catalog, extraction.Trees)
        {
            IsJournalWhole = chosen.Result is { Problems.Count: 0 },
            TreesLeftBehind = extraction.TreesLeftBehind,
        };
    }

    private StartPoint Choose()
    {
        StartPoint? best = null;
        StartPoint? next = null;
        try
        {
            foreach (var (header, origin, isCertain) in source.StartPoints())
            {
                stop.ThrowIfCancellationRequested();
                next = Try(header, origin, isCertain);
                Keep(ref best, ref next);
                if (best!.Fits)
                    return best;
            }

            next = Find();
            Keep(ref best, ref next);
            return best!;
        }
        catch
        {
            best?.Dispose();
            next?.Dispose();
            throw;
        }
    }

    // Keeps the better of two start points. Between equals, the one that fits the stamp of the data file wins, then the earlier one.
    private void Keep(ref StartPoint? best, ref StartPoint? next)
    {
        if (best == null || next!.Fits || Judge(next).CompareTo(Judge(best)) < 0)
            (best, next) = (next, best);
        next?.Dispose();
        next = null;
    }

    // Data that was readable when it was checked may be unreadable when it is used. On a retry, it already fails its check.
    private StartPoint Try(in CheckpointHeader header, string origin, bool isCertain)
    {
        for (var tries = 1; ; tries++)
        {
            var pages = source.OpenPages(header);
            try
            {
                var result = source.Recover(pages, header, options.TakeNewest);
                return new StartPoint(pages, result, origin) { Fits = isCertain && result.Misfit == null };
            }
            catch (CorruptionException) when (tries < MostTries)
            {
                pages.Dispose();
            }
            catch
            {
                pages.Dispose();
                throw;
            }
        }
    }

    // Starts without a header, from the pages of the data file and the catalog among them.
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

    // Rates the damage of the trees that a start point leads to; lower is better. The number of entries proves nothing: an older state may
    // contain more.
    private (bool LacksTrees, int Incomplete, bool IsMisfit) Judge(StartPoint start)
    {
        var pages = start.Pages;
        var damage = pages.Damage;
        pages.Damage = new DamageList();
        try
        {
            using var extraction = new Extraction(pages, new NoTarget(), new SalvageOptions(), isProven: false, stop);
            extraction.WalkFromRoot();
            var lacksTrees = extraction.Catalog.IsIncomplete || extraction.Trees.Count + extraction.TreesLeftBehind == 0;
            return (lacksTrees, extraction.Trees.Count(tree => tree.IsIncomplete), start.Result is not { Misfit: null });
        }
        finally
        {
            pages.Damage = damage;
        }
    }

    private sealed record StartPoint(SalvagePages Pages, TolerantResult? Result, string Origin) : IDisposable
    {
        /// <summary>The data file contains the pages of the state.</summary>
        public bool Fits { get; init; }

        public void Dispose() => Pages.Dispose();
    }

    private sealed class NoTarget : ISalvageTarget
    {
        public bool TakesValues => false;

        public void EnterTree(string name, TreeForm form)
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
/// <param name="Origin">The source that named it.</param>
/// <param name="IsProven">True if the pages are as of that state.</param>
/// <param name="Catalog">The findings about the catalog.</param>
/// <param name="Trees">The findings about the trees.</param>
internal sealed record SalvageFindings(EnvironmentState State, string Origin, bool IsProven, TreeFindings Catalog, IReadOnlyList<TreeFindings> Trees)
{
    /// <summary>False if commits of the journal may be missing.</summary>
    public required bool IsJournalWhole { get; init; }

    /// <summary>The number of trees that are not copied: dropped ones, and those of change feeds and of dictionaries.</summary>
    public required int TreesLeftBehind { get; init; }
}
