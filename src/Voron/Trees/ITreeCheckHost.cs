using Voron.Format;
using Voron.Primitives;
using Voron.Trees.Kinds;

namespace Voron.Trees;

/// <summary>Supplies the pages that a <see cref="TreeChecker"/> walks, and receives its findings.</summary>
internal unsafe interface ITreeCheckHost
{
    /// <summary>The size of a page in bytes.</summary>
    int PageSize { get; }

    /// <summary>The end of the existing pages: neither a page with this number nor one with a higher number exists.</summary>
    long PageLimit { get; }

    /// <summary>True when the walk must stop at the next place from which it can resume.</summary>
    bool IsOver { get; }

    /// <summary>Receives a sentence describing a problem, including the page number.</summary>
    void Report(string problem);

    /// <summary>
    /// Records the tree as the owner of pages. Returns false if they already have an owner; the walk then does not enter them again.
    /// </summary>
    /// <param name="first">The first page.</param>
    /// <param name="pages">The number of pages.</param>
    /// <param name="isValue">True for the pages of a value, which have no page headers.</param>
    bool Own(long first, int pages, bool isValue);

    /// <summary>
    /// Returns the content of a page below the limit, or of the first page of an extent. Reports an unusable page, and returns null for it.
    /// </summary>
    /// <param name="page">The page number.</param>
    /// <param name="again">True if the walk has read this page before and now continues in it: the page on disk has already been checked.</param>
    byte* Read(PageNumber page, bool again);

    /// <summary>Decompresses the compressed value of a record. Returns null if it is sound, otherwise a description of the fault.</summary>
    /// <param name="record">The record. A damaged one can refer to an extent beyond the limit.</param>
    /// <param name="treeId">The id of the tree that contains the record.</param>
    string? FindFault(byte* record, uint treeId);

    /// <summary>Checks the chunks of a value stored in pages without headers, and reports damage.</summary>
    /// <param name="reference">The value; its pages are below the limit.</param>
    /// <param name="chunk">The first chunk to check; afterwards, the first unchecked one.</param>
    /// <returns>False when the walk must stop before the end of the value.</returns>
    bool CheckValue(in LargeExtentReference reference, ref long chunk);
}
