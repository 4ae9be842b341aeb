using System.Text;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Time.Testing;
using Voron.Extensions.Caching;

namespace Voron.Extensions.Tests.Caching;

/// <summary>Deleting what has expired, and keeping what was read in time.</summary>
[Quick]
public sealed class CacheSweepTests
{
    private static readonly DistributedCacheEntryOptions Forever = new();

    [Fact]
    public async Task Expired_entries_are_deleted_and_the_others_kept()
    {
        using var fixture = new CacheFixture();
        for (var i = 0; i < 1_700; i++)
            fixture.Cache.Set($"key {i}", [1], i % 17 == 0 ? Forever : CacheFixture.After(TimeSpan.FromMinutes(1 + (i % 2))));
        fixture.Time.Advance(TimeSpan.FromMinutes(1));
        (await Sweep(fixture)).Should().Be(Enumerable.Range(0, 1_700).Count(i => i % 17 != 0 && i % 2 == 0));
        fixture.Time.Advance(TimeSpan.FromMinutes(1));
        (await Sweep(fixture)).Should().Be(Enumerable.Range(0, 1_700).Count(i => i % 17 != 0 && i % 2 == 1));
        (await Sweep(fixture)).Should().Be(0);
        Enumerable.Range(0, 1_700).Count(i => fixture.Cache.Get($"key {i}") != null).Should().Be(100);
    }

    [Fact]
    public async Task An_entry_that_was_read_in_time_is_not_deleted()
    {
        using var fixture = new CacheFixture();
        fixture.Cache.Set("read", [1], CacheFixture.Sliding(TimeSpan.FromMinutes(2)));
        fixture.Cache.Set("not read", [2], CacheFixture.Sliding(TimeSpan.FromMinutes(2)));
        fixture.Time.Advance(TimeSpan.FromMinutes(1));
        fixture.Cache.Get("read").Should().NotBeNull();
        fixture.Time.Advance(TimeSpan.FromMinutes(1));
        (await Sweep(fixture)).Should().Be(1);
        fixture.Cache.Get("read").Should().Equal(1);
        fixture.Time.Advance(TimeSpan.FromMinutes(2));
        (await Sweep(fixture)).Should().Be(1);
    }

    [Fact]
    public void Times_of_access_survive_the_close()
    {
        using var fixture = new CacheFixture();
        fixture.Cache.Set("key", [1], CacheFixture.Sliding(TimeSpan.FromMinutes(2)));
        fixture.Time.Advance(TimeSpan.FromMinutes(1.5));
        fixture.Cache.Get("key").Should().NotBeNull();
        fixture.Reopen();
        fixture.Time.Advance(TimeSpan.FromMinutes(1.5));
        fixture.Cache.Get("key").Should().NotBeNull();
    }

    [Fact]
    public async Task The_limit_of_size_deletes_what_expires_first()
    {
        using var fixture = new CacheFixture(options => options.SizeLimitBytes = 50_000);
        for (var i = 0; i < 100; i++)
            fixture.Cache.Set($"key {i:00}", new byte[1_000], i < 20 ? Forever : CacheFixture.After(TimeSpan.FromMinutes(i)));
        (await Sweep(fixture)).Should().Be(50);
        for (var i = 0; i < 100; i++)
            (fixture.Cache.Get($"key {i:00}") != null).Should().Be(i is < 20 or >= 70, "the key is {0}", i);
        (await Sweep(fixture)).Should().Be(0);
    }

    [Fact]
    public async Task The_timer_deletes_expired_entries()
    {
        using var fixture = new CacheFixture(options => options.ExpirationScanInterval = TimeSpan.FromMinutes(1));
        using var environment = StorageEnvironment.OpenInMemory();
        await using var cache = new VoronCache(environment, new VoronCacheOptions { ExpirationScanInterval = TimeSpan.FromMinutes(1) }, fixture.Time);
        cache.Set("key", [1], CacheFixture.After(TimeSpan.FromSeconds(30)));
        Count(environment).Should().Be(1);
        fixture.Time.Advance(TimeSpan.FromMinutes(1));
        await TestWait.UntilAsync(() => Count(environment) == 0);
    }

    [Fact]
    public async Task An_entry_without_expiration_gets_the_default()
    {
        using var fixture = new CacheFixture(options => options.DefaultSlidingExpiration = TimeSpan.FromMinutes(20));
        fixture.Cache.Set("key", [1], Forever);
        fixture.Cache.Set("own", [1], CacheFixture.After(TimeSpan.FromHours(1)));
        fixture.Time.Advance(TimeSpan.FromMinutes(20));
        fixture.Cache.Get("key").Should().BeNull();
        fixture.Cache.Get("own").Should().NotBeNull();
        (await Sweep(fixture)).Should().Be(1);
    }

    [Fact]
    public async Task Callers_at_the_same_time_leave_entries_and_index_in_step()
    {
        var seed = TestSeed.Choose();
        var time = new FakeTimeProvider(new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero));
        using var environment = StorageEnvironment.OpenInMemory();
        await using var cache = new VoronCache(environment, new VoronCacheOptions { ExpirationScanInterval = TimeSpan.FromDays(1) }, time);
        await Task.WhenAll(Enumerable.Range(0, 4).Select(worker => Task.Run(
            async () =>
            {
                var random = new Random(seed + worker);
                for (var i = 0; i < 1_000; i++)
                    await Step(cache, random, time);
            })));
        using var reading = environment.BeginRead();
        var indexed = Keys(reading.OpenTree("cache.expiry"), sizeof(long)).Order(StringComparer.Ordinal);
        indexed.Should().Equal(Keys(reading.OpenTree("cache"), 0).Order(StringComparer.Ordinal), "the seed is {0}", seed);
    }

    private static async Task Step(VoronCache cache, Random random, FakeTimeProvider time)
    {
        var key = $"key {random.Next(20)}";
        switch (random.Next(8))
        {
            case < 4:
                var options = random.Next(2) == 0 ? CacheFixture.Sliding(TimeSpan.FromSeconds(1 + random.Next(20))) : Forever;
                await cache.SetAsync(key, new byte[random.Next(100)], options);
                break;
            case 4:
                await cache.RemoveAsync(key);
                break;
            case 5:
                time.Advance(TimeSpan.FromSeconds(random.NextDouble()));
                break;
            case 6 when random.Next(10) == 0:
                await cache.RemoveExpiredAsync();
                break;
            default:
                cache.Get(key);
                break;
        }
    }

    private static List<string> Keys(Tree tree, int from)
    {
        var keys = new List<string>();
        foreach (var entry in tree.GetEntries())
            keys.Add(Encoding.UTF8.GetString(entry.Key[from..]));
        return keys;
    }

    private static Task<long> Sweep(CacheFixture fixture) => fixture.Cache.RemoveExpiredAsync(TestContext.Current.CancellationToken);

    private static long Count(StorageEnvironment environment)
    {
        using var reading = environment.BeginRead();
        return reading.OpenTree("cache").Count;
    }
}
