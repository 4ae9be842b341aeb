namespace Voron.Paging;

/// <summary>A copy of a version, as a walker found it.</summary>
internal readonly unsafe struct PageVersion
{
    public readonly long TransactionId;
    public readonly byte* Frame;
    public readonly int Pages;
    public readonly VersionFlags Flags;

    /// <summary>As <see cref="VersionNode.SelfContainedSinceId"/>.</summary>
    public readonly long SelfContainedSinceId;

    public PageVersion(long transactionId, byte* frame, int pages, VersionFlags flags, long selfContainedSinceId)
    {
        TransactionId = transactionId;
        Frame = frame;
        Pages = pages;
        Flags = flags;
        SelfContainedSinceId = selfContainedSinceId;
    }
}
