using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using Microsoft.Extensions.Logging;
using Voron.ChangeTracking;
using Voron.Format;
using Voron.FreeSpace;
using Voron.IO;
using Voron.Journal;
using Voron.Paging;
using Voron.Primitives;
using Voron.Scratch;
using Voron.Snapshots;
using Voron.Trees.KeyHeads;

namespace Voron.Transactions;

/// <summary>The parts of an open environment that transactions, the flusher and maintenance share.</summary>
[SuppressMessage("Design", "CA1001", Justification = "A source of tokens without timers and wait handles needs no disposal, and its tokens outlive the environment.")]
internal sealed class Engine
{
    public required StorageOptions Options { get; init; }

    public required ILogger Logger { get; init; }

    /// <summary>The name in metrics and activities.</summary>
    public required EnvironmentName Name { get; init; }

    /// <summary>The meter of the environment's metrics.</summary>
    public required EngineMeter Meter { get; init; }

    /// <summary>The time at which the environment was opened.</summary>
    public DateTimeOffset OpenedAt { get; } = DateTimeOffset.UtcNow;

    /// <summary>The clock of commits. Used by the holder of the writer.</summary>
    public SteadyClock WriterClock => field ??= new SteadyClock(Options.CommitClock);

    /// <summary>
    /// Returns a clock for deletions by age. It starts at about the time of the last commit, if that is earlier, and trusts the system clock after
    /// a minute: a process that starts with a wrong clock deletes nothing because of it.
    /// </summary>
    public SteadyClock CreateDeletionClock(TimeProvider clock)
    {
        Ring.Read(out var newest);
        var last = new DateTimeOffset(newest.State.CommitTime, TimeSpan.Zero);
        return new SteadyClock(clock, newest.State.CommitTime != 0 && last < clock.GetUtcNow() ? last : null);
    }

    /// <summary>The user's observers and listeners.</summary>
    public required Observers Observers { get; init; }

    /// <summary>Cancelled when closing begins: from then on no caller waits for the writer. Never disposed, because it holds no resources.</summary>
    public CancellationTokenSource Closing { get; } = new();

    /// <summary>Counts the users of the environment's memory and files.</summary>
    public EnvironmentUsers Users { get; } = new();

    public required IDisk Disk { get; init; }

    public required PoisonState Poison { get; init; }

    public required RandomId EnvironmentId { get; init; }

    /// <summary>The version, the features and the lineage of the files.</summary>
    public required EnvironmentFormat Format { get; init; }

    public required int PageSize { get; init; }

    public required SectionMapLayout Layout { get; init; }

    public required DataFile DataFile { get; init; }

    public required VersionTable Versions { get; init; }

    /// <summary>Used by the holder of the writer.</summary>
    public required BranchKeyHeads BranchKeyHeads { get; init; }

    /// <summary>Used by all readers; null when switched off.</summary>
    public required DataFileKeyHeads? DataFileKeyHeads { get; init; }

    public required FrameAllocator Frames { get; init; }

    /// <summary>The number of bytes of unflushed page versions and their nodes: a freed page has only its node. Read without the writer.</summary>
    public long VersionBytes => Frames.UsedBytes + Versions.NodeCount * VersionNode.Size;

    public required StateRing Ring { get; init; }

    public required ReaderTable Readers { get; init; }

    /// <summary>The parts that snapshots read pages from, and register in.</summary>
    public required SnapshotSource Snapshots { get; init; }

    /// <summary>Null when the environment is opened for reading only.</summary>
    public JournalWriter? Journal { get; set; }

    public JournalFileSet? JournalFiles { get; set; }

    /// <summary>Tracks changed pages; null when the environment is opened for reading only.</summary>
    public ChangeTracker? Changes { get; set; }

    /// <summary>Null when there is no writer: while the environment is being opened, and when that is for reading only.</summary>
    public WriterLock? WriterLock { get; set; }

    /// <summary>The services of flushing for writers; null when the environment is opened for reading only.</summary>
    public IBackPressure? BackPressure { get; set; }

