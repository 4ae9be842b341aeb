namespace Voron.Documents.Text;

/// <summary>A part of a query for words: the documents that have one of its words or phrases.</summary>
/// <param name="alternatives">The postings of the words and phrases.</param>
/// <param name="weights">The weight of each one.</param>
internal sealed class TextClause(Postings[] alternatives, double[] weights) : IDisposable
{
    /// <summary>The number of documents that meet the clause at most.</summary>
    public long MostDocuments { get; } = alternatives.Sum(static postings => postings.Count);

    /// <summary>Goes to the first document that meets the clause and whose number is at least the given one; <see cref="long.MaxValue"/> if there is none.</summary>
    public long Seek(long number)
    {
        var next = alternatives[0].Seek(number);
        for (var i = 1; i < alternatives.Length; i++)
            next = Math.Min(next, alternatives[i].Seek(number));
        return next;
    }

    /// <summary>Returns what the clause adds to the score of the document on which it is.</summary>
    /// <param name="number">The number of the document.</param>
    /// <param name="norm">What the length of the document adds below the line: see <see cref="Bm25"/>.</param>
    public double Score(long number, double norm)
    {
        var score = 0.0;
        for (var i = 0; i < alternatives.Length; i++)
        {
            if (alternatives[i].Seek(number) == number)
                score += weights[i] * Bm25.Saturate(alternatives[i].Times, norm);
        }

        return score;
    }

    public void Dispose()
    {
        foreach (var postings in alternatives)
            postings.Dispose();
    }
}
