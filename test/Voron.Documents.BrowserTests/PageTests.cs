using System.Text;
using static Microsoft.Playwright.Assertions;

namespace Voron.Documents.BrowserTests;

/// <summary>The page finds, shows and changes documents, shows what it cannot do, and runs nothing that is in a document.</summary>
public sealed class PageTests(BrowserFixture fixture) : PageTest(fixture)
{
    [Fact]
    public async Task A_query_shows_documents_and_how_they_were_found()
    {
        await QueryAsync("""section = "games" and size > 20000 order by size desc""");
        await Expect(Page.Locator("#summary")).ToContainTextAsync("6 documents");
        await Expect(Page.Locator("tbody tr").First).ToContainTextAsync("item50");
        await Expect(Page.Locator("#plan-text")).ToContainTextAsync("all documents");
        await Page.GetByLabel("JSON", new PageGetByLabelOptions { Exact = true }).First.CheckAsync();
        await Expect(Page.Locator(".json li")).ToHaveCountAsync(6);
        await Expect(Page.Locator(".json pre").First).ToContainTextAsync("\"section\": \"games\"");
        await PictureAsync("json");

        ExpectedError = "400";
        await QueryAsync("size >");
        await Expect(Page.GetByRole(AriaRole.Alert).First).ToContainTextAsync("cannot be read");
        await PictureAsync("error");
    }

    [Fact]
    public async Task Pages_follow_each_other()
    {
        await Expect(Page.Locator("tbody tr")).ToHaveCountAsync(20);
        await Page.ClickAsync("#more");
        await Expect(Page.Locator("tbody tr")).ToHaveCountAsync(40);
        await Expect(Page.Locator("tbody tr:nth-child(21) button")).ToBeFocusedAsync();
        await Page.ClickAsync("#more");
        await Expect(Page.Locator("tbody tr")).ToHaveCountAsync(50);
        await Expect(Page.Locator("#more")).ToBeHiddenAsync();
    }

    [Fact]
    public async Task A_document_is_edited_and_a_conflict_shown()
    {
        await OpenDocumentAsync("item03");
        await PictureAsync("editor");
        await Page.FillAsync("#document-json", """{"name":"mine"}""");
        await Items.PutAsync(Json("""{"name":"theirs"}"""), "item03", cancellationToken: TestContext.Current.CancellationToken);
        ExpectedError = "412";
        await Page.ClickAsync("text=Save");
        await Expect(Page.Locator("#newest")).ToContainTextAsync("theirs");
        await PictureAsync("conflict");
        Items.TryGet("item03", out var document);
        document.ToString().Should().Contain("theirs");

        await Page.ClickAsync("#keep-mine");
        await Expect(Page.Locator("#editor")).ToBeHiddenAsync();
        await Expect(Page.Locator("tbody tr", new PageLocatorOptions { HasText = "item03" })).ToContainTextAsync("mine");
        await OpenDocumentAsync("item03");
        await Page.FillAsync("#document-json", "{ nonsense");
        ExpectedError = "400";
        await Page.ClickAsync("text=Save");
        await Expect(Page.Locator("#editor-message")).ToContainTextAsync("The text is no JSON");
        await Page.Keyboard.PressAsync("Escape");
        await Expect(Page.Locator("#editor")).ToBeHiddenAsync();
    }

    [Fact]
    public async Task Documents_are_created_and_deleted()
    {
        await Page.ClickAsync("#new-document");
        await Page.FillAsync("#document-id", "a/b %2F é");
        await Page.FillAsync("#document-json", """{"name":"new","n":12345678901234567890}""");
        await Page.ClickAsync("text=Save");
        await Expect(Page.Locator("#editor")).ToBeHiddenAsync();
        await QueryAsync("name = \"new\"");
        await Expect(Page.Locator("tbody")).ToContainTextAsync("12345678901234567890");
        await OpenDocumentAsync("a/b %2F é");
        (await Page.InputValueAsync("#document-json")).Should().Contain("\"n\": 12345678901234567890");
        Page.Dialog += (_, dialog) => dialog.AcceptAsync();
        await Page.ClickAsync("#delete-document");
        await Expect(Page.Locator("#summary")).ToContainTextAsync("0 documents");
        Items.TryGet("a/b %2F é", out _).Should().BeFalse();
    }

