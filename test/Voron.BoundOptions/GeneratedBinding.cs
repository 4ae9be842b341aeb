using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;

namespace Voron.BoundOptions;

/// <summary>Calls of the configuration binder that the generator of this project replaces.</summary>
public static class GeneratedBinding
{
    /// <summary>Returns options as <c>Get</c> makes them.</summary>
    public static StorageOptions Get(IConfiguration configuration) => configuration.Get<StorageOptions>()!;

    /// <summary>Binds a section to existing options.</summary>
    public static void Bind(IConfiguration configuration, StorageOptions options) => configuration.Bind(options);

    /// <summary>Returns options as <c>Configure</c> and the options pattern make them.</summary>
    public static StorageOptions Configure(IConfiguration configuration)
    {
        var services = new ServiceCollection();
        services.Configure<StorageOptions>(configuration);
        using var provider = services.BuildServiceProvider();
        return provider.GetRequiredService<IOptions<StorageOptions>>().Value;
    }
}
