using System.IO.Pipelines;
using System.Runtime.CompilerServices;
using System.Text;
using Microsoft.Extensions.Logging.Abstractions;
using Voron.Backup;
using Voron.Format;
using Voron.IO;
using Voron.Primitives;
using Voron.Transactions;

namespace Voron;

/// <content>Backups, and copies that can be opened.</content>
public sealed partial class StorageEnvironment
{
    private const int MaxNoteBytes = 64 << 10;

    /// <summary>
    /// Backs up the environment to a file, while other callers read and write. The backup contains the state of one transaction that was committed
    /// during the call. <see cref="BackupFile"/> verifies and restores it.
    /// </summary>
    /// <remarks>
    /// The backup reads pages from one snapshot after another, each held for a fraction of a second, and copies again the pages that have changed
    /// since they were copied. No flush therefore waits for long. Each page is checked while it is copied; a damaged page ends the backup. Large
    /// values, stored in separate pages, are checked only with <see cref="BackupOptions.VerifyValues"/>.
    /// <para>
    /// Until the backup is complete, a random number and ".partial" follow the file name. A failed or cancelled call deletes the partial file. If a
    /// killed process has left one, the next backup with that name deletes it.
    /// </para>
    /// </remarks>
    /// <param name="file">The path of the file, which must not exist yet, in a directory that exists.</param>
    /// <param name="options">The options; null for the defaults.</param>
    /// <param name="cancellationToken">Cancels the backup.</param>
    /// <returns>A description of the backup.</returns>
    /// <exception cref="ArgumentException">The path is empty, or an option is not valid.</exception>
    /// <exception cref="BackupException">
    /// The file exists (<see cref="BackupFault.TargetNotEmpty"/>), or the environment does not know the backup to build on
    /// (<see cref="BackupFault.UnknownBase"/>).
    /// </exception>
    /// <exception cref="CorruptionException">The environment is damaged. The message names the page.</exception>
    /// <exception cref="StorageFullException">There is no room for the file.</exception>
    /// <exception cref="StorageAccessException">The environment cannot be read, or the file cannot be written.</exception>
    /// <exception cref="EnvironmentPoisonedException">A write has failed, and the environment has lazy commits that are lost.</exception>
    /// <exception cref="InvalidOperationException">
    /// The call was made inside a group-commit operation, or too many backups and verifications are running.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The environment is closed, or was closed during the call.</exception>
    /// <exception cref="OperationCanceledException">The backup was cancelled.</exception>
    public ValueTask<BackupReport> BackupAsync(string file, BackupOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentException.ThrowIfNullOrEmpty(file);
        FileOutput.CheckPath(file, nameof(file));
        return BackUpAsync(() => FileOutput.Open(file, Options.FileMode), options, cancellationToken);
    }

    /// <summary>Backs up the environment to a stream, from its current position on. The stream stays open.</summary>
    /// <param name="target">The stream. It may be slow: only this call waits for it.</param>
    /// <param name="options">The options; null for the defaults.</param>
    /// <param name="cancellationToken">Cancels the backup, if the stream observes its token during a write.</param>
    /// <remarks>
    /// If the call fails or is cancelled, the stream contains the beginning of a backup, which nothing accepts as a backup. Exceptions from the
    /// stream pass through.
    /// <para>
    /// If a stream hangs and ignores its token, this call cannot return before the stream's write returns, because the stream is in use until then;
    /// dispose the stream to end that. Nothing else is blocked: once the call is cancelled or the environment is closed, no snapshot is held, closing
    /// does not wait for the stream, and the environment can be opened again.
    /// </para>
    /// </remarks>
    /// <exception cref="ArgumentException">The stream cannot be written, or an option is not valid.</exception>
    /// <inheritdoc cref="BackupAsync(string, BackupOptions?, CancellationToken)"/>
    public ValueTask<BackupReport> BackupAsync(Stream target, BackupOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(target);
        if (!target.CanWrite)
            throw new ArgumentException("The stream cannot be written.", nameof(target));
        return BackUpAsync(() => new StreamOutput(target), options, cancellationToken);
    }

