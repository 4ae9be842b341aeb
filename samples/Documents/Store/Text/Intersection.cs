namespace Voron.Documents.Text;

/// <summary>The documents that meet all of several clauses. The clause with the fewest documents leads, and the others follow.</summary>
/// <param name="clauses">The clauses: at least one.</param>
internal readonly struct Intersection(TextClause[] clauses)
{
    private readonly TextClause _lead = clauses.MinBy(static clause => clause.MostDocuments)!;

    /// <summary>Goes to the first document whose number is at least the given one, never backwards.</summary>
    /// <returns>The number of the document; <see cref="long.MaxValue"/> at the end.</returns>
    public long Seek(long number)
    {
        number = _lead.Seek(number);
        while (number != long.MaxValue)
        {
            var next = SeekAll(number);
            if (next == number)
                break;
            number = next == long.MaxValue ? next : _lead.Seek(next);
        }

        return number;
    }

    // Returns the number, or the next one that may be in all of them.
    private long SeekAll(long number)
    {
        foreach (var clause in clauses)
        {
            var next = clause.Seek(number);
            if (next != number)
                return next;
        }

        return number;
    }
}
