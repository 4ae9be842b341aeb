using Voron.Staging;
using Voron.Transactions;

namespace Voron.Loading;

/// <summary>The pages of trees that no transaction knows yet, until one adopts them.</summary>
/// <remarks>
/// <code>
///   entries in key order ─▶ private pages ─▶ written, synced ─▶ adopted by a commit
/// </code>
/// The pages are durable before the record of that commit names their ranges, so it needs neither their bytes nor their checksums, and a recovery
/// reads none of them. Until the commit, nothing on disk refers to the pages. Used by one thread at a time.
/// </remarks>
internal sealed class PrivateTrees : IDisposable
{
    /// <param name="area">Reserves pages.</param>
    /// <param name="stop">Cancels the waits for the writer.</param>
    public PrivateTrees(StagingArea area, CancellationToken stop)
    {
        Area = area;
        Space = new LoadSpace(area, stop);
        Pages = new PrivatePages(area.Engine, Space);
    }

    public ReadingEngine Engine => Area.Engine;

    public StagingArea Area { get; }

    public LoadSpace Space { get; }

    public PrivatePages Pages { get; }

    /// <summary>Writes and syncs all pages.</summary>
    /// <inheritdoc cref="PrivatePages.WriteAll"/>
    public async ValueTask MakeDurableAsync()
    {
        Pages.WriteAll();
        await Area.Sync.RunAsync().ConfigureAwait(false);
    }

    /// <summary>Takes the pages in the transaction that has adopted their trees.</summary>
    public void TakePages(WriteTransactionBody body)
    {
        foreach (var (first, pages) in Space.UsedRanges())
            body.WritePages.TakeLoaded(first, pages);
    }

    /// <summary>Frees the memory, and the pages unless a transaction has taken them.</summary>
    public void Dispose()
    {
        Space.Release();
        Pages.Dispose();
    }
}