    /// <summary>Backs up the environment to a pipe, which is not completed.</summary>
    /// <param name="target">The pipe. Its reader may be slow: nothing waits for it but this call.</param>
    /// <param name="options">The options; null for the defaults.</param>
    /// <param name="cancellationToken">Cancels the backup.</param>
    /// <exception cref="ArgumentException">An option is not valid.</exception>
    /// <exception cref="IOException">The reader of the pipe was completed before the backup was finished.</exception>
    /// <inheritdoc cref="BackupAsync(Stream, BackupOptions?, CancellationToken)"/>
    public ValueTask<BackupReport> BackupAsync(PipeWriter target, BackupOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(target);
        return BackUpAsync(() => new PipeOutput(target), options, cancellationToken);
    }

    /// <summary>
    /// Copies the environment to a directory, while other callers read and write. The copy contains the state of one transaction that was committed
    /// during the call, and can be opened at once.
    /// </summary>
    /// <remarks>
    /// The copy keeps the original's id and continues with its own history (a lineage). Until the copy is complete and durable, the directory
    /// contains a file "voron.backup.partial" and cannot be opened. A failed or cancelled call deletes the partial copy; after a killed process,
    /// empty the directory.
    /// </remarks>
    /// <param name="directory">The directory, which is created if it is missing, and otherwise must be empty.</param>
    /// <param name="options">The options; null for the defaults.</param>
    /// <param name="cancellationToken">Cancels the copying.</param>
    /// <returns>A description of the copy, without a backup id.</returns>
    /// <exception cref="ArgumentException">The path is empty, or an option is not valid.</exception>
    /// <exception cref="BackupException">The directory is not empty (<see cref="BackupFault.TargetNotEmpty"/>).</exception>
    /// <exception cref="StorageFullException">There is no room for the copy.</exception>
    /// <exception cref="StorageAccessException">The environment cannot be read, or the directory cannot be written.</exception>
    /// <inheritdoc cref="BackupAsync(string, BackupOptions?, CancellationToken)"/>
    public ValueTask<BackupReport> CopyToAsync(string directory, CopyOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentException.ThrowIfNullOrEmpty(directory);
        return CopyAsync(() => EmptyDirectory.Open(directory, Options.FileMode, NullLogger.Instance), options, cancellationToken);
    }

    /// <summary>Copies the environment to a disk, which is disposed.</summary>
    internal ValueTask<BackupReport> CopyToAsync(IDisk disk, CopyOptions? options, CancellationToken cancellationToken) =>
        CopyAsync(() => disk, options, cancellationToken);

    /// <summary>Backs up the environment to a file on a disk, which is disposed.</summary>
    internal ValueTask<BackupReport> BackupAsync(IDisk disk, string name, BackupOptions? options, CancellationToken cancellationToken) =>
        BackUpAsync(() => FileOutput.Create(disk, name), options, cancellationToken);

    private ValueTask<BackupReport> CopyAsync(Func<IDisk> open, CopyOptions? options, CancellationToken cancellationToken)
    {
        options ??= new CopyOptions();
        var asBackup = new BackupOptions
        {
            IsBase = false,
            MaxBytesPerSecond = options.MaxBytesPerSecond,
            VerifyValues = options.VerifyValues,
            Progress = options.Progress,
        };
        Check(asBackup);
        return WhileCountedAsync(
            async (use, stop) =>
            {
                var plan = MakePlan(asBackup);
                var target = DirectoryTarget.Begin(open(), MakeHeader(plan));
                var report = await MakeAsync(plan, target, use, stop).ConfigureAwait(false);
                return report with { BackupId = Guid.Empty };
            },
            isOnOneThread: false, cancellationToken);
    }

    private ValueTask<BackupReport> BackUpAsync(Func<IFrameOutput> open, BackupOptions? options, CancellationToken cancellationToken)
    {
        options = options == null ? new BackupOptions() : options.Copy();
        Check(options);
        var (compresses, note) = (options.Compress, options.Note);
        return WhileCountedAsync(
            async (use, stop) =>
            {
                var plan = MakePlan(options);
                var header = MakeHeader(plan);
                Task<FrameTarget> Begin() => FrameTarget.BeginAsync(open(), header, note, compresses, stop);
                var beginning = plan.IsOnOneThread ? Begin() : Task.Run(Begin, CancellationToken.None);
                var target = await use.WaitForUserAsync(beginning, stop).ConfigureAwait(false);
                return await MakeAsync(plan, target, use, stop).ConfigureAwait(false);
            },
            options.IsOnOneThread, cancellationToken);
    }

