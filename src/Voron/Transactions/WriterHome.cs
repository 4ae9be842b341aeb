using System.Diagnostics;

namespace Voron.Transactions;

/// <summary>
/// What stays of the writer from one transaction to the next, and where its core rests in between. Used by the holder of the gate.
/// </summary>
/// <remarks>
/// While a transaction is open nothing but its own handles leads to the core, neither this object nor the environment: so a
/// transaction that was never ended becomes garbage, and the core's finalizer notices. It does nothing itself but to have
/// <see cref="EndAbandoned"/> run on the thread pool, after a while. Nobody can race with the rollback there: whoever could call
/// would have to hold a handle, and then the core would not have been garbage. Two are left that no reference shows: a user's own
/// finalizer that holds a handle, which <see cref="WriteCore.TryClaim"/> keeps from ending the transaction a second time; and a
/// span, reserved to be written perhaps, that is in use on some stack when the last handle is gone. For its sake frames
/// are not used again at once: see <see cref="StorageOptions.LeakGrace"/>.
/// </remarks>
internal sealed class WriterHome
{
    private readonly EngineContext _context;
    private WriteCore? _resting;

    public WriterHome(EngineContext context, WriterGate gate, VersionKeeper keeper)
    {
        _context = context;
        context.Gate = gate;
        keeper.Gate = gate;
        Keeper = keeper;
        Session = new WriteSession(context);
        _resting = new WriteCore(context, gate, this);
    }

    public VersionKeeper Keeper { get; }

    public WriteSession Session { get; }

    /// <summary>The state that the next transaction begins on.</summary>
    public Format.EnvironmentState Submitted { get; set; }

    /// <summary>The sequence of the journal record that made <see cref="Submitted"/>; 0 when that is as old as the opening.</summary>
    public long SubmittedSequence { get; set; }

    /// <summary>The open transaction, or the last one; for messages.</summary>
    public long TransactionId => Session.Id;

    /// <summary>Starts a transaction. The gate is held.</summary>
    public WriteCore Begin()
    {
        _context.AssertWriterHeld();
        var core = _resting ?? throw new UnreachableException("The writer's gate was free, and its core is not at home.");
        core.Begin(_context.Options.TrackReaders ? new StackTrace(2, fNeedFileInfo: false) : null);
        _resting = null;
        return core;
    }

    /// <summary>The core's transaction has ended; the gate is still held.</summary>
    public void Rest(WriteCore core)
    {
        _context.AssertWriterHeld();
        _resting = core;
    }

    /// <summary>Called by a finalizer: the core's transaction is open, and nobody can end it any more.</summary>
    public void Abandoned(WriteCore core)
    {
        try
        {
            _ = Task.Delay(_context.Options.LeakGrace).ContinueWith(
                static (_, state) => ((WriteCore)state!).EndAbandoned(), core,
                CancellationToken.None, TaskContinuationOptions.None, TaskScheduler.Default);
        }
        catch (Exception e) when (e is OutOfMemoryException or ObjectDisposedException)
        {
            // What a finalizer throws ends the process: the writer stays taken, and whoever waits for it is told by timeout.
        }
    }

    /// <summary>Names the transaction in the log, and rolls it back.</summary>
    public void EndAbandoned(WriteCore core, StackTrace? openedAt)
    {
        Interlocked.Increment(ref _context.Counters.LeakedWriters);
        try
        {
            TransactionLog.WriterLeaked(_context.Logger, TransactionId, TransactionLog.Describe(openedAt));
        }
        catch (Exception)
        {
            // The log's own affair; there is nobody to tell.
        }

        try
        {
            core.RollbackClaimed();
        }
        catch (Exception e)
        {
            _context.Poison.Set(e);
        }
    }
}
