namespace Voron.Simulation.Memory;

/// <summary>The operations of the writer of a script.</summary>
internal enum MemoryStep
{
    Commit,
    CommitAsync,
    RollBack,
    Savepoint,
    GroupCommit,
    BigTransaction,
    FixedTransaction,
    IdTransaction,
    ValueSetTransaction,
    TableTransaction,
    Read,
    HoldReader,
    EndReader,
    Flush,
    JournalSnapshot,
    ConfirmDurability,
    Trim,
    Idle,
    Reopen,
}

/// <param name="Step">The operation.</param>
/// <param name="Keys">The keys, one bit each.</param>
/// <param name="OnFailure">The caller's reaction to a change that fails: 0 rolls back, 1 tries to commit, 2 rolls back to a savepoint and
/// commits.</param>
internal readonly record struct MemoryOperation(MemoryStep Step, int Keys, int OnFailure);