    /// <summary>Called by the flusher's thread at each of its steps; takes no lock, and throws nothing. Null when nothing needs it.</summary>
    public Action? OnWork { get; set; }

    /// <summary>Counts the native memory of all parts, and allocates that of lists and journal records.</summary>
    public required EnvironmentMemory Memory { get; init; }

    /// <inheritdoc cref="EnvironmentMemory.Lists"/>
    public NativeHeap Heap => Memory.Lists;

    public Counters Counters { get; } = new();

    /// <summary>Raised with each transaction that becomes durable, when it is published.</summary>
    public DurableCommitSignal MadeDurable { get; } = new();

    /// <summary>Called by the holder of the writer when a transaction with recorded changes is submitted, with their number of bytes.</summary>
    public Action<long>? OnRecorded { get; set; }

    /// <summary>Called by the holder of the writer when a tree needs a dictionary, with the tree's id.</summary>
    public Action<uint>? OnTrainingWanted { get; set; }

    /// <summary>
    /// Called in a write transaction that opens a table with expiring rows, with its definition. Throws nothing. Null when the environment is
    /// opened for reading only.
    /// </summary>
    public Action<object>? OnExpiringTable { get; set; }

    /// <summary>Called in a write transaction that deletes a table, with its name. Throws nothing.</summary>
    public Action<string>? OnDeletedTable { get; set; }

    /// <summary>The free pages reserved for staged values; null when the environment is opened for reading only.</summary>
    public ReservedPages? Reserved { get; set; }

    /// <summary>The number of bytes of these pages.</summary>
    public long StagedBytes => (Reserved?.Pages ?? 0) * PageSize;

    /// <summary>The slot of the flusher in <see cref="Readers"/>, scanned last; -1 when there is none.</summary>
    public int FlusherSlot { get; set; } = -1;

    /// <summary>
    /// Makes a published state durable if it contains lazy commits that are not. Called before a state leaves the process's memory: by a flush, a
    /// backup, a batch of a feed.
    /// </summary>
    /// <param name="sequence">The sequence of the record that made the state.</param>
    /// <exception cref="EnvironmentPoisonedException">A write failed, now or earlier.</exception>
    public void MakeDurable(long sequence)
    {
        if (Journal is { } journal && journal.DurableSequence < sequence)
            journal.WaitUntilDurable(sequence);
    }

    /// <summary>
    /// Keeps the environment's resources alive while <paramref name="work"/> runs, even if another thread closes the environment. User code is
    /// called while no lock is held.
    /// </summary>
    /// <exception cref="ObjectDisposedException">The environment is closed, or was closed during the call, which ended the call.</exception>
    public TResult WhileOpen<TState, TResult>(TState state, Func<TState, TResult> work)
    {
        Users.AddCall();
        try
        {
            return work(state);
        }
        catch (OperationCanceledException) when (Closing.IsCancellationRequested)
        {
            throw EndedErrors.Environment(Disk.Path, " It was closed during the call, which did not finish.");
        }
        finally
        {
            Users.RemoveCall();
            Observers.CallHere();
            GuardedLogger.WriteHere(Logger);
        }
    }

    /// <summary>
    /// Ensures that free pages written directly are verified before they are trusted: the section map may be wrong, and one of them may belong to
    /// a tree. Called before the first page is overwritten, because the write may fail, and after the last one, because the pages may have been
    /// read in between. Any thread may call this.
    /// </summary>
    /// <returns>The first page.</returns>
    public long Distrust(long firstPage, long pages)
    {
        if (DataFile.MarkUnverified(firstPage, pages) && DataFileKeyHeads is { } heads)
        {
            for (var page = firstPage; page < firstPage + pages; page++)
                heads.Invalidate(new PageNumber(page));
        }

        return firstPage;
    }

    /// <inheritdoc cref="Transactions.WriterLock.AssertHeld"/>
    [Conditional("DEBUG")]
    public void AssertWriterHeld() => WriterLock?.AssertHeld();
}
