namespace Voron.IO;

/// <summary>Locks by name within one disk object, for disks that no other process can reach.</summary>
internal sealed class LockTable
{
    private readonly Lock _gate = new();
    private readonly Dictionary<string, int> _holders = new(StringComparer.Ordinal);

    /// <summary>How many locks are held now.</summary>
    public int Count
    {
        get
        {
            lock (_gate)
                return _holders.Count;
        }
    }

    public IDisposable Take(string name, bool shared, string path)
    {
        lock (_gate)
        {
            // Shared holders are counted upwards; an exclusive one is -1.
            int holders = _holders.GetValueOrDefault(name);
            if (holders < 0 || (holders > 0 && !shared))
                throw new DiskException(DiskError.Locked, "lock", path, "somebody else holds the lock");
            _holders[name] = shared ? holders + 1 : -1;
            return new Holder(this, name);
        }
    }

    private void Release(string name)
    {
        lock (_gate)
        {
            int left = _holders[name] - 1;
            if (left > 0)
                _holders[name] = left;
            else
                _holders.Remove(name);
        }
    }

    private sealed class Holder(LockTable table, string name) : IDisposable
    {
        private LockTable? _table = table;

        public void Dispose() => Interlocked.Exchange(ref _table, null)?.Release(name);
    }
}
