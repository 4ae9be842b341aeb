using Voron.Primitives;
using Voron.Trees.IdSets.Pages;

namespace Voron.Trees;

/// <summary>Moves pages of a tree to lower places, without regard to what refers to them.</summary>
internal interface IPageMover
{
    /// <summary>
    /// The place in a set of ids at which the last move of its pages ended. The next move of the set begins there, so that moving it a few pages at a
    /// time does not look at all its pages each time.
    /// </summary>
    IdSetPlace SetPlace { get; set; }

    /// <summary>True if pages in a row should be moved: some of them lie in the tail that is being emptied.</summary>
    bool ShouldMove(PageNumber first, long pages);

    /// <summary>Copies a branch or a leaf to a lower place, and frees the old one.</summary>
    /// <param name="page">The page.</param>
    /// <param name="moved">The new place.</param>
    /// <returns>False if there is no place now; nothing has changed then.</returns>
    bool TryMove(PageNumber page, out PageNumber moved);

    /// <summary>Verifies a page on the device, before what refers to a moved page is changed in it.</summary>
    /// <exception cref="CorruptionException">The page is damaged.</exception>
    void Verify(PageNumber page);

    /// <summary>As <see cref="TryMove"/>, for an overflow extent.</summary>
    bool TryMoveExtent(PageNumber first, out PageNumber moved);
}

/// <summary>A place in a set of ids, whose earlier pages have been dealt with.</summary>
/// <param name="Set">The marks of the set. The place has no meaning for another one.</param>
/// <param name="Id">The lowest id that the next page may have.</param>
internal readonly record struct IdSetPlace(IdSetMarks Set, long Id);
