using Microsoft.Extensions.Logging;

namespace Voron.Maintenance;

/// <summary>
/// Verifies everything from time to time, slowly, so that bytes which rot at rest are noticed before they are needed.
/// </summary>
internal sealed partial class Scrubber : IDisposable
{
    private readonly CancellationTokenSource _stop = new();
    private readonly Func<VerificationPace, VerificationReport> _verify;
    private readonly ILogger _logger;
    private readonly Action<VerificationReport>? _observer;
    private readonly Thread? _thread;

    public Scrubber(StorageOptions options, ILogger logger, Func<VerificationPace, VerificationReport> verify)
    {
        _verify = verify;
        _logger = logger;
        _observer = options.ScrubObserver;
        if (options.ScrubInterval == Timeout.InfiniteTimeSpan || !options.BackgroundFlush)
            return;
        _thread = new Thread(() => Run(options.ScrubInterval, options.ScrubBytesPerSecond))
        {
            IsBackground = true,
            Name = "Voron scrubber",
            Priority = ThreadPriority.BelowNormal,
        };
        _thread.Start();
    }

    /// <summary>Stops a walk that is under way; returns when the thread has ended.</summary>
    public void Dispose()
    {
        _stop.Cancel();
        _thread?.Join();
        _stop.Dispose();
    }

    private void Run(TimeSpan interval, long bytesPerSecond)
    {
        while (!_stop.Token.WaitHandle.WaitOne(interval))
        {
            try
            {
                var report = _verify(new VerificationPace(bytesPerSecond, _stop.Token));
                foreach (var problem in report.Problems)
                    LogProblem(_logger, report.TransactionId, problem);
                _observer?.Invoke(report);
            }
            catch (OperationCanceledException)
            {
                return;
            }
            catch (Exception e) when (e is VoronException or ObjectDisposedException)
            {
                LogFailed(_logger, e.Message, e);
            }
        }
    }

    [LoggerMessage(Level = LogLevel.Error, Message = "Scrubbing transaction {TransactionId} found: {Problem}")]
    private static partial void LogProblem(ILogger logger, long transactionId, string problem);

    [LoggerMessage(Level = LogLevel.Warning, Message = "Scrubbing failed: {Reason}")]
    private static partial void LogFailed(ILogger logger, string reason, Exception exception);
}
