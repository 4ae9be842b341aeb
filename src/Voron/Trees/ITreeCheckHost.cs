using Voron.Format;
using Voron.Primitives;
using Voron.Trees.Kinds;

namespace Voron.Trees;

/// <summary>The source of the pages that a <see cref="TreeChecker"/> walks, and the receiver of its findings.</summary>
internal unsafe interface ITreeCheckHost
{
    /// <summary>The size of a page in bytes.</summary>
    int PageSize { get; }

    /// <summary>The first page number that does not exist; all above it do not exist either.</summary>
    long PageLimit { get; }

    /// <summary>True when the walk must stop at the next place from which it can continue later.</summary>
    bool IsOver { get; }

    /// <summary>Receives a sentence that describes a problem, with the page number.</summary>
    void Report(string problem);

    /// <summary>
    /// Records that the tree owns pages. Returns false when they already have an owner: the walk does not enter them again.
    /// </summary>
    /// <param name="first">The first page.</param>
    /// <param name="pages">Their number.</param>
    /// <param name="isValue">True if they are those of a value, without page headers.</param>
    bool Own(long first, int pages, bool isValue);

    /// <summary>
    /// Returns the content of a page below the limit, or of the first page of an extent; if it cannot be used, reports that and returns null.
    /// </summary>
    /// <param name="page">The page number.</param>
    /// <param name="again">True if the walk has read this page before and now continues in it: the page on disk has been checked.</param>
    byte* Read(PageNumber page, bool again);

    /// <summary>Decompresses the value of a record, which is compressed. Returns null if it is sound, otherwise a sentence.</summary>
    /// <param name="record">The record. The extent of its value, if it has one, is below the limit.</param>
    /// <param name="treeId">The tree that has the record.</param>
    string? FindFault(byte* record, uint treeId);

    /// <summary>Checks the chunks of a value that is stored in pages without headers, and reports damage.</summary>
    /// <param name="reference">The value; its pages are below the limit.</param>
    /// <param name="chunk">The first chunk to check; afterwards, the first one that has not been checked.</param>
    /// <returns>False when the walk must stop before the end of the value.</returns>
    bool CheckValue(in LargeExtentReference reference, ref long chunk);
}
