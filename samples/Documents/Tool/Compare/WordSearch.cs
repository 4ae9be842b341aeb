namespace Voron.Documents.Tool.Compare;

internal enum WordSearchKind
{
    All,
    Any,
    Phrase,
}

/// <summary>A search of the comparison.</summary>
/// <param name="Kind">How the words are to be there.</param>
/// <param name="Words">The words, of letters and digits alone.</param>
internal sealed record WordSearch(WordSearchKind Kind, IReadOnlyList<string> Words);
