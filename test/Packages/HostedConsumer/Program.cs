using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using Voron;

// A host as a user of the package writes it: options that trimming removes the setters of would keep their defaults.
var directory = Directory.CreateTempSubdirectory("voron-hosted-").FullName;
try
{
    var builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings { ContentRootPath = directory });
    builder.Configuration.AddInMemoryCollection(new Dictionary<string, string?>
    {
        ["Voron:Directory"] = "main",
        ["Voron:PageSize"] = "8192",
        ["Voron:ScrubInterval"] = "02:00:00",
        ["Voron:OpenMode"] = "CreateNew",
        ["Voron:Trees:0"] = "users",
        ["Voron:HealthCheck:MinVolumeFreeBytes"] = "1",
        ["Voron:orders:InMemory"] = "true",
        ["Voron:orders:HealthCheck:Tags:0"] = "ready",
    });
    builder.Services.AddVoron().AddKeyedVoron("orders", null, options => options.Trees.Add("orders"));
    using var host = builder.Build();
    await host.StartAsync();
    var options = host.Services.GetRequiredService<StorageEnvironment>().Options;
    Require(options is { PageSize: 8192, OpenMode: OpenMode.CreateNew } && options.ScrubInterval == TimeSpan.FromHours(2), "bound");
    Require(Directory.Exists(Path.Combine(directory, "main")), "opened");
    using (var reading = host.Services.GetRequiredKeyedService<StorageEnvironment>("orders").BeginRead())
        Require(reading.GetTreeNames() is ["orders"], "keyed");
    var report = await host.Services.GetRequiredService<HealthCheckService>().CheckHealthAsync();
    Require(report is { Status: HealthStatus.Healthy, Entries.Count: 2 }, "healthy");
    Require(report.Entries["voron_orders"].Tags.Contains("ready"), "tagged");
    await host.StopAsync();
    Console.WriteLine("The package works.");
}
finally
{
    Directory.Delete(directory, recursive: true);
}

static void Require(bool isTrue, string what)
{
    if (!isTrue)
        throw new InvalidOperationException($"Not {what}.");
}
