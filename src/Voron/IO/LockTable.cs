namespace Voron.IO;

/// <summary>
/// The locks that this process holds, by the identity of the file: a second path to a file finds the same lock.
/// </summary>
/// <remarks>
/// A disk that no other process can reach needs nothing else. Beside the lock of the operating system it notices what that one may miss:
/// where a file system keeps locks by process, a process has every lock that it asks for.
/// </remarks>
internal sealed class LockTable<TKey>
    where TKey : notnull
{
    private readonly Lock _gate = new();
    private readonly Dictionary<TKey, int> _holders = [];

    /// <summary>How many locks are held now.</summary>
    public int Count
    {
        get
        {
            lock (_gate)
                return _holders.Count;
        }
    }

    /// <exception cref="DiskException">The lock is held (<see cref="DiskError.Locked"/>).</exception>
    public IDisposable Take(TKey file, bool shared, string path)
    {
        lock (_gate)
        {
            // Shared holders are counted upwards; an exclusive one is -1.
            int holders = _holders.GetValueOrDefault(file);
            if (holders < 0 || (holders > 0 && !shared))
            {
                throw new DiskException(
                    DiskError.Locked, "lock", path, $"the lock is held by this process (process {Environment.ProcessId})");
            }
            _holders[file] = shared ? holders + 1 : -1;
            return new Holder(this, file);
        }
    }

    private void Release(TKey file)
    {
        lock (_gate)
        {
            int left = _holders[file] - 1;
            if (left > 0)
                _holders[file] = left;
            else
                _holders.Remove(file);
        }
    }

    private sealed class Holder(LockTable<TKey> table, TKey file) : IDisposable
    {
        private LockTable<TKey>? _table = table;

        public void Dispose() => Interlocked.Exchange(ref _table, null)?.Release(file);
    }
}
