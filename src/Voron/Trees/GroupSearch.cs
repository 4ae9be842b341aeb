using System.Diagnostics;
using System.Runtime.CompilerServices;
using Voron.IO;
using Voron.Primitives;

namespace Voron.Trees;

/// <summary>
/// Looks for many keys at once. One search waits for memory at each of its steps; here all searches of a group take a step
/// and ask for what the next one needs, so that they wait together.
/// </summary>
/// <remarks>
/// The scheme is known as group prefetching (Chen, Ailamaki, Gibbons and Mowry: Improving hash join performance through
/// prefetching, 2004).
/// </remarks>
internal static unsafe class GroupSearch
{
    /// <summary>
    /// The most keys of a group. A core keeps ten to sixteen lines under way; more searches than that hide their own work too.
    /// </summary>
    public const int Width = 32;

    /// <summary>Finds the leaf for each key. The tree has a root.</summary>
    /// <param name="state">The tree.</param>
    /// <param name="reader">Its pages.</param>
    /// <param name="keys">The keys, at most <see cref="Width"/>.</param>
    /// <param name="count">How many there are.</param>
    /// <param name="leaves">Gets the number of each key's leaf. The leaves have not been looked at.</param>
    /// <exception cref="CorruptionException">A page on the way is damaged.</exception>
    [SkipLocalsInit]
    public static void FindLeaves(TreeState state, PageReader reader, SearchKey* keys, int count, PageNumber* leaves)
    {
        Debug.Assert(count <= Width);
        TreeReader.CheckDepth(state);
        for (var i = 0; i < count; i++)
            leaves[i] = state.Root;

        var branches = stackalloc byte*[Width];
        var places = stackalloc int[Width];
        for (var level = state.Depth - 1; level > 0; level--)
        {
            branches[0] = TreeReader.ReadBranch(reader, leaves[0]);
            for (var i = 1; i < count; i++)
                branches[i] = leaves[i] == leaves[i - 1] ? branches[i - 1] : TreeReader.ReadBranch(reader, leaves[i]);
            FindPlaces<BranchPage>(branches, keys, count, 1, places);
            for (var i = 0; i < count; i++)
            {
                // Entry 0 has no separator: everything below the first separator is its.
                var child = places[i] >= 0 ? places[i] : ~places[i] - 1;
                leaves[i] = BranchPage.Child(branches[i], child);
                var next = reader.Peek(leaves[i]);
                CacheLines.Prefetch(next);
                CacheLines.Prefetch(next + CacheLines.LineBytes);
            }
        }
    }

    /// <summary>As <see cref="FindLeaves(TreeState, PageReader, SearchKey*, int, PageNumber*)"/>, with the help of heads.</summary>
    public static void FindLeaves(TreeState state, PageWriter writer, BranchHeads heads, SearchKey* keys, int count, PageNumber* leaves)
    {
        Debug.Assert(count <= Width);
        TreeReader.CheckDepth(state);
        for (var i = 0; i < count; i++)
            leaves[i] = state.Root;

        for (var level = state.Depth - 1; level > 0; level--)
        {
            for (var i = 0; i < count; i++)
            {
                var entry = heads.Find(leaves[i]);
                if (entry == null)
                    entry = heads.Build(leaves[i], TreeReader.ReadBranch(writer, leaves[i]));
                leaves[i] = heads.Search(entry, writer, keys[i]);
                if (level > 1)
                    heads.Prefetch(writer, leaves[i]);
            }
        }
    }

    /// <summary>Finds the record of each key, or null where the tree does not have it.</summary>
    /// <inheritdoc cref="FindLeaves(TreeState, PageReader, SearchKey*, int, PageNumber*)"/>
    [SkipLocalsInit]
    public static void FindRecords(TreeState state, PageReader reader, SearchKey* keys, int count, byte** records)
    {
        var leaves = stackalloc PageNumber[Width];
        var places = stackalloc int[Width];
        FindLeaves(state, reader, keys, count, leaves);
        for (var i = 0; i < count; i++)
            records[i] = TreeReader.ReadLeaf(reader, leaves[i]);
        FindPlaces<LeafPage>(records, keys, count, 0, places);
        for (var i = 0; i < count; i++)
        {
            if (places[i] < 0)
            {
                records[i] = null;
                continue;
            }

            // The value lies behind the key that was just compared, usually in the lines that follow it.
            records[i] = SlottedPage.Record(records[i], places[i]);
            CacheLines.Prefetch(records[i] + CacheLines.LineBytes);
            CacheLines.Prefetch(records[i] + 2 * CacheLines.LineBytes);
        }
    }

    /// <summary>
    /// The index of each key in its page among the records from <paramref name="first"/> on; where there is none, the
    /// complement of where it belongs.
    /// </summary>
    [SkipLocalsInit]
    private static void FindPlaces<T>(byte** pages, SearchKey* keys, int count, int first, int* places)
        where T : struct, IRecordLayout
    {
        var searches = stackalloc Search[Width];
        var active = stackalloc int[Width];
        var left = 0;
        for (var i = 0; i < count; i++)
        {
            var search = searches + i;
            *search = new Search { Page = pages[i], Head = keys[i].Head, Low = first, High = SlottedPage.Count(pages[i]) - 1 };
            if (search->Low > search->High)
            {
                places[i] = ~first;
                continue;
            }

            active[left++] = i;
            search->PrefetchMiddle<T>();
        }

        while (left > 0)
        {
            var kept = 0;
            for (var a = 0; a < left; a++)
            {
                var i = active[a];
                var search = searches + i;
                var middle = (search->Low + search->High) >>> 1;
                var record = SlottedPage.Record(search->Page, middle);
                var length = T.KeyLength(record);
                var stored = SearchKey.HeadInPage(record + T.KeyOffset, length);
                var isLess = stored < search->Head;
                if (stored == search->Head)
                {
                    var order = keys[i].CompareTail(record + T.KeyOffset, length);
                    if (order == 0)
                    {
                        places[i] = middle;
                        continue;
                    }

                    isLess = order < 0;
                }

                // Either way with the same chance: a branch would be foretold wrongly half of the time.
                var up = -(int)Unsafe.As<bool, byte>(ref isLess);
                search->Low += (middle + 1 - search->Low) & up;
                search->High += (middle - 1 - search->High) & ~up;
                if (search->Low > search->High)
                {
                    places[i] = ~search->Low;
                    continue;
                }

                search->PrefetchMiddle<T>();
                active[kept++] = i;
            }

            left = kept;
        }
    }

    /// <summary>Where the search of a page has got to.</summary>
    private struct Search
    {
        public byte* Page;
        public ulong Head;
        public int Low;
        public int High;

        // One record in five has its header and the first bytes of its key in two lines.
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public readonly void PrefetchMiddle<T>()
            where T : struct, IRecordLayout
        {
            var record = SlottedPage.Record(Page, (Low + High) >>> 1);
            CacheLines.Prefetch(record);
            CacheLines.Prefetch(record + T.KeyOffset + sizeof(ulong) - 1);
        }
    }
}
