namespace Voron.Documents.Tests;

/// <summary>Whatever index a query uses, it finds the documents that meet its condition, in its order, page by page.</summary>
public sealed class QueryTests : IDisposable
{
    private readonly DocumentStore _store = DocumentStore.OpenInMemory();

    public void Dispose() => _store.Dispose();

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public async Task Queries_with_indexes_find_what_a_look_at_each_document_finds(int seed)
    {
        var random = new Random(seed);
        var writer = new DocumentWriter(random);
        var collection = await _store.CreateCollectionAsync("items", TestContext.Current.CancellationToken);
        foreach (var indexes in (string[][])[[], ["section", "v"], ["deps[*].name"]])
        {
            foreach (var path in indexes)
                collection = await _store.AddIndexAsync("items", path, cancellationToken: TestContext.Current.CancellationToken);
            for (var i = 0; i < 250; i++)
                collection.Put(writer.Document(writer.Id()));
            for (var i = 0; i < 20; i++)
                collection.Delete(writer.Id());
            Check(collection, writer, random);
        }

        _store.Environment.Verify().Problems.Should().BeEmpty();
    }

    [Theory]
    [InlineData("", "all documents")]
    [InlineData("size > 5", "all documents; then $.size > 5")]
    [InlineData("order by section take 3", "index $.section, all of it")]
    [InlineData("order by size", "all documents; sorted in memory")]
    [InlineData("section = 'a' and v = 1", "index $.section: $.section = \"a\"; then $.v = 1")]
    [InlineData("v > 1 and v <= 5", "index $.v: $.v > 1 and $.v <= 5")]
    [InlineData("v > 1 and section starts with 'a' order by v", "index $.section: $.section starts with \"a\"; then $.v > 1; sorted in memory")]
    [InlineData("v != 1", "all documents; then $.v != 1")]
    [InlineData("v = 1 or section = 'a'", "all documents; then $.v = 1 or $.section = \"a\"")]
    public async Task A_plan_says_which_index_is_used(string query, string plan)
    {
        await _store.CreateCollectionAsync("items", TestContext.Current.CancellationToken);
        await _store.AddIndexAsync("items", "$.section", cancellationToken: TestContext.Current.CancellationToken);
        var collection = await _store.AddIndexAsync("items", "v", cancellationToken: TestContext.Current.CancellationToken);
        collection.Find(Query.Parse(query)).Plan.Should().Be(plan);
    }

    [Theory]
    [InlineData("a", "*the query ends at character 2, where one of = != < <= > >=, or 'starts with' was expected*")]
    [InlineData("a =", "*where a number, a text in quotes, true, false or null was expected*")]
    [InlineData("(a = 1", "*where a closing parenthesis was expected*")]
    [InlineData("a = 1 or", "*where a path such as maintainer.name was expected*")]
    [InlineData("a = 'x", "*begins at character 5 and does not end*")]
    [InlineData("a[1] = 2", "'a[1]' is no path*")]
    [InlineData("a..b = 1", "'a..b' is no path*")]
    [InlineData("a = 1 take x", "*'x' occurs at character 12, where a number of documents was expected*")]
    [InlineData("a = 1 2", "*'2' occurs at character 7, where the end of the query was expected*")]
    [InlineData("a starts with 5", "*where a text in quotes was expected*")]
    [InlineData("order by", "*where a path*")]
    [InlineData("order a", "*where the word 'by' was expected*")]
    public void What_is_no_query_is_refused_with_its_place(string text, string message) =>
        FluentActions.Invoking(() => Query.Parse(text)).Should().Throw<QueryException>().WithMessage(message);

    [Fact]
    public async Task A_page_of_another_order_is_refused()
    {
        var collection = await _store.CreateCollectionAsync("items", TestContext.Current.CancellationToken);
        collection.Put("""{"id":1}"""u8.ToArray());
        var next = collection.Find(Query.Parse("take 1")).Next;
        next.Should().NotBeNull();
        FluentActions.Invoking(() => collection.Find(Query.Parse("order by size take 1"), next)).Should().Throw<QueryException>();
        FluentActions.Invoking(() => collection.Find(Query.Parse("take 1"), "no page!")).Should().Throw<QueryException>().WithMessage("'no page!' is not*");
    }

    [Fact]
    public async Task Of_properties_with_the_same_name_the_first_one_counts()
    {
        await _store.CreateCollectionAsync("items", TestContext.Current.CancellationToken);
        var collection = _store.GetCollection("items");
        collection.Put("""{"id":"a","v":1,"v":9,"o":{"w":1,"w":2},"id":"b","\ud800":5,"v\ud800":6}"""u8.ToArray()).Should().Be("a");
        for (var turn = 0; turn < 2; turn++)
        {
            foreach (var met in (string[])["v > 0", "v = 1", "o.w = 1", "v < 2"])
                collection.Find(Query.Parse(met)).Documents.Should().ContainSingle(met);
            foreach (var unmet in (string[])["v = 9", "v < 2 and v > 8", "o.w = 2"])
                collection.Find(Query.Parse(unmet)).Documents.Should().BeEmpty(unmet);
            await _store.AddIndexAsync("items", "v", cancellationToken: TestContext.Current.CancellationToken);
            await _store.AddIndexAsync("items", "o.w", cancellationToken: TestContext.Current.CancellationToken);
        }
    }

