using Voron.Format;
using Voron.Paging;

namespace Voron.FreeSpace;

/// <summary>The section maps' view of the open write transaction: they are pages of it like any others.</summary>
internal unsafe interface ISpacePages
{
    /// <summary>The path of the file that holds the pages, for messages.</summary>
    string FilePath { get; }

    /// <summary>Pages below this number have a bit. Rolled back with the transaction.</summary>
    long PageCount { get; set; }

    /// <summary>Ensures that the pages below the number have blocks in the data file and an address.</summary>
    /// <exception cref="StorageFullException">There is not enough space.</exception>
    void EnsureCapacity(long pageCount);

    byte* ReadPage(long page);

    WritablePage ModifyPage(long page);

    /// <summary>Creates a page with a number chosen by the caller: zeroed, with its header.</summary>
    WritablePage AddPage(long page, PageKind kind);

    /// <summary>Ensures that free pages that are about to be used have blocks: pages that were returned have none.</summary>
    /// <exception cref="StorageFullException">There is not enough space.</exception>
    void EnsureBlocks(long firstPage, long pages);

    /// <summary>
    /// Returns the pages of a section that may have no blocks: a bit each, as in the section's bitmap; null when all have blocks.
    /// </summary>
    ulong* Holes(long section) => null;

    /// <summary>True when some pages of a section may have no blocks.</summary>
    bool HasHoles(long firstPage, long pages) => false;

    /// <summary>Asserts that the caller holds the writer; does nothing where there is none. Called in debug builds only.</summary>
    void AssertWriterHeld()
    {
    }

    /// <summary>True when any version of the page exists: it has changed hands since the last checkpoint.</summary>
    bool HasVersion(long page);
}
