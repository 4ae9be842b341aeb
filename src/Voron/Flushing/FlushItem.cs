using Voron.Paging;

namespace Voron.Flushing;

/// <summary>A page or an extent to be written to the data file.</summary>
internal readonly unsafe struct FlushItem
{
    public readonly long Page;
    public readonly byte* Frame;
    public readonly int Pages;

    /// <summary>True when the page that replay would produce depends on the page's content in the data file.</summary>
    public readonly bool NeedsBasePage;

    /// <summary>The transaction that has made this version.</summary>
    public readonly long TransactionId;

    public FlushItem(long page, in PageVersion version, bool needsBasePage)
    {
        Page = page;
        Frame = version.Frame;
        Pages = version.Pages;
        TransactionId = version.TransactionId;
        NeedsBasePage = needsBasePage;
    }
}
