namespace Voron.Compaction;

/// <summary>What keeps a page, or an extent, from being moved.</summary>
internal enum MoveObstacle
{
    /// <summary>Nothing.</summary>
    None,

    /// <summary>The transaction has moved enough; the next one continues.</summary>
    Full,

    /// <summary>A section has free pages without blocks, which must be made first.</summary>
    NoBlocks,

    /// <summary>There are no free pages, or not as many in a row.</summary>
    NoPlace,
}
