using System.Text;
using Voron.Documents.Tests.Web;
using static Microsoft.Playwright.Assertions;

namespace Voron.Documents.BrowserTests;

/// <summary>A page of a server with some documents. The end of a test checks that the page has reported no error.</summary>
[Collection(BrowserCollection.Name)]
public abstract class PageTest(BrowserFixture fixture) : IAsyncLifetime
{
    private readonly List<string> _errors = [];
    private IBrowserContext? _context;

    protected IPage Page { get; private set; } = null!;

    private protected RunningServer Server { get; private set; } = null!;

    private protected Collection Items => Server.Store.GetCollection("items");

    // Errors that a test provokes: a conflict is a status of 412, which browsers log.
    protected string ExpectedError { get; set; } = "none is expected";

    public virtual async ValueTask InitializeAsync()
    {
        Assert.SkipWhen(
            fixture.Browser == null,
            $"There is no browser '{BrowserFixture.Path}': scripts/install-packages.sh installs it, and the variable CHROMIUM names another one.");
        Server = await RunningServer.StartAsync();
        Items.PutMany([.. Enumerable.Range(1, 50).Select(n => ($"item{n:00}", Document(n)))]);
        await OpenAsync();
    }

    public async ValueTask DisposeAsync()
    {
        if (_context != null)
            await _context.DisposeAsync();
        if (Server != null)
            await Server.DisposeAsync();
        _errors.Should().BeEmpty();
        GC.SuppressFinalize(this);
    }

    protected async Task OpenAsync(int width = 1280, ColorScheme scheme = ColorScheme.Light, string hash = "")
    {
        if (_context != null)
            await _context.DisposeAsync();
        _context = await fixture.Browser!.NewContextAsync(new BrowserNewContextOptions
        {
            BaseURL = Server.Client.BaseAddress!.ToString(),
            ViewportSize = new ViewportSize { Width = width, Height = 900 },
            ColorScheme = scheme,
            AcceptDownloads = true,
        });
        Page = await _context.NewPageAsync();
        Page.SetDefaultTimeout((float)TestWait.Limit.TotalMilliseconds);
        SetDefaultExpectTimeout((float)TestWait.Limit.TotalMilliseconds);
        Page.PageError += (_, error) => _errors.Add(error);
        Page.Console += (_, message) =>
        {
            if (message.Type is "error" or "warning" && !message.Text.Contains(ExpectedError, StringComparison.Ordinal))
                _errors.Add(message.Text);
        };
        await Page.GotoAsync($"/{hash}");
        await Expect(Page.Locator("#summary")).ToContainTextAsync("looked at");
    }

    protected async Task QueryAsync(string text)
    {
        await Page.FillAsync("#text", text);
        await Page.PressAsync("#text", "Enter");
    }

    protected async Task OpenDocumentAsync(string id)
    {
        await Page.Locator("#found").GetByRole(AriaRole.Button, new LocatorGetByRoleOptions { Name = id, Exact = true }).ClickAsync();
        await Expect(Page.Locator("#editor")).ToBeVisibleAsync();
        await Expect(Page.Locator("#document-id")).ToHaveValueAsync(id);
    }

    /// <summary>Keeps a picture in the directory that the variable SCREENSHOTS names, if it does.</summary>
    protected async Task PictureAsync(string name)
    {
        if (Environment.GetEnvironmentVariable("SCREENSHOTS") is { } directory)
            await Page.ScreenshotAsync(new PageScreenshotOptions { Path = Path.Combine(directory, $"{name}.png"), FullPage = false });
    }

    protected static ReadOnlyMemory<byte> Json(string text) => Encoding.UTF8.GetBytes(text);

    private static ReadOnlyMemory<byte> Document(int n)
    {
        var section = n % 5 == 0 ? "games" : "libs";
        var rest = $$""" "tags":["small","tag{{n % 7}}"],"maker":{"name":"Ada"},"free":{{(n % 2 == 0 ? "true" : "null")}} """;
        return Json($$"""{"name":"Item number {{n}}","section":"{{section}}","size":{{n * 1000}},{{rest}}}""");
    }
}
