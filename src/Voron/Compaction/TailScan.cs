using Voron.Format;
using Voron.Snapshots;
using Voron.Transactions;
using Voron.Trees;
using Voron.Trees.IdSets;
using Voron.Trees.Kinds;

namespace Voron.Compaction;

/// <summary>Finds the pages and values in the tail of the file: reads trees without the writer, under a snapshot renewed for each stretch.</summary>
/// <param name="snapshot">The snapshot, which this class takes and releases.</param>
internal sealed class TailScan(RenewedSnapshot snapshot)
{
    /// <summary>The maximum number of branches examined under one snapshot: their pages may have to be read from the device.</summary>
    private const int MaxBranches = 64;

    /// <summary>
    /// The maximum number of entries, and of pages of sets, examined under one snapshot. The last set is examined completely.
    /// </summary>
    private const int MaxEntries = 4096;

    /// <summary>The number of pages, or values, after which a stretch ends.</summary>
    private const int MaxFound = 64;

    /// <summary>The first page of the tail.</summary>
    public long TailStart { get; set; }

    /// <summary>Finds the next tree by its name; null if there is none.</summary>
    /// <param name="name">The name of the last tree; null for the first tree.</param>
    /// <param name="hasExtents">True if the tree has values or sets with separate pages.</param>
    public byte[]? NextTree(byte[]? name, out bool hasExtents)
    {
        hasExtents = false;
        snapshot.Take();
        try
        {
            var pages = snapshot.Pages;
            var cursor = new TreeCursor();
            cursor.Open(new TreeState(pages.State.Catalog), pages, canChange: false);
            var isFound = name == null ? cursor.SeekFirst() : cursor.SeekExact(name) ? cursor.MoveNext() : cursor.IsOnEntry;
            if (!isFound)
                return null;
            var header = Catalog.ToHeader(cursor.Key, cursor.Value, pages.PageCount, pages.PageSize, pages.FilePath);
            hasExtents = header.OverflowPages > 0 || header.NestedPages > 0;
            return cursor.Key.ToArray();
        }
        finally
        {
            snapshot.Release();
        }
    }

    /// <summary>Finds keys that lead to branches and leaves in the tail.</summary>
    /// <param name="name">The name of the tree; null for the catalog.</param>
    /// <param name="key">The key to begin with; then the key to continue with, or null at the end of the tree.</param>
    /// <param name="keys">Receives the keys.</param>
    public void FindPages(byte[]? name, ref byte[]? key, List<byte[]> keys) => key = InTree(name, key!, (pages, state, from) =>
    {
        var tail = new TreeTail(state, pages, TailStart);
        var found = 0;
        for (var looked = 0; from != null && looked < MaxBranches && found < MaxFound; looked++)
        {
            var next = tail.Look(from, out var count);
            if (count > 0)
                keys.Add(from);
            found += count;
            from = next;
        }

        return from;
    });

    /// <summary>Finds keys whose values have separate pages in the tail.</summary>
    /// <param name="name">The name of the tree.</param>
    /// <param name="isShort">
    /// True for overflow extents that are short enough to be copied with the writer held, and for sets; false for all other values.
    /// </param>
    /// <param name="key">The key to begin with; then the key to continue with, or null at the end of the tree.</param>
    /// <param name="keys">Receives the keys.</param>
    public void FindValues(byte[] name, bool isShort, ref byte[]? key, List<byte[]> keys) =>
        key = InTree(name, key!, (pages, state, from) =>
        {
            var cursor = new TreeCursor();
            cursor.Open(state, pages, canChange: false);
            var isOnEntry = cursor.Seek(from);
            for (var looked = 0L; isOnEntry; isOnEntry = cursor.MoveNext(), looked++)
            {
                if (looked >= MaxEntries || keys.Count == MaxFound)
                    return cursor.Key.ToArray();
                if (IsInTail(pages, cursor, isShort, ref looked))
                    keys.Add(cursor.Key.ToArray());
            }

            return null;
        });

    private bool IsInTail(SnapshotPages pages, TreeCursor cursor, bool isShort, ref long looked)
    {
        var isInTail = IdTreeReader.HasPagesFrom(pages, cursor, TailStart, out var passed);
        looked += passed;
        if (isInTail)
            return isShort;
        return FoundValue.Of(pages, cursor) is { } value
            && (value.Kind == ValueKind.Overflow && value.Length <= PageMover.MaxBytes) == isShort && value.LastPage(pages.PageSize) >= TailStart;
    }

    private byte[]? InTree(byte[]? name, byte[] key, Func<SnapshotPages, TreeState, byte[]?, byte[]?> work)
    {
        snapshot.Take();
        try
        {
            var pages = snapshot.Pages;
            var header = pages.State.Catalog;
            if (name != null && !Catalog.TryFind(new TreeState(header), pages, name, out header))
                return null;
            return header.RootPage == 0 ? null : work(pages, new TreeState(header), key);
        }
        finally
        {
            snapshot.Release();
        }
    }
}
