using Voron.Format;
using Voron.Trees;

namespace Voron.FreeSpace;

/// <summary>What the section maps need of the open write transaction: they are pages of it like any others.</summary>
internal unsafe interface ISpacePages
{
    /// <summary>Pages below this number have a bit. Rolled back with the transaction.</summary>
    long PageCount { get; set; }

    /// <summary>Makes sure that the pages below the number have blocks in the data file and an address.</summary>
    /// <exception cref="StorageFullException">There is no room.</exception>
    void EnsureCapacity(long pageCount);

    byte* ReadPage(long page);

    WritablePage ModifyPage(long page);

    /// <summary>Makes a page of a number that the caller has chosen: zeroed, with its header.</summary>
    WritablePage AddPage(long page, PageKind kind);

    /// <summary>Makes sure that free pages, which are about to be used, have blocks: those that were given back have none.</summary>
    /// <exception cref="StorageFullException">There is no room.</exception>
    void EnsureBlocks(long firstPage, long pages);

    /// <summary>Which pages of a section may have no blocks: a bit each, as in the section's bitmap; null when all have.</summary>
    ulong* Holes(long section) => null;

    /// <summary>True when any version of the page exists: it has changed hands since the last checkpoint.</summary>
    bool HasVersion(long page);
}
