using System.Numerics;
using Voron.Format;

namespace Voron.Maintenance;

/// <summary>Checks the bitmaps of a group of sections against their counts, the page count and, where known, the owned pages.</summary>
internal sealed unsafe class SectionChecker(SectionMapLayout layout, Action<string> report)
{
    /// <summary>Checks the sections of a map page.</summary>
    /// <param name="map">The map page.</param>
    /// <param name="group">The group that the map page belongs to.</param>
    /// <param name="pageCount">The number of pages; pages from this number on do not exist.</param>
    /// <param name="owned">A bit for each page that has an owner; empty when owners are not known.</param>
    /// <returns>The number of free pages in the group.</returns>
    public long Check(byte* map, long group, long pageCount, ReadOnlySpan<ulong> owned)
    {
        var free = 0L;
        var first = group * layout.SectionsPerGroup;
        var end = Math.Min(first + layout.SectionsPerGroup, (pageCount + layout.PagesPerSection - 1) / layout.PagesPerSection);
        for (var section = first; section < end; section++)
            free += CheckSection(map, section, pageCount, owned);
        return free;
    }

    private long CheckSection(byte* map, long section, long pageCount, ReadOnlySpan<ulong> owned)
    {
        var words = (ulong*)(map + layout.BitmapOffset(section));
        var first = section * layout.PagesPerSection;
        var used = 0;
        var existing = Math.Min(layout.PagesPerSection, pageCount - first);
        for (var word = 0; word < layout.PagesPerSection / 64; word++)
        {
            var bits = words[word];
            used += BitOperations.PopCount(bits);
            var left = existing - word * 64L;
            var exists = left >= 64 ? ulong.MaxValue : left <= 0 ? 0 : (1UL << (int)left) - 1;
            for (var beyond = bits & ~exists; beyond != 0; beyond &= beyond - 1)
                report($"page {first + word * 64 + BitOperations.TrailingZeroCount(beyond)} is marked as used, but there are only {pageCount} pages");
            if (!owned.IsEmpty && exists != 0)
                Compare(bits & exists, owned[(int)(first / 64) + word] & exists, first + word * 64);
        }

        var claimed = *(ushort*)(map + layout.CountOffset(section));
        if (used != claimed)
            report($"section {section} counts {claimed} used pages, but its bitmap has {used}");
        return existing - Math.Min(existing, used);
    }

    private void Compare(ulong used, ulong owned, long firstPage)
    {
        for (var differing = used ^ owned; differing != 0; differing &= differing - 1)
        {
            var bit = BitOperations.TrailingZeroCount(differing);
            report($"page {firstPage + bit} is marked as {((used >> bit & 1) != 0 ? "used, but no tree and no map owns it" : "free, but a tree or a map owns it")}");
        }
    }
}
