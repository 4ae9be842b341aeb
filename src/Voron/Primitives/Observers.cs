using Microsoft.Extensions.Logging;

namespace Voron.Primitives;

/// <summary>Calls what the user gave to be called: its failures are logged, and end nothing of the engine's.</summary>
internal static partial class Observers
{
    public static void Tell<T>(Action<T> observer, T report, ILogger logger)
    {
        try
        {
            observer(report);
        }
        catch (Exception e)
        {
            Failed(logger, typeof(T).Name, e.Message, e);
        }
    }

    [LoggerMessage(Level = LogLevel.Warning, Message = "The observer of {Report} failed: {Reason}")]
    private static partial void Failed(ILogger logger, string report, string reason, Exception exception);
}
