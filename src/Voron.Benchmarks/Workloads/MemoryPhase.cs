namespace Voron.Benchmarks.Workloads;

/// <summary>The work that a process does while its memory is limited.</summary>
internal enum MemoryPhase
{
    /// <summary>Random puts of new items, 100 a transaction.</summary>
    Put,

    /// <summary>Random updates behind a reader that began before them, 10,000 a transaction.</summary>
    UpdateBehindReader,

    /// <summary>Random puts of new items in a single transaction, however large.</summary>
    OneTransaction,

    /// <summary>Random puts that are not flushed. The process ends by a signal, and leaves them in the journal.</summary>
    LeaveJournal,

    /// <summary>An opening that replays what <see cref="LeaveJournal"/> has left.</summary>
    Recover,
}
