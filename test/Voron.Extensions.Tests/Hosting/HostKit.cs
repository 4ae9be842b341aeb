using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;

namespace Voron.Extensions.Tests.Hosting;

/// <summary>Hosts with a configuration that a test gives.</summary>
internal static class HostKit
{
    /// <summary>A builder whose content root is a directory of the test.</summary>
    public static HostApplicationBuilder Builder(TestDirectory directory, params (string Key, string Value)[] configuration)
    {
        var builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings { ContentRootPath = directory.Path });
        Configure(builder.Configuration, configuration);
        return builder;
    }

    /// <summary>Services without a host.</summary>
    public static ServiceCollection Services(params (string Key, string Value)[] configuration)
    {
        var services = new ServiceCollection();
        var builder = new ConfigurationBuilder();
        Configure(builder, configuration);
        services.AddSingleton<IConfiguration>(builder.Build());
        return services;
    }

    public static async Task<HealthReportEntry> CheckHealthAsync(IServiceProvider services, string name = "voron")
    {
        var report = await services.GetRequiredService<HealthCheckService>().CheckHealthAsync(TestContext.Current.CancellationToken);
        report.Entries.Keys.Should().Contain(name);
        return report.Entries[name];
    }

    public static void Put(StorageEnvironment environment, string key) =>
        environment.Write(writing => writing.CreateTree("tree").Put(System.Text.Encoding.UTF8.GetBytes(key), "value"u8));

    public static bool Has(StorageEnvironment environment, string key)
    {
        using var reading = environment.BeginRead();
        return reading.TryOpenTree("tree", out var tree) && tree.Contains(System.Text.Encoding.UTF8.GetBytes(key));
    }

    private static void Configure(IConfigurationBuilder builder, (string Key, string Value)[] configuration) =>
        builder.AddInMemoryCollection(configuration.Select(entry => KeyValuePair.Create(entry.Key, (string?)entry.Value)));
}
