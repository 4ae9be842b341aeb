namespace Voron.Backup;

/// <summary>
/// Keeps the backups of a chain from being deleted while a call reads them or builds on them, or keeps such calls away while they are deleted: a lock
/// of the system on the chain's full backup, which ends with the process. A file system without locks, such as some of networks, keeps no call away.
/// </summary>
internal sealed class BackupHold : IDisposable
{
    private readonly FileStream _full;

    private BackupHold(FileStream full) => _full = full;

    /// <summary>Holds a chain together with others that do. Returns null if a file of it has been deleted, or is about to be.</summary>
    /// <param name="chain">The files, the full backup first.</param>
    public static BackupHold? TryShare(IReadOnlyList<string> chain)
    {
        var hold = TryOpen(chain[0], FileShare.ReadWrite | FileShare.Delete);
        if (hold == null || chain.All(File.Exists))
            return hold;
        hold.Dispose();
        return null;
    }

    /// <summary>Holds a chain alone, to delete it. Returns null if another call is using it, or has deleted it.</summary>
    /// <param name="full">The full backup.</param>
    public static BackupHold? TryOwn(string full) => TryOpen(full, OperatingSystem.IsWindows() ? FileShare.Delete : FileShare.None);

    public void Dispose() => _full.Dispose();

    private static BackupHold? TryOpen(string full, FileShare share)
    {
        try
        {
            return new BackupHold(new FileStream(full, FileMode.Open, FileAccess.Read, share, bufferSize: 0));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return null;
        }
    }
}
