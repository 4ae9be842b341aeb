using Voron.Paging;
using Voron.Testing;

namespace Voron.Recovery;

/// <summary>
/// The checksums of pages that replayed transactions have written directly to the data file, and that no later record has changed so far.
/// </summary>
/// <remarks>
/// The page's own checksum proves only that the page was written at some time. The checksum in the record proves that it is the page of this
/// transaction: it does not match if the device lost the write after it had acknowledged the sync.
/// </remarks>
/// <param name="dataFile">The data file.</param>
internal sealed unsafe class DirectPageSums(DataFile dataFile)
{
    private readonly Dictionary<long, ulong> _checksums = [];

    public void Add(long page, ulong checksum) => _checksums[page] = checksum;

    public void Remove(long page) => _checksums.Remove(page);

    /// <summary>Removes a page from the list. Returns false if the list does not contain it.</summary>
    public bool TryTake(long page, out ulong checksum) => _checksums.Remove(page, out checksum);

    /// <summary>Checks all pages below a page count, in page order.</summary>
    /// <returns>A sentence that describes the first fault; null if there is none.</returns>
    public string? FindFault(long pageCount, out Exception? cause)
    {
        cause = null;
        foreach (var page in Pages())
        {
            if (page < pageCount && FindFault(page, _checksums[page], out cause) is { } fault)
                return fault;
        }

        return null;
    }

    /// <summary>Adds all faulty pages below a page count to those that are lost, each with a sentence that describes the fault.</summary>
    public void LoseFaulty(long pageCount, IDictionary<long, string> lost)
    {
        foreach (var page in Pages())
        {
            if (page < pageCount && FindFault(page, _checksums[page], out _) is { } fault)
                lost.TryAdd(page, fault);
        }
    }

    private long[] Pages()
    {
        var pages = new long[_checksums.Count];
        _checksums.Keys.CopyTo(pages, 0);
        Array.Sort(pages);
        return pages;
    }

    /// <summary>Checks a page in the data file.</summary>
    /// <returns>A sentence that describes the fault; null if the page is the one that the transaction wrote.</returns>
    public string? FindFault(long page, ulong expected, out Exception? cause)
    {
        if (dataFile.TryVerify(page, out cause) is { } fault)
            return fault;
        ulong actual;
        dataFile.File.Read(page * dataFile.PageSize, new Span<byte>(&actual, sizeof(ulong)));
        return actual == expected || PlantedFault.BelievePages
            ? null
            : $"Page {page} of '{dataFile.File.Path}' is damaged: the transaction that wrote it recorded the checksum {expected:X16}, but the page has " +
              $"{actual:X16}, so an older page is in its place.";
    }
}
