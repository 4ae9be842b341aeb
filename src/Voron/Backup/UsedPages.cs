using System.Numerics;
using Voron.ChangeTracking;
using Voron.Format;
using Voron.FreeSpace;
using Voron.Maintenance;
using Voron.Snapshots;

namespace Voron.Backup;

/// <summary>The pages that a snapshot uses, according to its section maps.</summary>
internal sealed unsafe class UsedPages(SectionMapLayout layout, SnapshotPages snapshot)
{
    private readonly SectionMap _map = new(layout, new SnapshotSpace(snapshot));

    /// <exception cref="CorruptionException">The section map is damaged.</exception>
    /// <exception cref="StorageAccessException">The section map cannot be read.</exception>
    public bool Contains(long page) => page < snapshot.PageCount && _map.IsUsed(page);

    /// <summary>Returns the first used page at or after a page; -1 if there is none.</summary>
    /// <param name="page">The page to begin with.</param>
    /// <param name="except">Returns the bits of the pages to skip, by word number; null to skip none.</param>
    /// <inheritdoc cref="Contains"/>
    public long Next(long page, Func<long, ulong>? except = null)
    {
        while (page < snapshot.PageCount)
        {
            // Each section begins at a word boundary of the bitmaps over all pages.
            var words = (ulong*)_map.ReadBitmap(layout.SectionOf(page));
            var from = (int)(page % layout.PagesPerSection);
            for (var word = from >> 6; word << 6 < layout.PagesPerSection; word++)
            {
                var bits = word == from >> 6 ? words[word] & (ulong.MaxValue << (from & 63)) : words[word];
                var firstPage = page - from + (word << 6);
                if (bits != 0 && firstPage < snapshot.PageCount && except != null)
                    bits &= ~except(firstPage >> 6);
                if (bits == 0)
                    continue;
                var found = firstPage + BitOperations.TrailingZeroCount(bits);
                return found < snapshot.PageCount ? found : -1;
            }

            page += layout.PagesPerSection - from;
        }

        return -1;
    }

    /// <summary>Returns the number of used pages in a set.</summary>
    /// <param name="among">Returns the bits of this set, by word number.</param>
    /// <inheritdoc cref="Contains"/>
    public long Count(Func<long, ulong> among)
    {
        var count = 0L;
        for (var word = 0L; word << 6 < snapshot.PageCount; word++)
        {
            if (among(word) is var bits && bits != 0)
                count += BitOperations.PopCount(bits & Word(word));
        }

        return count;
    }

    /// <summary>Sets the bits of all used pages.</summary>
    /// <returns>Their number.</returns>
    /// <inheritdoc cref="Contains"/>
    public long CopyTo(ChangedPages bits)
    {
        var count = 0L;
        for (var word = 0L; word << 6 < snapshot.PageCount; word++)
        {
            var used = Word(word);
            if (used != 0)
                bits.SetWord(word, used);
            count += BitOperations.PopCount(used);
        }

        return count;
    }

    // Each section begins at a word boundary of the bitmaps over all pages.
    private ulong Word(long word)
    {
        var page = word << 6;
        var bits = ((ulong*)_map.ReadBitmap(layout.SectionOf(page)))[page % layout.PagesPerSection >> 6];
        var left = snapshot.PageCount - page;
        return left >= 64 ? bits : bits & ((1UL << (int)left) - 1);
    }
}
