using Voron.Format;

namespace Voron.Backup;

/// <summary>An overflow extent whose first pages have been added, in order.</summary>
internal sealed unsafe class RunningExtent(long first, long pages, ulong expected)
{
    private Checksum.Stream _checksum = new();
    private long _seen;

    /// <summary>The first page.</summary>
    public long First => first;

    /// <summary>The number of pages, by the header of the first one.</summary>
    public long Pages => pages;

    /// <summary>The next page of the extent.</summary>
    public long Next => first + _seen;

    /// <summary>True if all pages have been added.</summary>
    public bool IsComplete => _seen == pages;

    /// <summary>Adds the next page.</summary>
    public void Add(byte* page, int pageSize)
    {
        var skipped = _seen == 0 ? PageHeader.UnjournaledBytes : 0;
        _checksum.Add(page + skipped, (nuint)(pageSize - skipped));
        _seen++;
    }

    /// <summary>Returns true if the checksum of all pages matches.</summary>
    public bool IsSound(RandomId environmentId) => _checksum.Finish(Checksum.Seed(environmentId, first)) == expected;
}
