using Voron.Compaction;
using Voron.Primitives;

namespace Voron;

/// <content>Compaction.</content>
public sealed partial class StorageEnvironment
{
    private int _isCompacting;

    /// <summary>
    /// Shortens the data file to about the size of its content, while other callers read and write: moves pages from the end of the file to earlier
    /// free space, and truncates the file.
    /// </summary>
    /// <remarks>
    /// <para>
    /// Pages move in short transactions of at most 128 KiB, each of which holds the writer for some milliseconds; long values are copied before their
    /// transaction. The compaction does not make the file grow. In addition to the file, the environment needs at most
    /// <see cref="StorageOptions.JournalLimitBytes"/> for the journal, as always, and, for ranges whose blocks had been returned to the file system,
    /// 256 MiB or the length of the longest value, whichever is larger.
    /// </para>
    /// <para>
    /// Readers continue undisturbed, and the space that they still use is truncated after they have ended: see
    /// <see cref="CompactionOptions.ReaderPatience"/>. While a caller keeps a write transaction open, the compaction waits for it; cancel the call to
    /// end that wait. However the call ends, moved pages stay moved, and nothing has to be resumed or repaired.
    /// </para>
    /// </remarks>
    /// <param name="options">The options; null for the defaults.</param>
    /// <param name="cancellationToken">Ends the compaction between two of its transactions.</param>
    /// <returns>A description of what was done.</returns>
    /// <exception cref="ArgumentException">An option is not valid.</exception>
    /// <exception cref="CorruptionException">The environment is damaged. The message names the page.</exception>
    /// <exception cref="StorageFullException">There is no room for the journal, or for blocks that had been returned to the file system.</exception>
    /// <exception cref="StorageAccessException">The data file cannot be read or grown.</exception>
    /// <exception cref="StorageMemoryException">There is not enough memory.</exception>
    /// <exception cref="EnvironmentPoisonedException">A write failed, now or earlier.</exception>
    /// <exception cref="InvalidOperationException">
    /// The environment is read-only, another compaction or too many backups and verifications are running, or the call was made inside a
    /// group-commit operation.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The environment is closed, or was closed during the call.</exception>
    /// <exception cref="OperationCanceledException">The compaction was cancelled.</exception>
    public ValueTask<CompactionReport> CompactAsync(CompactionOptions? options = null, CancellationToken cancellationToken = default)
    {
        ThrowIfNotWritable(nameof(CompactAsync));
        options = Check(options);
        var call = new LongCall(
            LongWork.Compaction,
            nameof(CompactAsync),
            $"The compaction of the environment in '{Path}' was cancelled. What it had moved stays moved.",
            " It was closed during a compaction. What that had moved stays moved.",
            $"There is not enough memory for a compaction of the environment in '{Path}': ");
        return _calls.RunAsync(call, (_, stop) => RunCompactionAsync(options, stop), options.IsOnOneThread, Log, Trace, cancellationToken);
    }

    /// <summary>
    /// Copies the content of the environment, in key order, to a new environment in another directory, while other callers read and write. The copy
    /// contains the state of one transaction, and gets a new id.
    /// </summary>
    /// <remarks>
    /// Unlike <see cref="CompactAsync"/>, this call makes the data file as short as possible and stores the pages in order. It holds one snapshot
    /// until it ends: meanwhile, nothing newer is flushed, and the journal grows up to <see cref="StorageOptions.JournalLimitBytes"/>, as with any
    /// reader that stays open. Until the copy is complete, its directory contains a file "voron.backup.partial" and cannot be opened. A failed or
    /// cancelled call deletes the partial copy. After a killed process, empty the directory.
    /// </remarks>
    /// <param name="directory">The directory, which is created if it is missing, and otherwise must be empty.</param>
    /// <param name="options">The options; null for the defaults.</param>
    /// <param name="cancellationToken">Cancels the copying.</param>
    /// <returns>A description of the copy.</returns>
    /// <exception cref="ArgumentException">The path is empty, or an option is not valid.</exception>
    /// <exception cref="BackupException">The directory is not empty (<see cref="BackupFault.TargetNotEmpty"/>).</exception>
    /// <exception cref="CorruptionException">The environment is damaged. The message names the page.</exception>
    /// <exception cref="StorageFullException">There is no room for the copy.</exception>
    /// <exception cref="StorageAccessException">The directory cannot be written.</exception>
    /// <exception cref="InvalidOperationException">The call was made inside a group-commit operation.</exception>
    /// <exception cref="ObjectDisposedException">The environment is closed, or was closed during the call.</exception>
    /// <exception cref="OperationCanceledException">The copying was cancelled.</exception>
    public ValueTask<CompactionReport> CompactToAsync(
        string directory, CompactionOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentException.ThrowIfNullOrEmpty(directory);
        options = Check(options);
        var call = new LongCall(
            LongWork.Compaction,
            nameof(CompactToAsync),
            $"The compacted copy of the environment in '{Path}' was cancelled, and not made.",
            " It was closed while a compacted copy was written, which was not made.",
            $"There is not enough memory for a compacted copy of the environment in '{Path}': ");
        return _calls.RunAsync(
            call, (_, stop) => new DenseCopy(this, directory, options, stop).RunAsync(), options.IsOnOneThread, (_, _) => { }, Trace,
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
            throw new InvalidOperationException($"Another compaction of the environment in '{Path}' is running. Wait for it to end.");
        try
        {
            var writing = _writing!;
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
                _engine.Logger, Path, report.BytesBefore, report.BytesAfter, report.BytesMoved, (long)report.Duration.TotalMilliseconds,
                report.LongestWriterHold.TotalMilliseconds);
        }
        else if (failure is not (null or OperationCanceledException or ObjectDisposedException))
        {
            CompactionLog.Failed(_engine.Logger, Path, failure.Message, failure);
        }

        if (report?.BlockedBy is { } reader)
        {
            CompactionLog.Blocked(
                _engine.Logger, Path, reader.TransactionId, reader.Age, reader.ThreadId, report.BytesAfter, reader.OpenedAt ?? "unknown");
        }
    }

    private void Trace(long began, CompactionReport? report, Exception? failure)
    {
        if (!EngineActivities.IsListening)
            return;
        KeyValuePair<string, object?>[] tags = report == null ? [] : [new(EngineActivities.Bytes, report.BytesMoved)];
        EngineActivities.Report(EngineActivities.Compaction, Name, WorkTime.Since(began), tags, failure);
    }
}
