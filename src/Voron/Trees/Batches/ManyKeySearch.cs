using System.Diagnostics;
using System.Runtime.CompilerServices;
using Voron.IO;
using Voron.Paging;
using Voron.Primitives;
using Voron.Trees.KeyHeads;
using Voron.Trees.Pages;

namespace Voron.Trees.Batches;

/// <summary>
/// Searches for many keys together. A single search waits for memory at each of its steps. Here, all searches of a group take a step and prefetch
/// the memory for the next one, so that they wait together.
/// </summary>
/// <remarks>
/// The scheme is known as group prefetching (Chen, Ailamaki, Gibbons and Mowry: Improving hash join performance through
/// prefetching, 2004).
/// </remarks>
internal static unsafe class ManyKeySearch
{
    /// <summary>
    /// The largest number of keys in a group. A processor core keeps ten to sixteen cache lines in flight; more searches than
    /// that also hide their own work.
    /// </summary>
    public const int Width = 32;

    // A record of about 150 bytes: its key and the beginning of its value.
    private const int RecordLines = 3;

    /// <summary>Finds the leaf for each key with the help of the writer's key heads. The tree must have a root.</summary>
    /// <param name="state">The tree.</param>
    /// <param name="writer">The pages of the tree.</param>
    /// <param name="heads">The key heads of the tree's branches. Missing ones are built.</param>
    /// <param name="keys">The keys, at most <see cref="Width"/>.</param>
    /// <param name="count">The number of keys.</param>
    /// <param name="leaves">Receives the page number of each key's leaf. The leaves themselves are not read.</param>
    /// <exception cref="CorruptionException">A page on the path is damaged.</exception>
    public static void FindLeaves(TreeState state, PageWriter writer, BranchKeyHeads heads, SearchKey* keys, int count, PageNumber* leaves)
    {
        Debug.Assert(count <= Width);
        state.CheckDepth(writer);
        for (var i = 0; i < count; i++)
            leaves[i] = state.Root;

        for (var level = state.Depth - 1; level > 0; level--)
        {
            for (var i = 0; i < count; i++)
            {
                var entry = heads.Find(leaves[i]);
                if (entry == null)
                    entry = heads.Build(leaves[i], TreePages.ReadBranch(writer, leaves[i]));

                // Heads that equal the key's own head are inconclusive: then the branch itself decides.
                entry->Search(keys[i], out var child, out var notGreater);
                if (child != notGreater)
                    child = BranchPage.SearchBetween(TreePages.ReadBranch(writer, leaves[i]), keys[i], child, notGreater);
                leaves[i] = heads.Child(entry, child);
                if (level > 1)
                    heads.Prefetch(writer, leaves[i]);
            }
        }
    }

    /// <summary>Finds the record of each key, or null where the tree does not contain the key. The tree must have a root.</summary>
    /// <param name="state">The tree.</param>
    /// <param name="reader">The pages of the tree.</param>
    /// <param name="keys">The keys, at most <see cref="Width"/>.</param>
    /// <param name="count">The number of keys.</param>
    /// <param name="records">Receives the record of each key.</param>
    /// <exception cref="CorruptionException">A page on the path is damaged.</exception>
    [SkipLocalsInit]
    public static void FindRecords(TreeState state, PageReader reader, SearchKey* keys, int count, byte** records)
    {
        Debug.Assert(count <= Width);
        state.CheckDepth(reader);
        var pages = stackalloc PageNumber[Width];
        for (var i = 0; i < count; i++)
            pages[i] = state.Root;

        for (var level = state.Depth - 1; level > 0; level--)
            StepDown(reader, state.KeyHeads, level, keys, count, pages);
        FindInLeaves(reader, state.KeyHeads, keys, count, pages, records);
    }

    /// <summary>Moves each search from its branch to a child.</summary>
    [SkipLocalsInit]
    private static void StepDown(PageReader reader, TransactionKeyHeads? keyHeads, int level, SearchKey* keys, int count, PageNumber* pages)
    {
        var indices = stackalloc int[Width];
        var restKeys = stackalloc SearchKey[Width];
        var rest = new Rest(indices, restKeys);
        var heads = keyHeads?.DataFile;
        if (heads == null)
        {
            rest.AddAll(keys, count);
        }
        else
        {
            var places = stackalloc ChildPlace[Width];
            for (var i = 0; i < count; i++)
            {
                var filePage = reader.DataFilePage(pages[i]);
                if (filePage == null || !heads.TrySearch(pages[i], filePage, keys[i], out places[i]))
                    places[i] = default;
            }

            for (var i = 0; i < count; i++)
            {
                if (places[i].Entry != null && DataFileKeyHeads.TryChild(places[i], out var child))
                {
                    pages[i] = child;
                    Prefetch(reader, heads, child, level - 1);
                }
                else
                {
                    rest.Add(i, keys[i]);
                }
            }
        }

        if (rest.Count > 0)
            StepDownInPages(reader, keyHeads, level, ref rest, pages);
    }

