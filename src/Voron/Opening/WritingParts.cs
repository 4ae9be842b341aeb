using Voron.Flushing;
using Voron.Maintenance;
using Voron.Paging;
using Voron.Recovery;
using Voron.Snapshots;
using Voron.Staging;
using Voron.Testing;
using Voron.Transactions;

namespace Voron.Opening;

/// <summary>The parts that only an environment open for writing has: the writer, its entrances, the flusher and the background work.</summary>
/// <remarks>Each begins when the parts that it needs have begun. <see cref="EnvironmentCloser"/> ends them.</remarks>
internal sealed class WritingParts
{
    private const int MaxOpeningsUnflushed = 8;

    /// <summary>The time for which the flusher's thread waits for the writer before it gives up reclaiming free space.</summary>
    private static readonly TimeSpan BackgroundPatience = TimeSpan.FromSeconds(1);

    private readonly Engine _engine;

    /// <param name="engine">The engine, whose journal is open.</param>
    /// <param name="checkpoints">Its header.</param>
    /// <param name="publisher">What publishes committed states.</param>
    /// <param name="recovered">What recovery found.</param>
    /// <param name="begin">Takes the writer and begins a transaction for a group commit.</param>
    public WritingParts(
        Engine engine, HeaderFile checkpoints, CommitPublisher publisher, RecoveryResult recovered, Func<WriteTransactionBody> begin)
    {
        _engine = engine;
        engine.FlusherSlot = engine.Readers.TakeSlot(forEngine: true);
        var versionReclaimer = new VersionReclaimer(
            engine.Versions, engine.Frames, engine.Readers, engine.Ring, engine.DataFileKeyHeads, engine.Heap)
        {
            FlusherSlot = engine.FlusherSlot,
        };
        Writer = new SingleWriter(engine, versionReclaimer) { Submitted = recovered.State };
        Transactions = new WriteTransactionPool(engine, Writer);
        GroupCommit = new GroupCommit(begin, engine, CountGroupCommitted, OnFailedLate, () => engine.Journal!.OverlapsWrites);
        Flusher = new Flusher(engine, checkpoints, Writer);
        Flusher.Start(recovered.Stamp);
        FlushAfterCrashes(recovered.Openings);
        Reclaimer = new SpaceReclaimer(engine, Writer, Transactions, Flusher);
        Trimmer = new MemoryTrimmer(engine, engine.Journal!, Writer);
        var isConfirmed = recovered.IsCutShort ? TrySealTail() : recovered.IsDurabilityConfirmed;
        Scheduler = new FlushScheduler(
            engine, Flusher, () => Reclaimer.Run(BackgroundPatience), Reclaimer.PunchForWriter,
            Trimmer, new ReplayedJournal(ReplayedBytes(recovered), isConfirmed));
        try
        {
            publisher.FlushServices = Scheduler;
            engine.FlushServices = Scheduler;
            Entrance = new WriterEntrance(engine, Writer, Transactions, Scheduler);
            Staging = new StagingArea(engine, Entrance);
            Scrubber = new Scrubber(engine, () => new EngineSnapshot(engine));
        }
        catch
        {
            // Its thread uses memory that a failed opening releases.
            Scheduler.Stop();
            throw;
        }
    }

    public SingleWriter Writer { get; }

    public WriteTransactionPool Transactions { get; }

    public GroupCommit GroupCommit { get; }

    public Flusher Flusher { get; }

    public SpaceReclaimer Reclaimer { get; }

    public MemoryTrimmer Trimmer { get; }

    public FlushScheduler Scheduler { get; }

    public WriterEntrance Entrance { get; }

    public StagingArea Staging { get; }

    public Scrubber Scrubber { get; }

    /// <summary>Ends the background work of an environment whose opening has failed. It uses memory that is released next.</summary>
    public void Abandon()
    {
        Scrubber.Dispose();
        Scheduler.Stop();
    }

    /// <summary>Forgets what the last transactions kept. Called when the last user of the environment has ended.</summary>
    public void Forget()
    {
        Writer.ForgetAttachments();
        Transactions.Forget();
    }

    // The journal files that were replayed and await a flush; none after a clean close.
    private long ReplayedBytes(RecoveryResult recovered) => recovered.ReplayedRecords == 0 ? 0 : _engine.JournalFiles!.LiveRecordBytes;

    // A record that was dropped because its values were lost would count again if a transaction wrote the same bytes to the same pages and the
    // process were killed before its commit. The seal of a new journal file ends the journal before that record for good. Returns false if there is
    // no room for the file: the flusher tries again, and the first commit needs it too.
    private bool TrySealTail()
    {
        try
        {
            _engine.Journal!.ConfirmDurability();
            return true;
        }
        catch (StorageFullException)
        {
            return false;
        }
    }

    // Each opening that writes begins a journal file, which only a checkpoint releases. A process that repeatedly dies before a checkpoint
    // would fill the directory.
    private void FlushAfterCrashes(int openings)
    {
        try
        {
            if (openings > MaxOpeningsUnflushed)
            {
                Flusher.Flush();
                _engine.Observers.CallElsewhere();
            }
        }
        catch (StorageFullException e)
        {
            EnvironmentLog.OpeningFlushFailed(_engine.Logger, _engine.Disk.Path, openings, e.Message);
        }

        if (_engine.JournalFiles!.LiveCount > MaxOpeningsUnflushed && !PlantedFault.KeepFlushedJournals)
            Flusher.ReleaseReplayed();
    }

    private void CountGroupCommitted(int operations) => Interlocked.Add(ref _engine.Counters.GroupCommittedOperations, operations);

    private void OnFailedLate(Exception failure) =>
        TransactionLog.OperationFailedLate(_engine.Logger, _engine.Disk.Path, failure.Message, failure);
}
