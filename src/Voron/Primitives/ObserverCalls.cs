using Microsoft.Extensions.Logging;

namespace Voron.Primitives;

/// <summary>The argument for a call to an observer: one of the two fields.</summary>
/// <param name="Commit">The report of a commit, when <paramref name="Other"/> is null.</param>
/// <param name="Other">A report of another kind.</param>
internal readonly record struct ObserverCall(CommitReport Commit, object? Other);

/// <param name="Report">The subject of the report.</param>
/// <param name="Call">Calls the observer.</param>
internal sealed record BackgroundCall(string Report, Action Call);

/// <summary>Calls observers one at a time, in the order of events.</summary>
internal sealed class ObserverCalls(StorageOptions options, ILogger logger) : UserCalls<ObserverCall>
{
    protected override void Call(in ObserverCall call)
    {
        switch (call.Other)
        {
            case null:
                options.CommitObserver?.Invoke(call.Commit);
                break;
            case FlushReport report:
                options.FlushObserver?.Invoke(report);
                break;
            case SlowReaderReport report:
                options.SlowReaderObserver?.Invoke(report);
                break;
            case BackgroundCall other:
                other.Call();
                break;
        }
    }

    protected override void Failed(in ObserverCall call, Exception failure) =>
        CallbackLog.ObserverFailed(logger, NameOf(call), failure.Message, failure);

    protected override void Lost(long calls) => CallbackLog.ReportsLost(logger, calls);

    private static string NameOf(in ObserverCall call) =>
        call.Other is BackgroundCall other ? other.Report : (call.Other ?? call.Commit).GetType().Name;
}