    private static void Check(BackupOptions options)
    {
        if (options.MaxBytesPerSecond < 0)
            throw new ArgumentException($"{nameof(BackupOptions.MaxBytesPerSecond)} is {options.MaxBytesPerSecond}; it must not be negative.", nameof(options));
        if (options.Note is { } note && Encoding.UTF8.GetByteCount(note) is var bytes && bytes > MaxNoteBytes)
            throw new ArgumentException($"{nameof(BackupOptions.Note)} has {bytes} bytes in UTF-8; it must have at most {MaxNoteBytes}.", nameof(options));
    }

    private BackupPlan MakePlan(BackupOptions options)
    {
        BackupPoint? parent = null;
        if (options.Since is { } since)
        {
            parent = _engine.Changes?.FindPoint(Unsafe.BitCast<Guid, RandomId>(since));
            if (parent == null && !options.FallBackToFull)
            {
                throw new BackupException(
                    BackupFault.UnknownBase,
                    $"The environment in '{Path}' does not know backup {since}, so it cannot tell what has changed since. It was not made as a base of this " +
                    $"environment, or the environment was restored, or its change log has ended. Make a full backup, or set {nameof(BackupOptions.FallBackToFull)}.");
            }
        }

        return new BackupPlan
        {
            Version = _engine.Format.Version,
            Features = _engine.Format.Features,
            Parent = parent,
            IsBase = options.IsBase,
            MaxBytesPerSecond = options.MaxBytesPerSecond,
            VerifiesValues = options.VerifyValues,
            Progress = options.Progress,
            UsualHold = options.UsualHold,
            BatchBytes = options.BatchBytes,
            IsOnOneThread = options.IsOnOneThread,
        };
    }

    private BackupHeader MakeHeader(BackupPlan plan) => new()
    {
        Magic = BackupHeader.MagicValue,
        Version = BackupHeader.CurrentVersion,
        PageSize = (uint)_engine.PageSize,
        EnvironmentVersion = plan.Version,
        Features = plan.Features,
        BackupId = plan.BackupId,
        ParentId = plan.Parent?.BackupId ?? default,
        ParentTransactionId = plan.Parent?.TransactionId ?? 0,
        EnvironmentId = _engine.EnvironmentId,
        Lineage = _engine.Format.Lineage,
        BeganAt = DateTime.UtcNow.Ticks,
    };

    private async Task<BackupReport> MakeAsync(BackupPlan plan, IBackupTarget target, CountedCall use, CancellationToken stop)
    {
        await using (target.ConfigureAwait(false))
        {
            // The environment is not in use any more if the target was begun in spite of the cancellation.
            stop.ThrowIfCancellationRequested();

            // What is in memory alone is copied quickly, and a flush would not make it durable. A reader's environment does not change.
            var flusher = _engine.Disk.IsVolatile || !Options.TrackChanges ? null : _writing?.Flusher;
            using var run = new BackupRun(_engine, flusher, plan, target, use, stop);
            return await run.RunAsync().ConfigureAwait(false);
        }
    }

    private ValueTask<BackupReport> WhileCountedAsync(
        Func<CountedCall, CancellationToken, Task<BackupReport>> work, bool isOnOneThread, CancellationToken cancellationToken) => RunLongAsync(
            new LongCall(
                LongWork.Backup,
                nameof(BackupAsync),
                $"The backup of the environment in '{Path}' was cancelled, and not made.",
                " It was closed during the backup, which was not made.",
                $"There is not enough memory for a backup of the environment in '{Path}': "),
            work, isOnOneThread, Log, Trace, cancellationToken);

    private void Log(BackupReport? report, Exception? failure)
    {
        if (report != null)
        {
            BackupLog.Finished(
                _engine.Logger, Path, report.TransactionId, report.Pages, report.Bytes, (long)report.Duration.TotalMilliseconds,
                (long)report.LongestHold.TotalMilliseconds);
        }
        else if (failure is not (null or OperationCanceledException or ObjectDisposedException))
        {
            BackupLog.Failed(_engine.Logger, Path, failure.Message, failure);
        }
    }

    private void Trace(long began, BackupReport? report, Exception? failure)
    {
        if (!EngineActivities.IsListening)
            return;
        KeyValuePair<string, object?>[] tags = report == null
            ? []
            :
            [
                new(EngineActivities.TransactionId, report.TransactionId), new(EngineActivities.Pages, report.Pages),
                new(EngineActivities.Bytes, report.Bytes),
            ];
        EngineActivities.Report(EngineActivities.Backup, Name, WorkTime.Since(began), tags, failure);
    }
}
