using Voron.Documents.Text;
using Voron.Tables;

namespace Voron.Documents;

public sealed partial class Collection
{
    /// <summary>Returns the size of the text index; null if there is none.</summary>
    public TextStatistics? GetTextStatistics()
    {
        using var reading = _environment.BeginRead();
        var shape = Shape;
        if (shape.Text is not { } index || !reading.TryOpenIdTree(index.WordsTree, out var words))
            return null;
        var pages = PagesOf(words.GetStatistics()) + PagesOf(reading.OpenFixedTree(index.LengthsTree).GetStatistics());
        return new TextStatistics(shape.Settings.Text!.Fields, words.Count, words.ValueCount, pages);
    }

    /// <summary>Finds the documents that have words and phrases, and returns those that fit best.</summary>
    /// <param name="text">
    /// Words and phrases in quotes, which must all be there; <c>or</c> joins those of which one suffices; those behind a minus sign must not be there.
    /// </param>
    /// <param name="take">The number of documents wanted.</param>
    /// <exception cref="QueryException">The search names no word, the collection has no text index, or it is still being built.</exception>
    public TextResult Search(string text, int take = 10)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(take);
        var query = TextQuery.Parse(text);
        using var reading = _environment.BeginRead();
        var shape = Shape;
        var index = shape.Text ?? throw new QueryException($"The collection '{shape.Settings.Name}' has no text index: 'index text PATH...' makes one.");
        var table = reading.OpenTable(shape.Definition);
        if (!reading.TryOpenIdTree(index.WordsTree, out _) || index.BuiltThrough(reading) != null)
            throw new QueryException($"The text index of the collection '{shape.Settings.Name}' is still being built. Search again when it has all documents.");
        return new TextSearch(reading, index, table, shape).Run(query, take);
    }

    private static long PagesOf(TreeStatistics tree) => tree.LeafPages + tree.BranchPages + tree.OverflowPages + tree.NestedPages;
}
