using Voron.Primitives;
using Voron.Transactions;

namespace Voron.Compaction;

/// <summary>Moves the map pages and the directory pages of the free-space map, which the section map names by their numbers.</summary>
internal static class MapMover
{
    /// <summary>The maximum number of groups examined while the writer is held.</summary>
    private const int MaxGroups = 512;

    /// <summary>Moves the map pages of some groups.</summary>
    /// <param name="pages">The writer's pages.</param>
    /// <param name="mover">Moves a page.</param>
    /// <param name="group">The first group; then the one to continue with, or -1 when there is none.</param>
    /// <returns>False if a page could not be moved: <see cref="PageMover.Obstacle"/>.</returns>
    public static bool TryMoveSome(CopyOnWritePages pages, PageMover mover, ref long group)
    {
        var map = pages.Space.Map;
        for (var looked = 0; looked < MaxGroups; looked++, group++)
        {
            if (group > pages.Layout.GroupOf(pages.PageCount - 1))
            {
                group = -1;
                return true;
            }

            var current = group;
            if (!TryMove(pages, mover, map.MapPage(group), to => map.SetMapPage(current, to)))
                return false;
            if (group % pages.Layout.NumbersPerPage == 0
                && !TryMove(pages, mover, map.DirectoryPage(group), to => map.SetDirectoryPage(current, to)))
                return false;
        }

        return true;
    }

    // The old page is freed last: its bit may be in the very map that moves.
    private static bool TryMove(CopyOnWritePages pages, PageMover mover, long page, Action<long> name)
    {
        var number = new PageNumber(page);
        if (!mover.ShouldMove(number, 1))
            return true;
        if (!mover.TryCopy(number, out var moved))
            return false;
        name(moved.Value);
        pages.Free(number);
        return true;
    }
}
