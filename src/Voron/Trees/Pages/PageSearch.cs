using System.Runtime.CompilerServices;
using Voron.IO;
using Voron.Testing;

namespace Voron.Trees.Pages;

/// <summary>Finds a key among the records of a page.</summary>
/// <remarks>
/// The loop branches on the result of each comparison. Half of these branches are mispredicted, but the processor already reads the record that its
/// guess leads to: for uncached pages, that was faster than a loop without branches.
/// </remarks>
internal static unsafe class PageSearch
{
    /// <summary>
    /// Returns the index of the record with this key among those from <paramref name="first"/> on; if there is none, the complement of
    /// its insertion index.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int Find<T>(byte* page, int first, in SearchKey key)
        where T : struct, IRecordLayout => FindBetween<T>(page, first, SlottedPage.Count(page) - (PlantedFault.SearchMissesLast ? 2 : 1), key);

    /// <summary>Like <see cref="Find"/>, among the records from <paramref name="low"/> to <paramref name="high"/> inclusive.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int FindBetween<T>(byte* page, int low, int high, in SearchKey key)
        where T : struct, IRecordLayout
    {
        var slots = SlottedPage.Slots(page);
        var head = key.Head;
        while (low <= high)
        {
            var middle = (low + high) >>> 1;
            var record = page + slots[middle];
            var length = T.KeyLength(record);
            var stored = SearchKey.HeadInPage(record + T.KeyOffset, length);
            if (stored < head)
            {
                low = middle + 1;
            }
            else if (stored > head)
            {
                high = middle - 1;
            }
            else
            {
                var order = key.CompareTail(record + T.KeyOffset, length);
                if (order == 0)
                    return middle;

                if (order < 0)
                    low = middle + 1;
                else
                    high = middle - 1;
            }
        }

        return ~low;
    }

    /// <summary>Returns the index after the last record before a bound, but at least <paramref name="first"/>.</summary>
    public static int FindEnd<T>(byte* page, int first, scoped KeyBound bound)
        where T : struct, IRecordLayout
    {
        var high = SlottedPage.Count(page);
        while (first < high)
        {
            var middle = (first + high) >>> 1;
            var record = SlottedPage.Record(page, middle);
            if (bound.IsAfter(new ReadOnlySpan<byte>(record + T.KeyOffset, T.KeyLength(record))))
                first = middle + 1;
            else
                high = middle;
        }

        return first;
    }

    /// <summary>Prefetches all keys of a page together, before a search compares some of them one after the other.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void PrefetchKeys(byte* page, int atMost)
    {
        var slots = SlottedPage.Slots(page);
        var count = SlottedPage.Count(page);
        if (count > atMost)
            return;

        for (var i = 0; i < count; i++)
            CacheLines.Prefetch(page + slots[i]);
    }
}