    [Fact]
    public async Task What_a_document_contains_is_text()
    {
        const string Attack = "<img src=x onerror=\"document.title='hit'\"><script>document.title='hit'</script>";
        var id = $"{Attack} &amp; '";
        var quoted = System.Text.Json.JsonSerializer.Serialize(Attack);
        var json = $$"""{{{quoted}}:{{quoted}},"__proto__":{"x":1},"evil":1}""";
        await Page.ClickAsync("#watch");
        await Expect(Page.Locator("#live-state")).ToContainTextAsync("Watching all");
        Items.Put(Json(json), id);
        await Items.PutAttachmentAsync(id, Attack, new MemoryStream([1]), cancellationToken: TestContext.Current.CancellationToken);
        await QueryAsync("evil = 1");
        await Expect(Page.Locator("tbody")).ToContainTextAsync("<img src=x");
        await OpenDocumentAsync(id);
        await Expect(Page.Locator("#files")).ToContainTextAsync("<script>");
        await Page.Keyboard.PressAsync("Escape");
        await Page.GetByLabel("JSON", new PageGetByLabelOptions { Exact = true }).First.CheckAsync();
        await Expect(Page.Locator("#changes li")).ToHaveCountAsync(1);
        (await Page.TitleAsync()).Should().Be("Documents");
        (await Page.Locator("img").CountAsync()).Should().Be(1, "the page has one of its own");
    }

    [Fact]
    public async Task A_file_is_attached_downloaded_and_deleted()
    {
        await OpenDocumentAsync("item01");
        var content = Encoding.UTF8.GetBytes("the content of the file");
        await Page.SetInputFilesAsync("#upload", new FilePayload { Name = "notes é#1.txt", MimeType = "text/plain", Buffer = content });
        await Expect(Page.Locator("#files")).ToContainTextAsync("notes é#1.txt");
        await Expect(Page.Locator("#upload-state")).ToContainTextAsync("is attached");
        var download = await Page.RunAndWaitForDownloadAsync(() => Page.ClickAsync("#files a"));
        download.SuggestedFilename.Should().Be("notes é#1.txt");
        (await File.ReadAllBytesAsync((await download.PathAsync())!, TestContext.Current.CancellationToken)).Should().Equal(content);
        await PictureAsync("attachment");
        Page.Dialog += (_, dialog) => dialog.AcceptAsync();
        await Page.ClickAsync("#files button");
        await Expect(Page.Locator("#files li")).ToHaveCountAsync(0);
    }

    [Fact]
    public async Task Changes_are_shown_as_they_are_made()
    {
        await QueryAsync("size > 100000 order by size");
        await Page.ClickAsync("#watch");
        await Expect(Page.Locator("#live-state")).ToHaveTextAsync("Watching items: size > 100000");
        Items.Put(Json("""{"size":5}"""), "small");
        Items.Put(Json("""{"size":500000}"""), "large");
        Items.Delete("large");
        await Expect(Page.Locator("#changes li")).ToHaveCountAsync(2);
        await Expect(Page.Locator("#changes li").First).ToContainTextAsync("deleted");
        await Expect(Page.Locator("#changes li").Last).ToContainTextAsync("500000");
        await PictureAsync("watch");
        await Server.Store.DropCollectionAsync("items", TestContext.Current.CancellationToken);
        await Expect(Page.Locator("#live-state")).ToHaveTextAsync("The collection was deleted.");
    }

