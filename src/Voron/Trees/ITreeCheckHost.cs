using Voron.Format;
using Voron.Primitives;

namespace Voron.Trees;

/// <summary>What the walk of a <see cref="TreeChecker"/> reads from, and tells what it finds.</summary>
internal unsafe interface ITreeCheckHost
{
    /// <summary>The size of a page in bytes.</summary>
    int PageSize { get; }

    /// <summary>Page numbers from here on do not exist.</summary>
    long PageLimit { get; }

    /// <summary>True when the walk is to stop at the next place from which it can go on.</summary>
    bool IsOver { get; }

    /// <summary>Takes a sentence that says what is wrong, with the page number.</summary>
    void Report(string problem);

    /// <summary>Notes that the tree owns pages. False when they have an owner already: the walk does not go into them again.</summary>
    bool Own(long first, int pages);

    /// <summary>The content of a page below the limit, or of the first page of a run; null when it cannot be used, which is reported.</summary>
    /// <param name="page">Its number.</param>
    /// <param name="again">The walk has been here before and goes on: the page on disk has been checked.</param>
    byte* Read(PageNumber page, bool again);

    /// <summary>Checks the chunks of a value that stands in pages without headers; what is damaged is reported.</summary>
    /// <param name="reference">The value; its pages are below the limit.</param>
    /// <param name="chunk">The first chunk to check; afterwards, the first one that has not been.</param>
    /// <returns>False when the walk is to stop before the value's end.</returns>
    bool CheckValue(in LargeExtentReference reference, ref long chunk);
}
