namespace Voron.Documents.BrowserTests;

/// <summary>The browser of the system, without a window.</summary>
public sealed class BrowserFixture : IAsyncLifetime
{
    private IPlaywright? _playwright;

    /// <summary>Null if this machine has none.</summary>
    public IBrowser? Browser { get; private set; }

    /// <summary>Where the browser of this machine has to be.</summary>
    public static string Path => Environment.GetEnvironmentVariable("CHROMIUM") ?? "/usr/bin/chromium";

    public async ValueTask InitializeAsync()
    {
        if (!File.Exists(Path))
            return;
        _playwright = await Playwright.CreateAsync();
        Browser = await _playwright.Chromium.LaunchAsync(new BrowserTypeLaunchOptions
        {
            ExecutablePath = Path,

            // Root has no sandbox, and a container has little shared memory.
            Args = ["--no-sandbox", "--disable-dev-shm-usage"],
        });
    }

    public async ValueTask DisposeAsync()
    {
        if (Browser != null)
            await Browser.DisposeAsync();
        _playwright?.Dispose();
    }
}

/// <summary>One browser for all tests.</summary>
[CollectionDefinition(Name)]
[System.Diagnostics.CodeAnalysis.SuppressMessage("Naming", "CA1711", Justification = "It is one, of tests.")]
public sealed class BrowserCollection : ICollectionFixture<BrowserFixture>
{
    public const string Name = "browser";
}
