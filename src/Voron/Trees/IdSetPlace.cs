using Voron.Trees.IdSets.Pages;

namespace Voron.Trees;

/// <summary>A place in a set of ids, whose earlier pages have been dealt with.</summary>
/// <param name="Set">The marks of the set. The place has no meaning for another one.</param>
/// <param name="Id">The lowest id that the next page may have.</param>
internal readonly record struct IdSetPlace(IdSetMarks Set, long Id);