    [Theory]
    [InlineData("""a = "x\" or b = \"y" """)]
    [InlineData("""a = "x\\" """)]
    [InlineData("a = 'it\\'s'")]
    public void A_query_is_read_back(string text) =>
        Query.Parse(Query.Parse(text).ToString()).ToString().Should().Be(Query.Parse(text).ToString());

    [Fact]
    public void Deep_conditions_are_refused()
    {
        foreach (var part in (string[])["(", "not ", "not ("])
        {
            var deep = string.Concat(Enumerable.Repeat(part, 100_000));
            FluentActions.Invoking(() => Query.Parse(deep)).Should().Throw<QueryException>().WithMessage("*more than 100 conditions*");
        }

        Query.Parse($"{new string('(', 90)}a = 1{new string(')', 90)}").ToString().Should().Be("$.a = 1");
    }

    [Fact]
    public async Task A_page_of_an_index_that_has_come_or_gone_is_refused()
    {
        var collection = await _store.CreateCollectionAsync("items", TestContext.Current.CancellationToken);
        for (var i = 0; i < 5; i++)
            collection.Put("""{"v":1}"""u8.ToArray(), $"d{i}");
        var next = collection.Find(Query.Parse("v = 1 take 2")).Next;
        collection.Find(Query.Parse("v = 1 take 3"), next).Documents.Should().HaveCount(3, "pages may have any size");
        await _store.AddIndexAsync("items", "v", cancellationToken: TestContext.Current.CancellationToken);
        FluentActions.Invoking(() => collection.Find(Query.Parse("v = 1 take 2"), next)).Should().Throw<QueryException>().WithMessage("*another index*");
        FluentActions.Invoking(() => collection.Find(Query.Parse("v = 2 take 2"), collection.Find(Query.Parse("v = 1 take 2")).Next))
            .Should().Throw<QueryException>().WithMessage("*another query*");
    }

    private static void Check(Collection collection, DocumentWriter writer, Random random)
    {
        var all = collection.Find(Query.Parse("")).Documents;
        all.Should().HaveCount((int)collection.Count);
        for (var i = 0; i < 300; i++)
        {
            var condition = writer.Condition(2);
            var query = Query.Parse(condition);
            var expected = all.Where(document => query.Filter!.Matches(document.Json.Span)).ToList();
            var result = collection.Find(query);
            Ids(result.Documents).Should().Equal(Ids(expected), $"of {condition}, by {result.Plan}");
            Query.Parse(query.ToString()).ToString().Should().Be(query.ToString());
            CheckOrder(collection, condition, expected, random);
            Ids(Pages(collection, Query.Parse($"{condition} take 7"))).Should().Equal(Ids(expected), $"of the pages of {condition}");
        }
    }

    private static void CheckOrder(Collection collection, string condition, List<Document> expected, Random random)
    {
        var path = JsonPath.Parse(new[] { "section", "v", "size", "none", "deps[*].name" }[random.Next(5)]);
        var take = random.Next(1, 50);
        var isDescending = random.Next(2) == 0;
        var keys = expected.ConvertAll(document => KeyOf(path, isDescending, document));
        keys.Sort((left, right) => isDescending ? right.AsSpan().SequenceCompareTo(left) : left.AsSpan().SequenceCompareTo(right));
        var result = collection.Find(Query.Parse($"{condition} order by {path}{(isDescending ? " desc" : "")} take {take}"));
        result.Documents.Select(document => Convert.ToHexString(KeyOf(path, isDescending, document)))
            .Should().Equal(keys.Take(take).Select(Convert.ToHexString), $"of {condition}, by {result.Plan}");
    }

    private static List<Document> Pages(Collection collection, Query query)
    {
        var documents = new List<Document>();
        string? next = null;
        do
        {
            var page = collection.Find(query, next);
            documents.AddRange(page.Documents);
            next = page.Next;
        }
        while (next != null);
        return documents;
    }

    // Of several values, the one that comes first.
    private static byte[] KeyOf(JsonPath path, bool isDescending, Document document)
    {
        var keys = new List<byte[]>();
        path.Visit(document.Json.Span, ref keys, static (ref System.Text.Json.Utf8JsonReader value, ref List<byte[]> keys) =>
        {
            var writer = new KeyWriter(new byte[ValueKey.MaxBytes]);
            ValueKey.Write(ref value, ref writer);
            keys.Add(writer.Written.ToArray());
        });
        keys.Sort((left, right) => left.AsSpan().SequenceCompareTo(right));
        return keys.Count == 0 ? [] : isDescending ? keys[^1] : keys[0];
    }

    // A document that is at several places of an index may be on several pages.
    private static List<string> Ids(IEnumerable<Document> documents) =>
        [.. documents.Select(document => document.Id).Distinct().Order(StringComparer.Ordinal)];
}
