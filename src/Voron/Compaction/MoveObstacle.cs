namespace Voron.Compaction;

/// <summary>The reason why a page or an extent cannot be moved.</summary>
internal enum MoveObstacle
{
    /// <summary>Nothing.</summary>
    None,

    /// <summary>The transaction has moved enough; the next one continues.</summary>
    Full,

    /// <summary>A section has free pages without blocks, which must be made first.</summary>
    NoBlocks,

    /// <summary>There are no free pages, or not enough contiguous ones.</summary>
    NoPlace,
}
