namespace Voron.Documents.BrowserTests;

/// <summary>The browser of the system, without a window.</summary>
public sealed class BrowserFixture : IAsyncLifetime
{
    private IPlaywright? _playwright;

    public IBrowser Browser { get; private set; } = null!;

    public async ValueTask InitializeAsync()
    {
        var path = Environment.GetEnvironmentVariable("CHROMIUM") ?? "/usr/bin/chromium";
        if (!File.Exists(path))
            throw new FileNotFoundException($"There is no browser '{path}'. scripts/install-packages.sh installs it; the variable CHROMIUM names another one.", path);
        _playwright = await Playwright.CreateAsync();
        Browser = await _playwright.Chromium.LaunchAsync(new BrowserTypeLaunchOptions
        {
            ExecutablePath = path,

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
