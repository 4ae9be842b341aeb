using Microsoft.Extensions.Logging;

namespace Voron.Simulation.Harness;

/// <summary>A factory that has the same logger for all categories.</summary>
internal sealed class OneLoggerFactory(ILogger logger) : ILoggerFactory
{
    /// <summary>Returns the factory, or null when there is no logger.</summary>
    public static OneLoggerFactory? Of(ILogger? logger) => logger == null ? null : new OneLoggerFactory(logger);

    public ILogger CreateLogger(string categoryName) => logger;

    public void AddProvider(ILoggerProvider provider) => throw new NotSupportedException("The factory has one logger.");

    public void Dispose()
    {
    }
}
