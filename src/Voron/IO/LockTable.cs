using Voron.Primitives;

namespace Voron.IO;

/// <summary>
/// The locks that this process holds, by file identity: a second path to a file finds the same lock.
/// </summary>
/// <remarks>
/// A disk that no other process can reach needs no other locks. Used together with the operating system's lock, the table detects conflicts that
/// the system may miss: where a file system keeps locks per process, a process gets every lock that it requests.
/// </remarks>
internal sealed class LockTable<TKey>
    where TKey : notnull
{
    // Protects the list of holders. No other lock is taken while it is held.
    private readonly Lock _gate = new();

    // A process has few environments open, so a dictionary does not pay: its code would have to be compiled when the first one is opened.
    private readonly List<Holder> _holders = [];

    /// <summary>The number of locks held now.</summary>
    public int Count
    {
        get
        {
            using (Uninterrupted.Hold(_gate))
                return _holders.Count;
        }
    }

    /// <exception cref="DiskException">The lock is held (<see cref="DiskError.Locked"/>).</exception>
    public IDisposable Take(TKey file, bool shared, string path)
    {
        using (Uninterrupted.Hold(_gate))
        {
            foreach (var held in _holders)
            {
                if (!EqualityComparer<TKey>.Default.Equals(held.File, file) || (held.IsShared && shared))
                    continue;
                throw new DiskException(
                    DiskError.Locked, "lock", path, $"the lock is held by this process (process {Environment.ProcessId})");
            }
            var holder = new Holder(this, file, shared);
            _holders.Add(holder);
            return holder;
        }
    }

    private void Release(Holder holder)
    {
        using (Uninterrupted.Hold(_gate))
            _holders.Remove(holder);
    }

    private sealed class Holder(LockTable<TKey> table, TKey file, bool isShared) : IDisposable
    {
        public TKey File => file;

        public bool IsShared => isShared;

        // A second call does nothing.
        public void Dispose() => table.Release(this);
    }
}
