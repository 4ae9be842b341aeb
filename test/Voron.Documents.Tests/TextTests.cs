using System.Text;
using System.Text.Json;

namespace Voron.Documents.Tests;

/// <summary>
/// Searches find what a look at each document finds, with the same scores, whatever has been put, replaced and deleted, and whenever the index was
/// made.
/// </summary>
public sealed class TextTests : IDisposable
{
    private static readonly string[] Words = ["the", "a", "web", "Server", "haskell", "test", "É", "x1", "rare", "cafe", "to", "be"];

    private readonly string _directory = Path.Combine(Path.GetTempPath(), Guid.NewGuid().ToString("N"));
    private DocumentStore _store;

    public TextTests() => _store = DocumentStore.Open(_directory);

    public void Dispose()
    {
        _store.Dispose();
        Directory.Delete(_directory, recursive: true);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public async Task Searches_find_what_a_look_at_each_document_finds(int seed)
    {
        var random = new Random(seed);
        var collection = await _store.CreateCollectionAsync("items", TestContext.Current.CancellationToken);
        Fill(collection, random, 200);
        await _store.SetTextIndexAsync("items", ["title", "body"], cancellationToken: TestContext.Current.CancellationToken);
        Check(collection, ["title", "body"], random);
        Fill(collection, random, 400);
        Check(collection, ["title", "body"], random);

        _store.Dispose();
        _store = DocumentStore.Open(_directory);
        collection = _store.GetCollection("items");
        Fill(collection, random, 100);
        Check(collection, ["title", "body"], random);
        await _store.SetTextIndexAsync("items", ["body"], cancellationToken: TestContext.Current.CancellationToken);
        Check(collection, ["body"], random);
        _store.Environment.Verify().Problems.Should().BeEmpty();
        foreach (var document in collection.Find(Query.Parse("")).Documents)
            collection.Delete(document.Id);
        using var reading = _store.Environment.BeginRead();
        reading.OpenIdTree(collection.Shape.Text!.WordsTree).Count.Should().Be(0, "no document has a word any more");
        reading.OpenFixedTree(collection.Shape.Text.LengthsTree).Count.Should().Be(0);
        collection.Shape.Text.TotalWords(reading).Should().Be(0);
    }

    [Fact]
    public async Task Without_an_index_or_while_it_is_built_a_search_says_so()
    {
        var collection = await _store.CreateCollectionAsync("items", TestContext.Current.CancellationToken);
        FluentActions.Invoking(() => collection.Search("x")).Should().Throw<QueryException>().WithMessage("*'items' has no text index*");
        await _store.SetTextIndexAsync("items", ["body"], cancellationToken: TestContext.Current.CancellationToken);
        collection.Search("x").Matches.Should().Be(0);
        _store.Environment.Write(writing => collection.Shape.Text!.SetBuiltThrough(writing, 0));
        FluentActions.Invoking(() => collection.Search("x")).Should().Throw<QueryException>().WithMessage("*still being built*");
        await _store.SetTextIndexAsync("items", [], cancellationToken: TestContext.Current.CancellationToken);
        FluentActions.Invoking(() => collection.Search("x")).Should().Throw<QueryException>().WithMessage("*no text index*");
        using var reading = _store.Environment.BeginRead();
        reading.GetTreeNames().Should().NotContain(name => name.StartsWith("documents/text/", StringComparison.Ordinal));
    }

    [Fact]
    public async Task A_build_that_was_cancelled_continues_while_others_write()
    {
        var random = new Random(7);
        var collection = await _store.CreateCollectionAsync("items", TestContext.Current.CancellationToken);
        Fill(collection, random, 3000, ids: 100_000);
        using var stop = new CancellationTokenSource();
        var build = async () => await _store.SetTextIndexAsync("items", ["title", "body"], new SynchronousProgress<long>(_ => stop.Cancel()), stop.Token);
        await build.Should().ThrowAsync<OperationCanceledException>();
        FluentActions.Invoking(() => collection.Search("web")).Should().Throw<QueryException>().WithMessage("*still being built*");
        Fill(collection, random, 300, ids: 100_000);
        var writers = Task.Run(() => Fill(collection, new Random(8), 300, ids: 100_000), TestContext.Current.CancellationToken);
        await _store.SetTextIndexAsync("items", ["title", "body"], cancellationToken: TestContext.Current.CancellationToken);
        await writers;
        Check(collection, ["title", "body"], random, searches: 5);
    }

    [Fact]
    public async Task Elements_of_arrays_are_fields_of_their_own_and_frequent_words_count()
    {
        var collection = await _store.CreateCollectionAsync("items", TestContext.Current.CancellationToken);
        await _store.SetTextIndexAsync("items", ["tags[*]", "n"], cancellationToken: TestContext.Current.CancellationToken);
        collection.Put("""{"tags":["web server","client side","tree"],"n":2024}"""u8.ToArray(), "a");
        var frequent = string.Join(' ', Enumerable.Repeat("tree", 300));
        collection.Put(Encoding.UTF8.GetBytes($$"""{"tags":["{{frequent}}"]}"""), "b");
        foreach (var found in (string[])["\"web server\"", "\"client side\"", "server client", "2024", "tree -\"tree tree\""])
            collection.Search(found).Hits.Select(hit => hit.Document.Id).Should().Equal(["a"], found);
        collection.Search("\"server client\"").Matches.Should().Be(0);
        collection.Search("\"tree tree tree\"").Hits.Single().Document.Id.Should().Be("b");
        collection.Put("""{"tags":[]}"""u8.ToArray(), "b");
        collection.Search("tree").Matches.Should().Be(1);
    }

    [Theory]
    [InlineData("", "*names no word*")]
    [InlineData("-x", "*names no word*")]
    [InlineData("\"a b", "*begins at character 1 and does not end*")]
    [InlineData("!! -- \"\"", "*names no word*")]
    public void What_is_no_search_is_refused(string text, string message) =>
        FluentActions.Invoking(() => Text.TextQuery.Parse(text)).Should().Throw<QueryException>().WithMessage(message);

    [Theory]
    [InlineData("haskell \"web server\" -test", "haskell \"web server\" -test")]
    [InlineData("or a OR b", "or a or b")]
    [InlineData("C++/CLI", "\"c cli\"")]
    [InlineData("-\"x y\" z", "z -\"x y\"")]
    [InlineData("a or", "a")]
    [InlineData("a\"b\"c", "a b c")]
    public void Searches_are_read(string text, string meaning) => Text.TextQuery.Parse(text).ToString().Should().Be(meaning);

    [Theory]
    [InlineData("Hello, World!", "hello world")]
    [InlineData("ÀÉÎõü ŽŠ straße", "aeiou zs straße")]
    [InlineData("e\u0301tude a\u0308", "etude a")]
    [InlineData("Ωμέγα ДОМ 東京", "ωμέγα дом 東京")]
    [InlineData("a_b-c.d1e", "a b c d1e")]
    [InlineData("\u0301x ½ Ⅷ", "x ½ ⅷ")]
    [InlineData("𝒳y😀z", "𝒳y z")]
    [InlineData("", "")]
    public void Words_are_split_and_folded(string text, string words) => Split(Encoding.UTF8.GetBytes(text)).Should().Be(words);

    [Fact]
    public void Damaged_text_separates_words_and_long_words_are_cut()
    {
        Split([(byte)'a', 0xFF, (byte)'b', 0xC3]).Should().Be("a b");
        Split(Encoding.UTF8.GetBytes(new string('x', 300))).Should().Be(new string('x', 120));
        Split(Encoding.UTF8.GetBytes(new string('x', 119) + "ωy")).Should().Be(new string('x', 119) + "y", "a letter is not cut");
    }

    private static string Split(byte[] text)
    {
        var reader = new Text.WordReader(text, stackalloc byte[Text.WordReader.MaxWordBytes]);
        var words = new List<string>();
        while (reader.MoveNext())
            words.Add(Encoding.UTF8.GetString(reader.Current));
        return string.Join(' ', words);
    }

    private static void Fill(Collection collection, Random random, int count, int ids = 150)
    {
        var batch = collection.CreateBatch();
        for (var i = 0; i < count; i++)
        {
            var id = $"d{random.Next(ids)}";
            var json = Document(random);
            switch (random.Next(6))
            {
                case 0:
                    collection.Put(json, id);
                    break;
                case 1:
                    collection.Delete(id);
                    break;
                default:
                    batch.Add(json, id);
                    break;
            }

            if (random.Next(20) > 0)
                continue;
            collection.PutMany(batch);
            batch.Clear();
        }
    }

    private static byte[] Document(Random random)
    {
        var title = string.Join(random.Next(2) == 0 ? " " : ", ", Enumerable.Range(0, random.Next(5)).Select(_ => Word(random)));
        var body = string.Join(' ', Enumerable.Range(0, random.Next(30)).Select(_ => Word(random)));
        return random.Next(10) switch
        {
            0 => Encoding.UTF8.GetBytes($$"""{"title":{{JsonSerializer.Serialize(title)}}}"""),
            1 => Encoding.UTF8.GetBytes($$"""{"body":12.5,"title":null}"""),
            2 => "{}"u8.ToArray(),
            _ => Encoding.UTF8.GetBytes($$"""{"title":{{JsonSerializer.Serialize(title)}},"body":{{JsonSerializer.Serialize(body)}},"n":5}"""),
        };
    }

    // Lower numbers are frequent.
    private static string Word(Random random) => Words[(int)(Words.Length * random.NextDouble() * random.NextDouble())];

    private static void Check(Collection collection, string[] fields, Random random, int? searches = null)
    {
        var oracle = new TextOracle([.. collection.Find(Query.Parse("")).Documents.OrderBy(document => document.Number)], fields);
        for (var i = 0; i < (searches ?? SuiteShare.Rounds(25)); i++)
        {
            var wanted = Enumerable.Range(0, random.Next(1, 4)).Select(_ => Phrases(random, random.Next(1, 3))).ToArray();
            var unwanted = Phrases(random, Math.Max(0, random.Next(4) - 2));
            var parts = wanted.Select(any => string.Join(" or ", any.Select(Quote))).Concat(unwanted.Select(phrase => "-" + Quote(phrase)));
            var text = string.Join(' ', parts);
            var take = random.Next(1, 30);
            var result = collection.Search(text, take);
            var expected = oracle.Search(wanted, unwanted);
            result.Matches.Should().Be(expected.Count, $"of {text}");
            var scores = expected.Take(take).Select(hit => Math.Round(hit.Score, 6));
            result.Hits.Select(hit => Math.Round(hit.Score, 6)).Should().Equal(scores, $"of {text}");

            // Of documents with the last score, any may be among the best.
            var last = result.Hits.Count == 0 ? 0 : result.Hits[^1].Score + 1e-6;
            var ids = expected.Where(hit => hit.Score > last).Select(hit => $"{hit.Score:F6} {hit.Id}");
            result.Hits.Where(hit => hit.Score > last).Select(hit => $"{hit.Score:F6} {hit.Document.Id}").Order()
                .Should().Equal(ids.Order(), $"of {text}");
        }
    }

    private static string Quote(string phrase) => phrase.Contains(' ', StringComparison.Ordinal) ? $"\"{phrase}\"" : phrase;

    private static string[] Phrases(Random random, int count) => [.. Enumerable.Range(0, count).Select(_ => Phrase(random))];

    private static string Phrase(Random random)
    {
        var words = Enumerable.Range(0, random.Next(3) == 0 ? random.Next(2, 4) : 1);
        return string.Join(' ', words.Select(_ => Word(random).ToLowerInvariant().Replace('é', 'e')));
    }
}
