using Voron.Tables;

namespace Voron.Documents.Text;

/// <summary>Finds the documents that a query for words fits best, in one snapshot.</summary>
internal readonly ref struct TextSearch(ReadTransaction reading, TextIndex index, Table<long, Document> table, CollectionShape shape)
{
    private readonly IdTree _words = reading.OpenIdTree(index.WordsTree);
    private readonly FixedTree _lengths = reading.OpenFixedTree(index.LengthsTree);

    /// <param name="query">The query.</param>
    /// <param name="take">The number of documents wanted.</param>
    public TextResult Run(TextQuery query, int take)
    {
        var documents = table.Count;
        var read = 0L;
        var clauses = new TextClause[query.Wanted.Count];
        var unwanted = new Postings[query.Unwanted.Count];
        try
        {
            for (var i = 0; i < clauses.Length; i++)
                clauses[i] = ClauseOf(query.Wanted[i], documents, ref read);
            for (var i = 0; i < unwanted.Length; i++)
                unwanted[i] = PostingsOf(query.Unwanted[i], ref read);
            var best = new PriorityQueue<long, Rank>();
            var matches = documents == 0 ? 0 : Collect(clauses, unwanted, take, best);
            return new TextResult { Hits = ReadHits(best), Matches = matches, Plan = PlanOf(query, read) };
        }
        finally
        {
            foreach (var clause in clauses)
                clause?.Dispose();
            foreach (var postings in unwanted)
                postings?.Dispose();
        }
    }

    private TextClause ClauseOf(IReadOnlyList<TextQuery.Phrase> alternatives, long documents, ref long read)
    {
        var postings = new Postings[alternatives.Count];
        var weights = new double[alternatives.Count];
        for (var i = 0; i < postings.Length; i++)
        {
            postings[i] = PostingsOf(alternatives[i], ref read);
            weights[i] = Bm25.WeightOf(documents, postings[i].Count);
        }

        return new TextClause(postings, weights);
    }

    private Postings PostingsOf(TextQuery.Phrase phrase, ref long read) =>
        phrase.Words.Count == 1 ? new Postings(_words, phrase.Words[0]) : new PhraseFinder(index, table, _words).Find(phrase, ref read);

    private long Collect(TextClause[] clauses, Postings[] unwanted, int take, PriorityQueue<long, Rank> best)
    {
        var lengths = new LengthBlocks.Reader(_lengths);
        var average = Math.Max(1, index.TotalWords(reading)) / (double)table.Count;
        var wanted = new Intersection(clauses);
        var matches = 0L;
        for (var number = wanted.Seek(0); number != long.MaxValue; number = wanted.Seek(number + 1))
        {
            if (HasAny(unwanted, number))
                continue;
            matches++;
            Offer(best, take, number, ScoreOf(clauses, number, Bm25.NormOf(lengths.Get(number), average)));
        }

        return matches;
    }

    private static bool HasAny(Postings[] unwanted, long number)
    {
        foreach (var postings in unwanted)
        {
            if (postings.Seek(number) == number)
                return true;
        }

        return false;
    }

    private static double ScoreOf(TextClause[] clauses, long number, double norm)
    {
        var score = 0.0;
        foreach (var clause in clauses)
            score += clause.Score(number, norm);
        return score;
    }

    private static void Offer(PriorityQueue<long, Rank> best, int take, long number, double score)
    {
        var rank = new Rank(score, number);
        if (best.Count < take)
            best.Enqueue(number, rank);
        else if (take > 0 && best.TryPeek(out _, out var least) && rank.CompareTo(least) > 0)
            best.DequeueEnqueue(number, rank);
    }

    private List<TextHit> ReadHits(PriorityQueue<long, Rank> best)
    {
        var hits = new List<TextHit>(best.Count);
        while (best.TryDequeue(out var number, out var rank))
        {
            // One that is due is found until it is deleted, and left out.
            if (table.TryGet(number, out var document, out var version) && !shape.IsDue(document))
                hits.Add(new TextHit(document with { Version = version }, rank.Score));
        }

        hits.Reverse();
        return hits;
    }

    private static string PlanOf(TextQuery query, long read) =>
        read == 0 ? $"words: {query}" : $"words: {query}; {read:N0} documents read to find phrases";

    /// <summary>The order of the hits: of documents with the same score, the older one is better.</summary>
    private readonly record struct Rank(double Score, long Number) : IComparable<Rank>
    {
        public int CompareTo(Rank other) => Score != other.Score ? Score.CompareTo(other.Score) : other.Number.CompareTo(Number);
    }
}
