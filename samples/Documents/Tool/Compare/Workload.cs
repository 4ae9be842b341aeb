using System.Text;
using System.Text.Json;

namespace Voron.Documents.Tool.Compare;

/// <summary>The documents, and the questions that the stores are asked. The same for all rounds.</summary>
internal sealed class Workload
{
    /// <summary>The paths with an index each.</summary>
    public static readonly string[] Indexes = ["section", "size", "maintainer", "installed-size"];

    /// <summary>The text fields.</summary>
    public static readonly string[] Texts = ["package", "description"];

    private const int Searches = 400;
    private const int Ranges = 100;
    private const int Reads = 20_000;
    private const int Seed = 17;
    private const int MaxAttempts = 10_000;

    private readonly Random _random = new(Seed);

    public Workload(IReadOnlyList<ImportedDocument> documents, int puts)
    {
        Documents = documents;
        WordSearches = [.. Enumerable.Range(0, Searches).Select(_ => NewSearch())];
        Ids = [.. Enumerable.Range(0, Reads).Select(_ => Any().Id!)];
        Sizes = [.. Enumerable.Range(0, Ranges).Select(_ => _random.NextInt64(1000, 1_000_000)).Select(static size => (size, size + size / 50))];
        Puts = [.. Enumerable.Range(0, puts).Select(i => Any() with { Id = $"put-{i}" })];
    }

    public IReadOnlyList<ImportedDocument> Documents { get; }

    /// <summary>The documents that callers store one by one.</summary>
    public IReadOnlyList<ImportedDocument> Puts { get; }

    public IReadOnlyList<string> Ids { get; }

    public IReadOnlyList<(long First, long Last)> Sizes { get; }

    public IReadOnlyList<WordSearch> WordSearches { get; }

    private ImportedDocument Any() => Documents[_random.Next(Documents.Count)];

    // Words as they occur in the documents, so that frequent ones are searched for often.
    private WordSearch NewSearch()
    {
        for (var attempt = 0; attempt < MaxAttempts; attempt++)
        {
            var words = WordsOf(Any());
            if (words.Count < 2)
                continue;
            var at = _random.Next(words.Count - 1);
            var other = words[_random.Next(words.Count)];
            return _random.Next(10) switch
            {
                < 4 => new WordSearch(WordSearchKind.All, [words[at]]),
                < 7 => new WordSearch(WordSearchKind.All, [words[at], other]),
                < 9 => new WordSearch(WordSearchKind.Any, [words[at], other]),
                _ => new WordSearch(WordSearchKind.Phrase, [words[at], words[at + 1]]),
            };
        }

        throw new ImportException($"The documents have no texts of two words in '{Texts[1]}', so that nothing can be searched for.");
    }

    private static List<string> WordsOf(ImportedDocument document)
    {
        using var json = JsonDocument.Parse(document.Json);
        var text = json.RootElement.TryGetProperty(Texts[1], out var description) ? description.GetString() ?? "" : "";
        var words = new StringBuilder();
        foreach (var letter in text)
            words.Append(char.IsAsciiLetterOrDigit(letter) ? char.ToLowerInvariant(letter) : char.IsAscii(letter) ? ' ' : 'x');
        return [.. words.ToString().Split(' ', StringSplitOptions.RemoveEmptyEntries)];
    }
}
