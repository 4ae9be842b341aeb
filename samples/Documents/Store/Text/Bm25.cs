namespace Voron.Documents.Text;

/// <summary>
/// The weight of a word in a document, after Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009): rare words count more,
/// repetitions less and less, and words of long documents less.
/// </summary>
/// <remarks>The constants, and the small weight for words that more than half of the documents have, are those of SQLite's FTS5, so that both give the same order.</remarks>
internal static class Bm25
{
    private const double K1 = 1.2;
    private const double B = 0.75;
    private const double LeastWeight = 1e-6;

    /// <summary>Returns the weight of a word.</summary>
    /// <param name="documents">The number of all documents.</param>
    /// <param name="having">The number of those that have it.</param>
    public static double WeightOf(long documents, long having)
    {
        var weight = Math.Log((documents - having + 0.5) / (having + 0.5));
        return weight > 0 ? weight : LeastWeight;
    }

    /// <summary>Returns the part of <see cref="Saturate"/> that depends on the length of the document alone.</summary>
    /// <param name="words">The number of its words.</param>
    /// <param name="average">The average number of words.</param>
    public static double NormOf(int words, double average) => K1 * (1 - B + B * words / average);

    /// <summary>Returns what a word counts that occurs a number of times.</summary>
    public static double Saturate(int times, double norm) => times * (K1 + 1) / (times + norm);
}
