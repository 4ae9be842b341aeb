using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Voron.Primitives;

/// <summary>
/// The user's log, as the engine sees it: never throws, waits for nothing, and may be written to with any lock held. What is written
/// reaches the user's log a moment later, from another thread, in order.
/// </summary>
/// <remarks>Whether a level is wanted is asked later too: that is the user's code as well.</remarks>
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

    /// <summary>Writes what waits, and waits for what is being written, for a time at most.</summary>
    public static void Finish(ILogger logger, TimeSpan longest) => (logger as GuardedLogger)?.Finish(longest);

    /// <summary>Writes what waits, on this thread, which must hold no lock of the engine's.</summary>
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

    // A log that fails has nowhere to say so.
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

    [LoggerMessage(Level = LogLevel.Warning, Message = "{Entries} entries were not logged, because the log did not return from one before them.")]
    private static partial void LogLost(ILogger logger, long entries);
}
