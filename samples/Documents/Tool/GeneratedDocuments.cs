using System.Globalization;
using System.Text;
using System.Text.Json;

namespace Voron.Documents.Tool;

/// <summary>Documents with long texts, whose words have frequencies as in natural texts: about one divided by their rank.</summary>
internal static class GeneratedDocuments
{
    private const int Vocabulary = 50_000;
    private const int LeastWords = 60;
    private const int MostWords = 400;

    private static readonly string[] Syllables = ["ba", "ce", "di", "fo", "gu", "ha", "ke", "li", "mo", "nu", "pa", "re", "si", "to", "vu", "za"];
    private static readonly string[] Sections = ["news", "science", "travel", "letters", "sport", "law", "music", "history"];

    /// <param name="count">The number of documents.</param>
    /// <param name="seed">The same seed makes the same documents.</param>
    public static ImportSource Of(int count, int seed) => new($"the generated documents of seed {seed}", count, (progress, _) => Make(count, seed, progress));

    private static IEnumerable<ImportedDocument> Make(int count, int seed, Action<long> progress)
    {
        var random = new Random(seed);
        var words = Enumerable.Range(0, Vocabulary).Select(NameOf).ToArray();
        for (var number = 1; number <= count; number++)
        {
            yield return new ImportedDocument($"document {number}", $"{number:D8}", Make(number, words, random));
            if (number % 100 == 0)
                progress(number);
        }
    }

    private static byte[] Make(int number, string[] words, Random random)
    {
        using var bytes = new MemoryStream();
        using (var json = new Utf8JsonWriter(bytes, Json.Readable))
        {
            json.WriteStartObject();
            json.WriteString("id", $"{number:D8}");
            json.WriteString("package", TextOf(words, random, random.Next(2, 8)));
            json.WriteString("section", Sections[Rank(random, Sections.Length)]);
            json.WriteString("maintainer", $"{words[Rank(random, 2000)]} {words[Rank(random, 2000)]}");
            json.WriteNumber("size", random.Next(1000, 10_000_000));
            json.WriteNumber("installed-size", random.Next(100_000));
            json.WriteString("date", new DateTime(2020, 1, 1, 0, 0, 0, DateTimeKind.Utc).AddMinutes(number).ToString("O", CultureInfo.InvariantCulture));
            json.WriteString("description", TextOf(words, random, random.Next(LeastWords, MostWords)));
            json.WriteEndObject();
        }

        return bytes.ToArray();
    }

    private static string TextOf(string[] words, Random random, int count)
    {
        var text = new StringBuilder();
        for (var i = 0; i < count; i++)
            text.Append(i == 0 ? "" : i % 12 == 0 ? ". " : " ").Append(words[Rank(random, words.Length)]);
        return text.ToString();
    }

    // Zipf's law: equal ranges of the logarithm of the rank are equally frequent.
    private static int Rank(Random random, int count) => (int)Math.Exp(random.NextDouble() * Math.Log(count + 1)) - 1;

    private static string NameOf(int rank)
    {
        var name = new StringBuilder();
        for (var rest = rank; ; rest /= Syllables.Length)
        {
            name.Append(Syllables[rest % Syllables.Length]);
            if (rest < Syllables.Length)
                return name.ToString();
        }
    }
}
