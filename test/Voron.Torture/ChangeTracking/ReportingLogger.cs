using Microsoft.Extensions.Logging;

namespace Voron.Torture.ChangeTracking;

/// <summary>Reports warnings of the engine as steps of a run.</summary>
internal sealed class ReportingLogger(Action<string> report) : ILogger
{
    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => logLevel >= LogLevel.Warning;

    public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
        report(formatter(state, exception));
}
