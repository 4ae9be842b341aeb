using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Caching.Hybrid;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Voron.Extensions.Caching;

namespace Voron.Extensions.Tests.Caching;

/// <summary>The cache among the services of an application.</summary>
public sealed class CacheServicesTests
{
    [Fact]
    public async Task HybridCache_uses_it_as_its_second_level()
    {
        using var directory = new TestDirectory();
        for (var process = 0; process < 2; process++)
        {
            var services = new ServiceCollection();
            services.AddVoronCache(options => options.Directory = directory.Path);
            services.AddHybridCache();
            await using var provider = services.BuildServiceProvider();
            var made = 0;
            var hybrid = provider.GetRequiredService<HybridCache>();
            var value = await hybrid.GetOrCreateAsync(
                "key", _ => ValueTask.FromResult($"made {++made}"), cancellationToken: TestContext.Current.CancellationToken);
            value.Should().Be("made 1");
            made.Should().Be(1 - process, "the second process finds the first one's value");

            // HybridCache returns a value before it writes it to its second level.
            var second = provider.GetRequiredService<IDistributedCache>();
            TestWait.Until(() => second.Get("key") is not null, "the value reaches the second level");
            await hybrid.SetAsync("other", "value", cancellationToken: TestContext.Current.CancellationToken);
            await hybrid.RemoveAsync("other", TestContext.Current.CancellationToken);
        }
    }

    [Fact]
    public async Task Two_caches_share_an_environment_of_the_application()
    {
        using var environment = StorageEnvironment.OpenInMemory();
        var services = new ServiceCollection();
        services.AddVoronCache(_ => environment, options => options.TreeName = "one");
        await using (var provider = services.BuildServiceProvider())
        {
            await using var other = new VoronCache(environment, new VoronCacheOptions { TreeName = "two" });
            await provider.GetRequiredService<IDistributedCache>().SetStringAsync("key", "one", TestContext.Current.CancellationToken);
            other.Get("key").Should().BeNull();
        }

        using var reading = environment.BeginRead();
        reading.GetTreeNames().Should().Equal("one", "one.expiry", "two", "two.expiry");
    }

    [Theory]
    [InlineData(null)]
    [InlineData(Durability.Durable)]
    public async Task Changes_are_lazy_unless_the_options_say_otherwise(Durability? durability)
    {
        using var directory = new TestDirectory();
        using var environment = StorageEnvironment.Open(directory.Path, new StorageOptions { LazyInterval = TimeSpan.FromHours(1) });
        var options = new VoronCacheOptions();
        if (durability is { } chosen)
            options.Durability = chosen;
        await using var cache = new VoronCache(environment, options);
        environment.Flush();
        Action[] changes = [() => cache.Set("key", [1], new DistributedCacheEntryOptions()), () => cache.Remove("key")];
        for (var done = 1; done <= changes.Length; done++)
        {
            changes[done - 1]();
            var statistics = environment.GetStatistics();
            (statistics.PublishedTransactionId - statistics.DurableTransactionId).Should().Be(durability == null ? done : 0);
        }
    }

    [Fact]
    public void Options_that_are_not_valid_are_all_named()
    {
        var options = new VoronCacheOptions
        {
            TreeName = "",
            DefaultSlidingExpiration = TimeSpan.Zero,
            ExpirationScanInterval = TimeSpan.FromDays(-1),
            SizeLimitBytes = -1,
            Durability = (Durability)2,
        };
        options.Invoking(wrong => wrong.Validate()).Should().Throw<ArgumentException>()
            .WithMessage("*TreeName*DefaultSlidingExpiration*ExpirationScanInterval*SizeLimitBytes*Durability*");
        using var environment = StorageEnvironment.OpenInMemory();
        ((Action)(() => _ = new VoronCache(environment, options))).Should().Throw<ArgumentException>();
        ((Action)(() => _ = new VoronCache(Options.Create(new VoronCacheOptions())))).Should().Throw<ArgumentException>().WithMessage("*Directory*");
    }

    [Fact]
    public void An_environment_for_reading_only_is_refused()
    {
        using var directory = new TestDirectory();
        StorageEnvironment.Open(directory.Path).Dispose();
        using var environment = StorageEnvironment.Open(directory.Path, new StorageOptions { ReadOnly = true });
        ((Action)(() => _ = new VoronCache(environment, new VoronCacheOptions()))).Should().Throw<InvalidOperationException>();
    }

    [Fact]
    public void A_directory_whose_options_are_wrong_is_not_left_open()
    {
        using var directory = new TestDirectory();
        var wrong = new VoronCacheOptions { Directory = directory.Path, SizeLimitBytes = -1 };
        ((Action)(() => _ = new VoronCache(Options.Create(wrong)))).Should().Throw<ArgumentException>();
        StorageEnvironment.Open(directory.Path).Dispose();
    }
}