    /// <summary>Like <see cref="StepDown"/>, for pages without key heads. Builds the heads of data-file pages.</summary>
    [SkipLocalsInit]
    private static void StepDownInPages(PageReader reader, TransactionKeyHeads? keyHeads, int level, ref Rest rest, PageNumber* pages)
    {
        var branches = stackalloc byte*[Width];
        var places = stackalloc int[Width];
        var heads = keyHeads?.DataFile;
        for (var i = 0; i < rest.Count; i++)
        {
            var page = pages[rest.Indices[i]];
            if (i > 0 && page == pages[rest.Indices[i - 1]])
            {
                branches[i] = branches[i - 1];
                continue;
            }

            branches[i] = TreePages.ReadBranch(reader, page);
            if (heads != null && reader.DataFilePage(page) != null)
                keyHeads!.AddBranch(page, branches[i]);
        }

        FindPlaces<BranchPage>(branches, rest.Keys, rest.Count, 1, places);
        for (var i = 0; i < rest.Count; i++)
        {
            // Entry 0 has no separator: all keys below the first separator belong to it.
            var child = BranchPage.Child(branches[i], places[i] >= 0 ? places[i] : ~places[i] - 1);
            pages[rest.Indices[i]] = child;
            Prefetch(reader, heads, child, level - 1);
        }
    }

    [SkipLocalsInit]
    private static void FindInLeaves(PageReader reader, TransactionKeyHeads? keyHeads, SearchKey* keys, int count, PageNumber* pages, byte** records)
    {
        var filePages = stackalloc byte*[Width];
        var found = stackalloc LeafPlace[Width];
        var indices = stackalloc int[Width];
        var restKeys = stackalloc SearchKey[Width];
        var rest = new Rest(indices, restKeys);
        var heads = keyHeads?.DataFile;
        if (heads == null)
        {
            rest.AddAll(keys, count);
        }
        else
        {
            for (var i = 0; i < count; i++)
            {
                filePages[i] = reader.DataFilePage(pages[i]);
                if (filePages[i] != null && heads.TryPlace(pages[i], filePages[i], keys[i], out found[i]))
                {
                    CacheLines.PrefetchRange(found[i].Record, RecordLines * CacheLines.LineBytes);
                }
                else
                {
                    filePages[i] = null;
                    rest.Add(i, keys[i]);
                }
            }
        }

        if (rest.Count > 0)
            FindInPages(reader, keyHeads, ref rest, pages, records);
        if (rest.Count == count)
            return;
        for (var i = 0; i < count; i++)
        {
            if (filePages[i] != null)
                records[i] = found[i].Resolve(filePages[i], keys[i]);
        }
    }

    /// <summary>Like <see cref="FindInLeaves"/>, for pages without key heads. Builds the heads of data-file pages.</summary>
    [SkipLocalsInit]
    private static void FindInPages(PageReader reader, TransactionKeyHeads? keyHeads, ref Rest rest, PageNumber* pages, byte** records)
    {
        var leaves = stackalloc byte*[Width];
        var places = stackalloc int[Width];
        for (var i = 0; i < rest.Count; i++)
        {
            var page = pages[rest.Indices[i]];
            leaves[i] = TreePages.ReadLeaf(reader, page);
            if (keyHeads?.DataFile != null && reader.DataFilePage(page) != null)
                keyHeads.AddLeaf(page, leaves[i]);
        }

        FindPlaces<LeafPage>(leaves, rest.Keys, rest.Count, 0, places);
        for (var i = 0; i < rest.Count; i++)
        {
            var record = places[i] < 0 ? null : SlottedPage.Record(leaves[i], places[i]);
            records[rest.Indices[i]] = record;

            // The value follows the key that was just compared, usually in the next cache lines.
            if (record != null)
                CacheLines.PrefetchRange(record + CacheLines.LineBytes, (RecordLines - 1) * CacheLines.LineBytes);
        }
    }

    /// <summary>Prefetches the memory that the next step of a search will read.</summary>
    private static void Prefetch(PageReader reader, DataFileKeyHeads? heads, PageNumber page, int level)
    {
        if (heads == null)
        {
            var bytes = reader.Peek(page);
            CacheLines.Prefetch(bytes);
            CacheLines.Prefetch(bytes + CacheLines.LineBytes);
            return;
        }

        reader.PrefetchDataFilePage(page);
        if (level == 0)
            heads.PrefetchLeaf(page);
        else
            heads.PrefetchBranch(page);
    }

    /// <summary>
    /// Finds the index of each key in its page among the records from <paramref name="first"/> on; for a missing key, the complement of
    /// its insertion index.
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

                // Both outcomes are equally likely: a branch would be mispredicted half of the time.
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

    /// <summary>The searches of a group that must read pages.</summary>
    private struct Rest(int* indices, SearchKey* keys)
    {
        public readonly int* Indices = indices;
        public readonly SearchKey* Keys = keys;

        public int Count { get; private set; }

        public void Add(int index, in SearchKey key)
        {
            Indices[Count] = index;
            Keys[Count++] = key;
        }

        public void AddAll(SearchKey* keys, int count)
        {
            for (var i = 0; i < count; i++)
                Add(i, keys[i]);
        }
    }

    /// <summary>The progress of one search within its page.</summary>
    private struct Search
    {
        public byte* Page;
        public ulong Head;
        public int Low;
        public int High;

        // In one of five records, the header and the first bytes of the key span two cache lines.
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
