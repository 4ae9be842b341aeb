using System.Text;
using System.Text.Json;

namespace Voron.Documents.Tests;

/// <summary>
/// Searches by looking at each document: its words are split without the code of the index, and scored by the formula as it is printed.
/// </summary>
/// <param name="documents">The documents in the order of their numbers.</param>
/// <param name="fields">The names of the text fields, at the top of the documents.</param>
internal sealed class TextOracle(IReadOnlyList<Document> documents, IReadOnlyList<string> fields)
{
    private readonly List<List<string[]>> _texts = [.. documents.Select(document => fields.Select(field => WordsOf(document, field)).ToList())];

    /// <summary>Returns the ids and scores of the best documents.</summary>
    /// <param name="wanted">For each part, the phrases of which one must be there.</param>
    /// <param name="unwanted">The phrases that must not be there.</param>
    public List<(string Id, double Score)> Search(string[][] wanted, string[] unwanted)
    {
        var average = _texts.Sum(LengthOf) / (double)documents.Count;
        var found = new List<(string Id, double Score)>();
        for (var i = 0; i < documents.Count; i++)
        {
            var text = _texts[i];
            if (!Array.TrueForAll(wanted, any => any.Any(phrase => CountOf(text, phrase) > 0)) || unwanted.Any(phrase => CountOf(text, phrase) > 0))
                continue;
            var score = 0.0;
            foreach (var phrase in wanted.SelectMany(any => any))
            {
                var times = (double)CountOf(text, phrase);
                score += WeightOf(phrase) * (times * 2.2 / (times + 1.2 * (0.25 + 0.75 * LengthOf(text) / average)));
            }

            found.Add((documents[i].Id, score));
        }

        return [.. found.OrderByDescending(hit => Math.Round(hit.Score, 9))];
    }

    private static int LengthOf(List<string[]> text) => text.Sum(words => words.Length);

    private static int CountOf(List<string[]> text, string phrase)
    {
        var words = phrase.Split(' ');
        return text.Sum(field => Enumerable.Range(0, Math.Max(0, field.Length - words.Length + 1))
            .Count(at => field.AsSpan(at, words.Length).SequenceEqual(words)));
    }

    private static string[] WordsOf(Document document, string field)
    {
        using var json = JsonDocument.Parse(document.Json);
        if (!json.RootElement.TryGetProperty(field, out var value) || value.ValueKind is not (JsonValueKind.String or JsonValueKind.Number))
            return [];
        var words = new StringBuilder();
        foreach (var letter in value.ToString())
            words.Append(char.IsLetterOrDigit(letter) ? char.ToLowerInvariant(letter == 'É' ? 'e' : letter) : ' ');
        return words.ToString().Split(' ', StringSplitOptions.RemoveEmptyEntries);
    }

    private double WeightOf(string phrase)
    {
        var having = _texts.Count(text => CountOf(text, phrase) > 0);
        var weight = Math.Log((documents.Count - having + 0.5) / (having + 0.5));
        return weight > 0 ? weight : 1e-6;
    }
}
