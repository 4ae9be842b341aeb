using System.Numerics;

namespace Voron.Transactions;

/// <summary>The extent lengths for a value of unknown length: each extent is at least twice as long as the one before.</summary>
/// <param name="pageSize">The page size.</param>
/// <param name="leastBytes">The length of the first extent, if that is enough.</param>
internal readonly struct ExtentGrowth(int pageSize, int leastBytes)
{
    private readonly int _pageShift = BitOperations.Log2((uint)pageSize);

    /// <summary>Returns the number of pages that a number of bytes needs.</summary>
    public long PagesFor(long bytes) => (bytes + (1L << _pageShift) - 1) >> _pageShift;

    /// <summary>Returns the number of pages of the next extent.</summary>
    /// <param name="needed">The number of pages needed now.</param>
    /// <param name="pages">The number of pages of the extent so far.</param>
    public long Next(long needed, long pages)
    {
        var wanted = Math.Max(2 * pages, leastBytes >> _pageShift);
        return Math.Max(needed, Math.Min(wanted, PagesFor(ValuePipe.MaxValueBytes)));
    }
}
