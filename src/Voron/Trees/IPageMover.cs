using Voron.Primitives;
using Voron.Trees.IdSets.Pages;

namespace Voron.Trees;

/// <summary>Moves pages of a tree to lower page numbers. The caller updates the references to them.</summary>
internal interface IPageMover
{
    /// <summary>
    /// The place in a set of ids at which the last move of its pages ended. The next move of the set begins there, so that moving a few pages at a
    /// time does not examine all pages of the set each time.
    /// </summary>
    IdSetPlace SetPlace { get; set; }

    /// <summary>Returns whether contiguous pages should be moved, because some of them are in the tail being emptied.</summary>
    bool ShouldMove(PageNumber first, long pages);

    /// <summary>Copies a branch or a leaf to a lower page, and frees the old page.</summary>
    /// <param name="page">The page.</param>
    /// <param name="moved">Receives the new page.</param>
    /// <returns>False if the page cannot be moved now. Then nothing has changed.</returns>
    bool TryMove(PageNumber page, out PageNumber moved);

    /// <summary>Verifies a page on the device before its reference to a moved page is updated.</summary>
    /// <exception cref="CorruptionException">The page is damaged.</exception>
    void Verify(PageNumber page);

    /// <summary>Like <see cref="TryMove"/>, for an overflow extent.</summary>
    bool TryMoveExtent(PageNumber first, out PageNumber moved);
}

/// <summary>A place in a set of ids. All pages before it have been processed.</summary>
/// <param name="Set">The marks of the set. The place is meaningless in any other set.</param>
/// <param name="Id">The lowest id that the next page may contain.</param>
internal readonly record struct IdSetPlace(IdSetMarks Set, long Id);
