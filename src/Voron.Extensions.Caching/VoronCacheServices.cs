using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Voron.Extensions.Caching;

/// <summary>Adds a <see cref="VoronCache"/> to the services of an application.</summary>
public static class VoronCacheServices
{
    /// <summary>
    /// Adds a cache with an environment of its own, in the directory that the options name, as the application's distributed cache.
    /// </summary>
    /// <example>
    /// <code>
    /// builder.Services.AddVoronCache(options => options.Directory = "cache");
    /// builder.Services.AddHybridCache();
    /// </code>
    /// </example>
    public static IServiceCollection AddVoronCache(this IServiceCollection services, Action<VoronCacheOptions> configure)
    {
        ArgumentNullException.ThrowIfNull(configure);
        return Add(services, configure, provider => new VoronCache(
            provider.GetRequiredService<IOptions<VoronCacheOptions>>(), provider.GetService<TimeProvider>(), provider.GetService<ILoggerFactory>()));
    }

    /// <summary>Adds a cache in an environment of the application as the application's distributed cache.</summary>
    /// <param name="services">The services.</param>
    /// <param name="environment">Returns the environment. It is called once, at the first use of the cache, and keeps the environment.</param>
    /// <param name="configure">Sets options of the cache; null for the defaults.</param>
    public static IServiceCollection AddVoronCache(
        this IServiceCollection services, Func<IServiceProvider, StorageEnvironment> environment, Action<VoronCacheOptions>? configure = null)
    {
        ArgumentNullException.ThrowIfNull(environment);
        return Add(services, configure, provider => new VoronCache(
            environment(provider), provider.GetRequiredService<IOptions<VoronCacheOptions>>().Value, provider.GetService<TimeProvider>(),
            provider.GetService<ILoggerFactory>()));
    }

    private static IServiceCollection Add(
        IServiceCollection services, Action<VoronCacheOptions>? configure, Func<IServiceProvider, VoronCache> create)
    {
        ArgumentNullException.ThrowIfNull(services);
        services.AddOptions();
        if (configure != null)
            services.Configure(configure);
        services.TryAddSingleton(create);
        services.Add(ServiceDescriptor.Singleton<IDistributedCache>(provider => provider.GetRequiredService<VoronCache>()));
        return services;
    }
}
