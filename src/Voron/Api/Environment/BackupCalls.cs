using System.Runtime.CompilerServices;
using System.Text;
using Voron.Backup;
using Voron.Format;
using Voron.IO;
using Voron.Opening;
using Voron.Primitives;
using Voron.Transactions;

namespace Voron;

/// <summary>The calls that back up an environment, or copy it page by page.</summary>
/// <param name="opened">The environment.</param>
/// <param name="calls">Runs the calls.</param>
internal sealed class BackupCalls(OpenedEngine opened, LongCalls calls)
{
    private const int MaxNoteBytes = 64 << 10;

    private readonly Engine _engine = opened.Engine;
    private readonly string _path = opened.Engine.Disk.Path;

    /// <summary>Copies the environment to an empty disk, where it can be opened immediately.</summary>
    /// <param name="open">Opens the disk, which is disposed.</param>
    /// <param name="options">The options; null for the defaults.</param>
    /// <param name="cancellationToken">Cancels the copying.</param>
    public ValueTask<BackupReport> CopyAsync(Func<IDisk> open, CopyOptions? options, CancellationToken cancellationToken)
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

    /// <summary>Backs up the environment.</summary>
    /// <param name="open">Opens the output of the backup.</param>
    /// <param name="options">The options, which are copied; null for the defaults.</param>
    /// <param name="cancellationToken">Cancels the backup.</param>
    public ValueTask<BackupReport> BackUpAsync(Func<IFrameOutput> open, BackupOptions? options, CancellationToken cancellationToken)
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
            parent = _engine.ChangedPages?.FindPoint(Unsafe.BitCast<Guid, RandomId>(since));
            if (parent == null && !options.FallBackToFull)
            {
                throw new BackupException(
                    BackupFault.UnknownBase,
                    $"The environment in '{_path}' does not know backup {since}, so it cannot tell what has changed since. It was not made as a base of this " +
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
            // The environment is no longer in use if the target was begun in spite of the cancellation.
            stop.ThrowIfCancellationRequested();

            // An environment in memory is copied quickly, and a flush would not make it durable. A read-only environment does not change.
            var flusher = _engine.Disk.IsVolatile || !_engine.Options.TrackChanges ? null : opened.Writing?.Flusher;
            using var run = new BackupRun(_engine, flusher, plan, target, use, stop);
            return await run.RunAsync().ConfigureAwait(false);
        }
    }

    private ValueTask<BackupReport> WhileCountedAsync(
        Func<CountedCall, CancellationToken, Task<BackupReport>> work, bool isOnOneThread, CancellationToken cancellationToken) => calls.RunAsync(
            new LongCall(
                LongWork.Backup,
                nameof(StorageEnvironment.BackupAsync),
                $"The backup of the environment in '{_path}' was cancelled, and not made.",
                " It was closed during the backup, which was not made.",
                $"There is not enough memory for a backup of the environment in '{_path}': "),
            work, isOnOneThread, Log, Trace, cancellationToken);

    private void Log(BackupReport? report, Exception? failure)
    {
        if (report != null)
        {
            BackupLog.Finished(
                _engine.Logger, _path, report.TransactionId, report.Pages, report.Bytes, (long)report.Duration.TotalMilliseconds,
                (long)report.LongestHold.TotalMilliseconds);
        }
        else if (failure is not (null or OperationCanceledException or ObjectDisposedException))
        {
            BackupLog.Failed(_engine.Logger, _path, failure.Message, failure);
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
        EngineActivities.Report(EngineActivities.Backup, _engine.Name.Text, WorkTime.Since(began), tags, failure);
    }
}
