using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Voron.Primitives;

/// <summary>
/// The user's loggers, as the engine sees them: one logger that never throws, never waits, and may be written to with any lock held. Entries
/// reach the user's logger of their category a moment later, from another thread, in order.
/// </summary>
/// <remarks>
/// The check whether a level is enabled is also deferred, because it is the user's code as well. So is the creation of a logger, which therefore
/// waits for the first entry of its category.
/// </remarks>
internal sealed class GuardedLogger : UserCalls<LogCall>, ILogger
{
    private readonly ILoggerFactory _factory;
    private readonly ILogger?[] _loggers = new ILogger?[LogCategories.Names.Length];

    private GuardedLogger(ILoggerFactory factory) => _factory = factory;

    /// <summary>Returns the logger for the user's factory, or one that logs nothing when there is none.</summary>
    public static ILogger Of(ILoggerFactory? factory) => factory is null or NullLoggerFactory ? NullLogger.Instance : new GuardedLogger(factory);

    /// <summary>Returns true while the user's logger is being called.</summary>
    public static bool IsBusy(ILogger logger) => logger is GuardedLogger { IsCalling: true };

    /// <summary>Writes the waiting entries, and waits at most <paramref name="longest"/> for an entry that is being written.</summary>
    public static void Finish(ILogger logger, TimeSpan longest) => (logger as GuardedLogger)?.Finish(longest);

    /// <summary>Writes the waiting entries on this thread, which must hold no engine lock.</summary>
    public static void WriteHere(ILogger logger) => (logger as GuardedLogger)?.CallHere();

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => true;

    public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
    {
        void Write(ILogger logger)
        {
            if (logger.IsEnabled(logLevel))
                logger.Log(logLevel, eventId, state, exception, formatter);
        }

        Post(new LogCall(LogCategories.IndexOf(eventId.Id), Write));
        CallElsewhere();
    }

    protected override void Call(in LogCall call) => call.Write(LoggerOf(call.Category));

    // There is nowhere to report the failure of a log.
    protected override void Failed(in LogCall call, Exception failure)
    {
    }

    protected override void Lost(long calls)
    {
        try
        {
            CallbackLog.LogEntriesLost(LoggerOf(0), calls);
        }
        catch (Exception)
        {
            // As above.
        }
    }

    // Calls are made one at a time.
    private ILogger LoggerOf(int category) => _loggers[category] ??= _factory.CreateLogger(LogCategories.Names[category]);
}

/// <summary>A log entry waiting to be written.</summary>
/// <param name="Category">The index of its category in <see cref="LogCategories.Names"/>.</param>
/// <param name="Write">Writes it to the user's logger of that category.</param>
internal readonly record struct LogCall(int Category, Action<ILogger> Write);
