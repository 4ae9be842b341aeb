using System.Text;

namespace Voron.Documents.Text;

/// <summary>
/// A query for words, such as <c>haskell "web server" -test</c>: all words and phrases must be there; of those that <c>or</c> joins, one; and none of those
/// behind a minus sign.
/// </summary>
internal sealed class TextQuery
{
    private TextQuery(IReadOnlyList<IReadOnlyList<Phrase>> wanted, IReadOnlyList<Phrase> unwanted)
    {
        Wanted = wanted;
        Unwanted = unwanted;
    }

    /// <summary>For each part of the query, the words or phrases of which one must be there.</summary>
    public IReadOnlyList<IReadOnlyList<Phrase>> Wanted { get; }

    /// <summary>The words and phrases that must not be there.</summary>
    public IReadOnlyList<Phrase> Unwanted { get; }

    /// <exception cref="QueryException">The text has no word that must be there, or a quote that does not end.</exception>
    public static TextQuery Parse(string text)
    {
        ArgumentNullException.ThrowIfNull(text);
        var wanted = new List<List<Phrase>>();
        var unwanted = new List<Phrase>();
        var joins = false;
        for (var at = 0; TryTake(text, ref at, out var part, out var isUnwanted);)
        {
            if (part is "or" or "OR" && wanted.Count > 0 && !isUnwanted)
            {
                joins = true;
                continue;
            }

            var phrase = Phrase.Of(part.Trim('"'));
            if (phrase.Words.Count == 0)
                continue;
            if (isUnwanted)
                unwanted.Add(phrase);
            else if (joins)
                wanted[^1].Add(phrase);
            else
                wanted.Add([phrase]);
            joins = false;
        }

        if (wanted.Count == 0)
            throw new QueryException($"The search '{text}' names no word that must be there. Write it like: haskell \"web server\" -test");
        return new TextQuery(wanted, unwanted);
    }

    public override string ToString()
    {
        var text = new StringBuilder().AppendJoin(' ', Wanted.Select(static any => string.Join(" or ", any)));
        foreach (var phrase in Unwanted)
            text.Append(" -").Append(phrase);
        return text.ToString();
    }

    private static bool TryTake(string text, ref int at, out string part, out bool isUnwanted)
    {
        while (at < text.Length && char.IsWhiteSpace(text[at]))
            at++;
        isUnwanted = at < text.Length && text[at] == '-';
        if (isUnwanted)
            at++;
        var start = at;
        if (at < text.Length && text[at] == '"')
        {
            var end = text.IndexOf('"', at + 1);
            if (end < 0)
                throw new QueryException($"The search '{text}' has a phrase that begins at character {at + 1} and does not end: its closing quote is missing.");
            at = end + 1;
        }
        else
        {
            while (at < text.Length && !char.IsWhiteSpace(text[at]) && text[at] != '"')
                at++;
        }

        part = text[start..at];
        return part.Length > 0 || isUnwanted;
    }

    /// <summary>Words that follow each other; often one word alone.</summary>
    /// <param name="Words">The words.</param>
    internal sealed record Phrase(IReadOnlyList<byte[]> Words)
    {
        public static Phrase Of(string text)
        {
            var words = new List<byte[]>();
            var reader = new WordReader(Encoding.UTF8.GetBytes(text), stackalloc byte[WordReader.MaxWordBytes]);
            while (reader.MoveNext())
                words.Add(reader.Current.ToArray());
            return new Phrase(words);
        }

        public override string ToString()
        {
            var words = string.Join(' ', Words.Select(Encoding.UTF8.GetString));
            return Words.Count == 1 ? words : $"\"{words}\"";
        }
    }
}
