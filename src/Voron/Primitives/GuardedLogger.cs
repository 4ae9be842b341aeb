using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Voron.Primitives;

/// <summary>
/// The user's log, as the engine sees it: never throws, never waits, and may be written to with any lock held. Entries reach the user's
/// log a moment later, from another thread, in order.
/// </summary>
/// <remarks>The check whether a level is enabled also comes later, because it is the user's code as well.</remarks>
internal sealed partial class GuardedLogger : UserCalls<Action<ILogger>>, ILogger
{
    private readonly ILogger _logger;

    private GuardedLogger(ILogger logger) => _logger = logger;

    /// <summary>Wraps a log, unless it is wrapped already or there is none.</summary>
    public static ILogger Wrap(ILogger? logger) => logger switch
    {
        null => NullLogger.Instance,
        NullLogger or GuardedLogger => logger,
        _ => new GuardedLogger(logger),
    };

    /// <summary>Writes the waiting entries, and waits at most <paramref name="longest"/> for an entry that is being written.</summary>
    public static void Finish(ILogger logger, TimeSpan longest) => (logger as GuardedLogger)?.Finish(longest);

    /// <summary>Writes the waiting entries on this thread, which must hold no engine lock.</summary>
    public static void WriteHere(ILogger logger) => (logger as GuardedLogger)?.CallHere();

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => true;

    public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
    {
        Post(logger =>
        {
            if (logger.IsEnabled(logLevel))
                logger.Log(logLevel, eventId, state, exception, formatter);
        });
        CallElsewhere();
    }

    protected override void Call(in Action<ILogger> call) => call(_logger);

    // A log that fails has nowhere to report it.
    protected override void Failed(in Action<ILogger> call, Exception failure)
    {
    }

    protected override void Lost(long calls)
    {
        try
        {
            LogLost(_logger, calls);
        }
        catch (Exception)
        {
            // As above.
        }
    }

    [LoggerMessage(Level = LogLevel.Warning, Message = "The logger did not return from an earlier entry, so {Entries} entries were not logged.")]
    private static partial void LogLost(ILogger logger, long entries);
}
