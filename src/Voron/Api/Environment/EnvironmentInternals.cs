using Voron.Dropping;
using Voron.Format;
using Voron.Maintenance;
using Voron.Opening;
using Voron.Recovery;
using Voron.Staging;
using Voron.Transactions;

namespace Voron;

/// <summary>Members of an open environment for tests and for the command-line tool.</summary>
internal readonly struct EnvironmentInternals(OpenedEngine opened, TreeDropper? dropper)
{
    /// <summary>The parts of the environment.</summary>
    public Engine Engine => opened.Engine;

    /// <summary>Frees the pages of dropped trees; null if the environment is read-only.</summary>
    public TreeDropper? Dropper => dropper;

    /// <summary>The uploads; null if the environment is read-only.</summary>
    public StagingArea? Staging => opened.Writing?.Staging;

    /// <summary>The memory through which large values are written.</summary>
    public LargeValueWriteBuffer? LargeValueBuffer => opened.Writing?.Writer.WritePages.LargeValueBuffer;

    /// <summary>The findings of recovery when the environment was opened.</summary>
    public RecoveryResult Recovered => opened.Recovered;

    private WritingParts Writing => opened.Writing!;

    /// <summary>The current number of threads of the environment, except those of a verification.</summary>
    public int ThreadCount =>
        (opened.Writing?.Scheduler.HasThread == true ? 1 : 0)
        + (Engine.Journal?.HasThread == true ? 1 : 0)
        + (opened.Writing?.GroupCommit.HasThread == true ? 1 : 0);

    /// <summary>Does the same as <see cref="StorageEnvironment.Verify"/>, and can be cancelled.</summary>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="OperationCanceledException">The call was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The environment is closed, or was closed during the call, which ended the call.</exception>
    public VerificationReport Verify(CancellationToken cancellationToken) => Engine.WhileOpen((Engine, cancellationToken), static call =>
    {
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(call.cancellationToken, call.Engine.Closing.Token);
        using var reading = new EngineSnapshot(call.Engine);
        return Verifier.Run(call.Engine, reading.Snapshot, stop.Token);
    });

    /// <summary>Describes a page of the newest state.</summary>
    /// <param name="page">The number of the page.</param>
    /// <param name="mode">Whether the trees are searched for the owner of the page, which may take as long as reading all of them.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <returns>Null if there is no page of that number.</returns>
    /// <exception cref="OperationCanceledException">The call was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The environment is closed, or was closed during the call, which ended the call.</exception>
    public PageDescription? DescribePage(long page, OwnerSearchMode mode, CancellationToken cancellationToken) => Engine.WhileOpen(
        (Engine, page, mode, cancellationToken), static call =>
        {
            using var stop = CancellationTokenSource.CreateLinkedTokenSource(call.cancellationToken, call.Engine.Closing.Token);
            using var reading = new EngineSnapshot(call.Engine);
            return call.page < 0 || call.page >= reading.Snapshot.PageCount
                ? null
                : PageDescriber.Describe(call.Engine, reading.Snapshot, call.page, call.mode, stop.Token);
        });

    /// <summary>Prepares the file for the first record since the opening, as the pool does beside an opening with background work.</summary>
    public void PrepareJournal() => Engine.JournalFiles!.PrepareFirst(Recovered.Seals);

    /// <summary>Makes the flusher write a journal snapshot of the changes that an old reader keeps out of the data file.</summary>
    public bool WriteJournalSnapshot() => Engine.WhileOpen(Writing.Flusher, static flusher => flusher.WriteJournalSnapshot());

    /// <summary>Upgrades the environment to the newest format version. Returns false if it already has that version.</summary>
    public bool UpgradeFormat() => Engine.WhileOpen((Engine, Writing.Flusher), static parts =>
    {
        var (engine, flusher) = parts;
        engine.WriterLock!.Enter(engine.Closing.Token);
        try
        {
            return flusher.UpgradeFormat();
        }
        finally
        {
            engine.WriterLock.Release();
        }
    });

    /// <summary>Begins the change log, unless there is one. Returns false if the format version has none.</summary>
    public bool BeginChangeLog() => Engine.WhileOpen((Engine, Writing.Flusher), static parts =>
        parts.Flusher.ChangeLog.TryBegin(Timeout.InfiniteTimeSpan, parts.Engine.Closing.Token));

    /// <summary>Adds a backup that later ones can build on. Returns false if no change log reaches back to its state.</summary>
    public bool AddBackupPoint(BackupPoint point) =>
        Engine.WhileOpen((Writing.Flusher, Point: point), static parts => parts.Flusher.ChangeLog.TryAddPoint(parts.Point));

    /// <summary>Ends a trimming period and returns memory that was not needed for two periods to the system.</summary>
    public void TrimMemory() => Engine.WhileOpen(Writing.Trimmer, static trimmer =>
    {
        trimmer.Trim();
        return true;
    });

    /// <summary>
    /// Confirms the durability of the last record in the journal, so that recovery can distinguish damage to it from an unfinished write.
    /// </summary>
    public void ConfirmDurability() => Engine.Journal!.ConfirmDurability();
}
