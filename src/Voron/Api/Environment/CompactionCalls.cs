using Voron.Compaction;
using Voron.Opening;
using Voron.Primitives;
using Voron.Transactions;

namespace Voron;

/// <summary>The calls that compact an environment, in place or as a copy.</summary>
/// <param name="opened">The environment.</param>
/// <param name="calls">Runs the calls.</param>
internal sealed class CompactionCalls(OpenedEngine opened, LongCalls calls)
{
    private readonly Engine _engine = opened.Engine;
    private readonly string _path = opened.Engine.Disk.Path;

    // 1 while a compaction runs.
    private int _isCompacting;

    /// <inheritdoc cref="StorageEnvironment.CompactAsync"/>
    public ValueTask<CompactionReport> CompactAsync(CompactionOptions? options, CancellationToken cancellationToken)
    {
        options = Check(options);
        var call = new LongCall(
            LongWork.Compaction,
            nameof(StorageEnvironment.CompactAsync),
            $"The compaction of the environment in '{_path}' was cancelled. Moved pages stay moved.",
            " It was closed during a compaction. Moved pages stay moved.",
            $"There is not enough memory for a compaction of the environment in '{_path}': ");
        return calls.RunAsync(call, (_, stop) => RunCompactionAsync(options, stop), options.IsOnOneThread, Log, Trace, cancellationToken);
    }

    /// <inheritdoc cref="StorageEnvironment.CompactToAsync"/>
    /// <param name="open">Creates the environment of the copy.</param>
    public ValueTask<CompactionReport> CompactToAsync(
        string directory, CompactionOptions? options, Func<string, StorageOptions, ICopyTarget> open, CancellationToken cancellationToken)
    {
        options = Check(options);
        var call = new LongCall(
            LongWork.Compaction,
            nameof(StorageEnvironment.CompactToAsync),
            $"The compacted copy of the environment in '{_path}' was cancelled, and not made.",
            " It was closed while a compacted copy was being written. The copy was not made.",
            $"There is not enough memory for a compacted copy of the environment in '{_path}': ");
        return calls.RunAsync(
            call, (_, stop) => new DenseCopy(opened, directory, options, open, stop).RunAsync(), options.IsOnOneThread, (_, _) => { }, Trace,
            cancellationToken);
    }

    private static CompactionOptions Check(CompactionOptions? options)
    {
        options = options == null ? new CompactionOptions() : options.Copy();
        if (options.MaxBytesPerSecond < 0)
        {
            throw new ArgumentException(
                $"{nameof(CompactionOptions.MaxBytesPerSecond)} is {options.MaxBytesPerSecond}; it must not be negative.", nameof(options));
        }

        if (options.ReaderPatience < TimeSpan.Zero)
        {
            throw new ArgumentException(
                $"{nameof(CompactionOptions.ReaderPatience)} is {options.ReaderPatience}; it must not be negative.", nameof(options));
        }

        return options;
    }

    private async Task<CompactionReport> RunCompactionAsync(CompactionOptions options, CancellationToken stop)
    {
        if (Interlocked.Exchange(ref _isCompacting, 1) != 0)
            throw new InvalidOperationException($"Another compaction of the environment in '{_path}' is running. Wait for it to end.");
        try
        {
            var writing = opened.Writing!;
            var parts = new CompactionParts(writing.Entrance, writing.Flusher, writing.Reclaimer, writing.Staging);
            using var run = new CompactionRun(_engine, writing.Writer, parts, options, stop);
            return await run.RunAsync().ConfigureAwait(false);
        }
        finally
        {
            Volatile.Write(ref _isCompacting, 0);
        }
    }

    private void Log(CompactionReport? report, Exception? failure)
    {
        if (report != null)
        {
            CompactionLog.Finished(
                _engine.Logger, _path, report.BytesBefore, report.BytesAfter, report.BytesMoved, (long)report.Duration.TotalMilliseconds,
                report.LongestWriterHold.TotalMilliseconds);
        }
        else if (failure is not (null or OperationCanceledException or ObjectDisposedException))
        {
            CompactionLog.Failed(_engine.Logger, _path, failure.Message, failure);
        }

        if (report?.BlockedBy is { } reader)
        {
            CompactionLog.Blocked(
                _engine.Logger, _path, reader.TransactionId, reader.Age, reader.ThreadId, report.BytesAfter, reader.OpenedAt ?? "unknown");
        }
    }

    private void Trace(long began, CompactionReport? report, Exception? failure)
    {
        if (!EngineActivities.IsListening)
            return;
        KeyValuePair<string, object?>[] tags = report == null ? [] : [new(EngineActivities.Bytes, report.BytesMoved)];
        EngineActivities.Report(EngineActivities.Compaction, _engine.Name.Text, WorkTime.Since(began), tags, failure);
    }
}