    [Fact]
    public async Task Collections_and_indexes_are_made_with_the_keyboard()
    {
        await Page.FocusAsync("#open-settings");
        await Page.Keyboard.PressAsync("Enter");
        await Page.FocusAsync("#index-path");
        await Page.Keyboard.TypeAsync("section");
        await Page.Keyboard.PressAsync("Enter");
        await Expect(Page.Locator("#index-list")).ToContainTextAsync("$.section");
        await PictureAsync("indexes");
        await Page.Keyboard.PressAsync("Escape");
        await QueryAsync("section = \"games\"");
        await Expect(Page.Locator("#plan-text")).ToContainTextAsync("index $.section");

        await Page.FocusAsync("#add-collection");
        await Page.Keyboard.PressAsync("Enter");
        await Page.Keyboard.TypeAsync("other/ones");
        await Page.Keyboard.PressAsync("Enter");
        await Expect(Page.Locator("#collection")).ToHaveValueAsync("other/ones");
        await Expect(Page.Locator("#summary")).ToContainTextAsync("0 documents");
    }

    [Fact]
    public async Task Words_and_the_expiry_are_settings()
    {
        await Page.ClickAsync("#open-settings");
        await Page.FillAsync("#words-paths", "name\n\n  section  ");
        await Page.ClickAsync("text=Index words");
        await Expect(Page.Locator("#settings-state")).ToContainTextAsync("can be searched for");
        await Expect(Page.Locator("#words-paths")).ToHaveValueAsync("$.name\n$.section");
        ExpectedError = "400";
        await Page.FillAsync("#words-paths", "name[");
        await Page.ClickAsync("text=Index words");
        await Expect(Page.Locator("#settings-message")).ToContainTextAsync("name[");
        await Expect(Page.Locator("#words-paths")).ToHaveValueAsync("name[");

        Page.Dialog += (_, dialog) => dialog.AcceptAsync();
        await Page.FillAsync("#expiry-path", "end");
        await Page.ClickAsync("text=Set expiry");
        await Expect(Page.Locator("#settings-state")).ToContainTextAsync("end at their time");
        await PictureAsync("settings");
        await Page.Keyboard.PressAsync("Escape");
        Items.Settings.ExpiryPath.Should().Be("$.end");
        Items.Put(Json("""{"name":"over","end":"2020-01-01"}"""), "over");

        await Page.GetByLabel("Words", new PageGetByLabelOptions { Exact = true }).CheckAsync();
        await QueryAsync("number games");
        await Expect(Page.Locator("#summary")).ToContainTextAsync("10 documents");
        await QueryAsync("over");
        await Expect(Page.Locator("#summary")).ToContainTextAsync("0 documents");

        await Page.ClickAsync("#open-settings");
        await Page.FillAsync("#words-paths", "");
        await Page.ClickAsync("text=Index words");
        await Expect(Page.Locator("#settings-state")).ToContainTextAsync("not searched for");
        await Expect(Page.Locator("#modes")).ToBeHiddenAsync();
        await Page.FillAsync("#expiry-path", "");
        await Page.ClickAsync("text=Set expiry");
        await Expect(Page.Locator("#settings-state")).ToContainTextAsync("No document ends");
        Items.Settings.ExpiryPath.Should().BeNull();
    }

    [Theory]
    [InlineData(1280, ColorScheme.Light)]
    [InlineData(1280, ColorScheme.Dark)]
    [InlineData(360, ColorScheme.Light)]
    [InlineData(360, ColorScheme.Dark)]
    public async Task The_page_fits_its_window(int width, ColorScheme scheme)
    {
        await OpenAsync(width, scheme, $"#collection=items&q={Uri.EscapeDataString("size > 1000")}");
        await Page.ClickAsync("#watch");
        await Expect(Page.Locator("#live-state")).ToContainTextAsync("Watching items");
        await PictureAsync($"page-{width}-{scheme}");
        (await WidthAsync()).Should().BeLessThanOrEqualTo(width, "only tables scroll to the side");
        await OpenDocumentAsync("item02");
        await PictureAsync($"editor-{width}-{scheme}");
        (await WidthAsync()).Should().BeLessThanOrEqualTo(width);
        await Page.Keyboard.PressAsync("Escape");
        await Page.ClickAsync("#open-settings");
        await PictureAsync($"settings-{width}-{scheme}");
        (await WidthAsync()).Should().BeLessThanOrEqualTo(width);
    }

    private Task<int> WidthAsync() => Page.EvaluateAsync<int>("document.documentElement.scrollWidth");
}
