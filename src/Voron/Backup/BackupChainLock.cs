namespace Voron.Backup;

/// <summary>
/// A lock on a backup chain: shared while a call reads the backups or builds on them, exclusive while they are deleted. It is an operating system
/// lock on the chain's full backup, and ends with the process. A file system without locks, such as some network file systems, excludes no call.
/// </summary>
internal sealed class BackupChainLock : IDisposable
{
    private readonly FileStream _full;

    private BackupChainLock(FileStream full) => _full = full;

    /// <summary>Locks a chain, shared with other calls. Returns null if one of its files has been deleted, or is about to be.</summary>
    /// <param name="chain">The files, the full backup first.</param>
    public static BackupChainLock? TryShare(IReadOnlyList<string> chain)
    {
        var hold = TryOpen(chain[0], FileShare.ReadWrite | FileShare.Delete);
        if (hold == null || chain.All(File.Exists))
            return hold;
        hold.Dispose();
        return null;
    }

    /// <summary>Locks a chain exclusively, to delete it. Returns null if another call is using it, or has deleted it.</summary>
    /// <param name="full">The full backup.</param>
    public static BackupChainLock? TryOwn(string full) => TryOpen(full, OperatingSystem.IsWindows() ? FileShare.Delete : FileShare.None);

    public void Dispose() => _full.Dispose();

    private static BackupChainLock? TryOpen(string full, FileShare share)
    {
        try
        {
            return new BackupChainLock(new FileStream(full, FileMode.Open, FileAccess.Read, share, bufferSize: 0));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return null;
        }
    }
}
