using System.Runtime.CompilerServices;

namespace Voron.Trees;

/// <summary>Finds a key among the records of a page.</summary>
/// <remarks>
/// First the heads alone are searched, without a branch on what is found: half of such branches would be mispredicted, and
/// each costs more than the compare. The two records that the next step can look at are prefetched, so that a cold page is
/// waited for about half as often. Only records with the very head of the key are compared as a whole.
/// </remarks>
internal static unsafe class PageSearch
{
    // With fewer entries left, the records have been asked for already or nearly so.
    private const int PrefetchFrom = 3;

    /// <summary>The index of the record with this key among those from <paramref name="first"/> on; if there is none, the
    /// complement of where it belongs.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int Find<T>(byte* page, int first, in SearchKey key)
        where T : struct, IRecordLayout
    {
        var slots = SlottedPage.Slots(page);
        var count = SlottedPage.Count(page);
        var head = key.Head;
        var low = first;
        for (var left = count - first; left > 0;)
        {
            var half = left >> 1;
            if (half >= PrefetchFrom)
            {
                var quarter = half >> 1;
                SearchKey.Prefetch(page + slots[low + quarter]);
                SearchKey.Prefetch(page + slots[low + half + quarter]);
            }

            var record = page + slots[low + half];
            var below = SearchKey.HeadInPage(record + T.KeyOffset, T.KeyLength(record)) < head ? 1 : 0;
            low += (half + 1) & -below;
            left = half - (((left & 1) ^ 1) & below);
        }

        if (low == count)
            return ~low;

        var found = page + slots[low];
        var order = key.CompareStored(found + T.KeyOffset, T.KeyLength(found));
        if (order == 0)
            return low;

        return order > 0 ? ~low : FindAmongEqualHeads<T>(page, low + 1, key);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int FindAmongEqualHeads<T>(byte* page, int first, in SearchKey key)
        where T : struct, IRecordLayout
    {
        var low = first;
        var high = SlottedPage.Count(page) - 1;
        while (low <= high)
        {
            var middle = (low + high) >>> 1;
            var record = SlottedPage.Record(page, middle);
            var order = key.CompareStored(record + T.KeyOffset, T.KeyLength(record));
            if (order == 0)
                return middle;

            if (order < 0)
                low = middle + 1;
            else
                high = middle - 1;
        }

        return ~low;
    }
}
