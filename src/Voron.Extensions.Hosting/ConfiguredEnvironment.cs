using System.Diagnostics.Metrics;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Voron.Extensions.Hosting;

/// <summary>An environment that is opened as the application's options say.</summary>
/// <param name="name">The name of the environment; empty for the default one.</param>
/// <param name="services">The services of the application.</param>
internal sealed class ConfiguredEnvironment(string name, IServiceProvider services) : IEnvironmentSource
{
    public string Section => EnvironmentNames.SectionOf(name);

    public EnvironmentOpening Prepare()
    {
        var settings = services.GetRequiredService<IOptionsMonitor<VoronSettings>>().Get(name);
        var options = new StorageOptions(services.GetRequiredService<IOptionsMonitor<StorageOptions>>().Get(name));
        UseDiagnostics(options);
        if (settings.InMemory)
        {
            var inMemory = ToInMemoryOptions(options);
            return new EnvironmentOpening(
                "memory",
                () => StorageEnvironment.OpenInMemory(inMemory),
                cancellationToken => Task.Run(() => StorageEnvironment.OpenInMemory(inMemory), cancellationToken));
        }

        var root = services.GetService<IHostEnvironment>()?.ContentRootPath ?? "";
        var directory = Path.GetFullPath(Path.Combine(root, settings.Directory!));
        return new EnvironmentOpening(
            directory,
            () => StorageEnvironment.Open(directory, options),
            cancellationToken => StorageEnvironment.OpenAsync(directory, options, cancellationToken));
    }

    /// <summary>Gives the environment the logging, the metrics and the name of the application, unless its options have others.</summary>
    private void UseDiagnostics(StorageOptions options)
    {
        options.LoggerFactory ??= services.GetService<ILoggerFactory>();
        options.MeterFactory ??= services.GetService<IMeterFactory>();
        if (name.Length > 0)
            options.Name ??= name;
    }

    /// <summary>Returns the options that apply in memory.</summary>
    internal static InMemoryOptions ToInMemoryOptions(StorageOptions options)
    {
        var inMemory = new InMemoryOptions
        {
            MaxTransactionBytes = options.MaxTransactionBytes,
            MaxGroupCommitBytes = options.MaxGroupCommitBytes,
            MaxQueuedOperations = options.MaxQueuedOperations,
            KeyHeadCacheBytes = options.KeyHeadCacheBytes,
            LargeValueBytes = options.LargeValueBytes,
            CaptureTransactionStacks = options.CaptureTransactionStacks,
            FlowExecutionContext = options.FlowExecutionContext,
            Name = options.Name,
            LoggerFactory = options.LoggerFactory,
            MeterFactory = options.MeterFactory,
            TimeProvider = options.TimeProvider,
            CommitObserver = options.CommitObserver,
        };
        inMemory.PageSize = options.PageSize ?? inMemory.PageSize;
        foreach (var tree in options.Trees)
            inMemory.Trees.Add(tree);
        return inMemory;
    }
}
