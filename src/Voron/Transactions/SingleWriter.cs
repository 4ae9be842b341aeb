using System.Collections.Concurrent;
using System.Diagnostics;
using Voron.Format;
using Voron.Primitives;
using Voron.Snapshots;

namespace Voron.Transactions;

/// <summary>
/// The single writer: its lock, and the state that passes from one transaction to the next. Members other than those of the lock are for the
/// caller that holds it.
/// </summary>
internal sealed class SingleWriter
{
    private readonly Engine _engine;
    private readonly WriterLock _lock;
    private readonly ConcurrentQueue<Action> _deferred = new();
    private StackTrace? _openedAt;
    private long _beganTick;
    private int _beganBy;

    public SingleWriter(Engine engine, VersionReclaimer versionReclaimer)
    {
        _engine = engine;
        _lock = engine.WriterLock = new WriterLock();
        Action assertHeld = () => AssertHeld();
        versionReclaimer.AssertHeld = assertHeld;
        engine.Versions.AssertHeld = assertHeld;
        engine.Frames.AssertHeld = assertHeld;
        engine.DataFile.AssertHeld = assertHeld;
        engine.BranchKeyHeads.AssertHeld = assertHeld;
        VersionReclaimer = versionReclaimer;
        WritePages = new CopyOnWritePages(engine);
        versionReclaimer.Detached = WritePages.Space.NoteDetached;
    }

    /// <inheritdoc cref="WriterLock.WaitsForLong"/>
    public Action? WaitsForLong
    {
        set => _lock.WaitsForLong = value;
    }

    /// <inheritdoc cref="WriterLock.HasQueue"/>
    public bool HasQueue => _lock.HasQueue;

    public VersionReclaimer VersionReclaimer { get; }

    public CopyOnWritePages WritePages { get; }

    /// <summary>The state on which the next transaction begins.</summary>
    public EnvironmentState Submitted { get; set; }

    /// <summary>The objects attached to <see cref="Submitted"/>; null for none, as on opening.</summary>
    public AttachedObjects? SubmittedAttachments { get; private set; }

    /// <summary>The sequence of the journal record that made <see cref="Submitted"/>; 0 while that is the state found on opening.</summary>
    public long SubmittedSequence { get; private set; }

    /// <summary>The id of the open transaction, or of the last one; for messages.</summary>
    public long TransactionId => WritePages.Id;

    /// <summary>The place, the time and the thread that began the open transaction, or the last one.</summary>
    /// <remarks>Read without holding the writer, for messages: its parts may come from two transactions.</remarks>
    public WriterOrigin Origin => new(Volatile.Read(ref _openedAt), Volatile.Read(ref _beganTick), Volatile.Read(ref _beganBy));

    /// <summary>The thread that began the open transaction, or the last one.</summary>
    public int BeganBy => Volatile.Read(ref _beganBy);

    /// <summary>True while deferred actions wait to be run.</summary>
    public bool HasDeferred => !_deferred.IsEmpty;

    /// <summary>Notes the origin of the transaction that begins.</summary>
    public void NoteOrigin(StackTrace? openedAt)
    {
        AssertHeld();
        Volatile.Write(ref _openedAt, openedAt);
        Volatile.Write(ref _beganTick, Environment.TickCount64);
        Volatile.Write(ref _beganBy, Environment.CurrentManagedThreadId);
    }

    /// <summary>Notes that a transaction was submitted, on whose state the next one begins.</summary>
    /// <param name="state">The state.</param>
    /// <param name="states">The objects attached to it.</param>
    /// <param name="sequence">The sequence of the transaction's record.</param>
    public void NoteSubmitted(in EnvironmentState state, AttachedObjects? states, long sequence)
    {
        AssertHeld();
        Submitted = state;
        SubmittedAttachments = states;
        SubmittedSequence = sequence;
    }

    /// <summary>Forgets the objects attached to the state. The environment is closed, and has no user left.</summary>
    public void ForgetAttachments() => SubmittedAttachments = null;

    /// <summary>Returns the message for a caller that has waited for the writer in vain.</summary>
    public string DescribeWait(TimeSpan waited)
    {
        var origin = Origin;
        var message =
            $"Write transaction {TransactionId} has been open for {Environment.TickCount64 - origin.BeganTick} ms in '{_engine.Disk.Path}'. " +
            $"A caller waited {waited.TotalMilliseconds} ms for it to end, then gave up. Commit or dispose each write transaction.";
        return origin.OpenedAt == null ? message : $"{message} Thread {origin.ThreadId} began it at: {origin.OpenedAt}";
    }

    /// <summary>
    /// Runs an action as the holder of the writer, without waiting for the writer: immediately if it is free, otherwise before the next
    /// transaction begins. Actions that have not run when the environment is closed never run.
    /// </summary>
    public void RunWhenFree(Action action)
    {
        _deferred.Enqueue(action);
        if (!TryEnter(TimeSpan.Zero, CancellationToken.None))
            return;
        try
        {
            RunDeferred();
        }
        finally
        {
            Release();
        }
    }

    /// <summary>Runs the deferred actions. The caller holds the writer.</summary>
    public void RunDeferred()
    {
        AssertHeld();
        while (_deferred.TryDequeue(out var action))
        {
            try
            {
                action();
            }
            catch (OutOfMemoryException)
            {
                // The next holder tries again.
                _deferred.Enqueue(action);
                return;
            }
        }
    }

    /// <inheritdoc cref="WriterLock.TryEnter"/>
    public bool TryEnter(TimeSpan timeout, CancellationToken cancellationToken) => _lock.TryEnter(timeout, cancellationToken);

    /// <inheritdoc cref="WriterLock.EnterAsync"/>
    public Task EnterAsync(CancellationToken cancellationToken) => _lock.EnterAsync(cancellationToken);

    /// <inheritdoc cref="WriterLock.Release"/>
    public void Release() => _lock.Release();

    /// <inheritdoc cref="WriterLock.AssertHeld"/>
    [Conditional("DEBUG")]
    public void AssertHeld() => _lock.AssertHeld();
}

/// <summary>The origin of a write transaction.</summary>
/// <param name="OpenedAt">The place where it was begun; null when transactions are not tracked.</param>
/// <param name="BeganTick">The value of <see cref="Environment.TickCount64"/> when it was begun.</param>
/// <param name="ThreadId">The managed thread that began it.</param>
internal readonly record struct WriterOrigin(StackTrace? OpenedAt, long BeganTick, int ThreadId);
