using Voron.ChangeTracking;
using Voron.Journal;
using Voron.Paging;

namespace Voron.Simulation.Disks;

/// <summary>
/// Deliberate faults of calls to the disk, which prove that the suites would notice an engine without these calls. The simulated disk plants them:
/// it does not do what is asked, and says that it did. Each is off unless the process sets its name as application data under "Voron.PlantedFault".
/// </summary>
internal static class DiskFault
{
    /// <summary>The data file of an environment is never synced.</summary>
    public static readonly bool LeaveDataUnsynced = Is(nameof(LeaveDataUnsynced));

    /// <summary>The data file of a copy or of a restored environment is not synced before it gets its header.</summary>
    public static readonly bool LeaveCopyUnsynced = Is(nameof(LeaveCopyUnsynced));

    /// <summary>A new journal file is used even though its length is not durable.</summary>
    public static readonly bool LeaveJournalUnsynced = Is(nameof(LeaveJournalUnsynced));

    /// <summary>A new journal file is used even though its name is not durable.</summary>
    public static readonly bool LeaveJournalNameUnsynced = Is(nameof(LeaveJournalNameUnsynced));

    /// <summary>The header names a journal snapshot whose file name and length are not durable.</summary>
    public static readonly bool LeaveJournalSnapshotUnsynced = Is(nameof(LeaveJournalSnapshotUnsynced));

    /// <summary>Only the first of the two copies of a journal file's header is written.</summary>
    public static readonly bool OneJournalHeader = Is(nameof(OneJournalHeader));

    /// <summary>A failed sync of the data file is retried, and the result of the second sync is trusted.</summary>
    public static readonly bool RetryFailedSync = Is(nameof(RetryFailedSync));

    /// <summary>A full journal file stays open.</summary>
    public static readonly bool KeepJournalsOpen = Is(nameof(KeepJournalsOpen));

    /// <summary>Records are not written through the caches of system and device.</summary>
    public static readonly bool CacheJournalWrites = Is(nameof(CacheJournalWrites));

    /// <summary>Checkpoints are not written through the caches, so journal files are released before they are durably superseded.</summary>
    public static readonly bool CacheCheckpointWrites = Is(nameof(CacheCheckpointWrites));

    /// <summary>Entries of the change log are not written through the caches, so the header that builds on them is durable first.</summary>
    public static readonly bool CacheChangeLogWrites = Is(nameof(CacheChangeLogWrites));

    /// <summary>Returns whether a sync of a file is left out.</summary>
    /// <param name="name">The name of the file.</param>
    /// <param name="isEnvironment">True if the directory has a header.</param>
    public static bool SkipsSync(string name, bool isEnvironment) =>
        ((isEnvironment ? LeaveDataUnsynced : LeaveCopyUnsynced) && IsData(name))
        || (LeaveJournalUnsynced && IsJournal(name))
        || (LeaveJournalSnapshotUnsynced && IsSnapshot(name));

    /// <summary>Returns whether a sync of the directory is left out.</summary>
    /// <param name="newest">The file that was made or renamed last.</param>
    public static bool SkipsDirectorySync(string newest) =>
        (LeaveJournalNameUnsynced && IsJournal(newest)) || (LeaveJournalSnapshotUnsynced && IsSnapshot(newest));

    /// <summary>Returns whether a write is left out.</summary>
    public static bool SkipsWrite(string name, long offset, long length) =>
        OneJournalHeader && offset == Format.JournalFormat.Block && length == Format.JournalFormat.Block && IsJournal(name);

    /// <summary>Returns whether a failed sync of a file counts as one that has succeeded.</summary>
    public static bool TrustsSync(string name) => RetryFailedSync && IsData(name);

    /// <summary>Returns whether a file stays open.</summary>
    public static bool StaysOpen(string name) => KeepJournalsOpen && IsJournal(name);

    /// <summary>Returns whether a write that should go through the caches stays in them.</summary>
    public static bool CachesWrite(string name) =>
        (CacheJournalWrites && IsJournal(name))
        || (CacheCheckpointWrites && name == HeaderFile.FileName)
        || (CacheChangeLogWrites && ChangeLogFile.NumberOf(name) > 0);

    private static bool IsData(string name) => name == DataFile.FileName;

    // Only journal files have no name yet.
    private static bool IsJournal(string name) => name.Length == 0 || name.StartsWith(JournalFile.NamePrefix, StringComparison.Ordinal);

    private static bool IsSnapshot(string name) => JournalSnapshotFile.NumberOf(name) > 0;

    private static bool Is(string name) => AppContext.GetData("Voron.PlantedFault") as string == name;
}
