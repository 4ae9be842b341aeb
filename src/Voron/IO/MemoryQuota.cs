namespace Voron.IO;

/// <summary>The bytes that the files of a <see cref="MemoryDisk"/> may hold together.</summary>
internal sealed class MemoryQuota(long limit)
{
    private long _used;

    /// <summary>The limit in bytes.</summary>
    public long Limit => limit;

    /// <summary>The bytes that are left; <see cref="long.MaxValue"/> without a limit.</summary>
    public long Free => limit == long.MaxValue ? limit : limit - Volatile.Read(ref _used);

    /// <summary>Takes bytes; returns false, and takes none, when there are not enough left.</summary>
    public bool TryTake(long bytes)
    {
        var used = Volatile.Read(ref _used);
        while (bytes <= limit - used)
        {
            var found = Interlocked.CompareExchange(ref _used, used + bytes, used);
            if (found == used)
                return true;
            used = found;
        }

        return false;
    }

    public void Return(long bytes) => Interlocked.Add(ref _used, -bytes);
}
