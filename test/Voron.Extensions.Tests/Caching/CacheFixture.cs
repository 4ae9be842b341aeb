using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Options;
using Microsoft.Extensions.Time.Testing;
using Voron.Extensions.Caching;

namespace Voron.Extensions.Tests.Caching;

/// <summary>A cache in a directory of its own, with a clock that the test moves.</summary>
internal sealed class CacheFixture : IDisposable
{
    private readonly TestDirectory _directory = new();
    private readonly VoronCacheOptions _options;

    public CacheFixture(Action<VoronCacheOptions>? configure = null)
    {
        // The timer of the sweeper must not run unless a test wants it.
        _options = new VoronCacheOptions { Directory = _directory.Path, ExpirationScanInterval = TimeSpan.FromDays(20) };
        configure?.Invoke(_options);
        Cache = Open();
    }

    public FakeTimeProvider Time { get; } = new(new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero));

    public VoronCache Cache { get; private set; }

    public static DistributedCacheEntryOptions Sliding(TimeSpan time) => new() { SlidingExpiration = time };

    public static DistributedCacheEntryOptions After(TimeSpan time) => new() { AbsoluteExpirationRelativeToNow = time };

    /// <summary>Closes the cache and opens it again.</summary>
    public void Reopen()
    {
        Cache.Dispose();
        Cache = Open();
    }

    public void Dispose()
    {
        Cache.Dispose();
        _directory.Dispose();
    }

    private VoronCache Open() => new(Options.Create(_options), Time);
}
