using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using Voron.Testing;

namespace Voron.Primitives;

/// <summary>Caches objects that can be recreated, up to a number of bytes. A lookup takes no lock.</summary>
/// <remarks>
/// When room is needed, objects looked up since the last round get a second chance (F. J. Corbató, "A Paging Experiment with the Multics System",
/// 1968). The object added last stays, however large it is.
/// </remarks>
/// <typeparam name="TKey">The type of the keys.</typeparam>
/// <typeparam name="TValue">The type of the objects, which must be immutable.</typeparam>
/// <param name="limitBytes">The maximum total size of the objects in bytes, unless the last one alone exceeds it.</param>
/// <param name="charge">Called with the number of bytes by which the cache has grown; negative if it has shrunk. Must not throw.</param>
internal sealed class BoundedCache<TKey, TValue>(long limitBytes, Action<long> charge)
    where TKey : notnull
    where TValue : class
{
    private readonly ConcurrentDictionary<TKey, LinkedListNode<Kept>> _kept = new();
    private readonly LinkedList<Kept> _order = new();

    // Protects the order, the sum, and all changes of the table. No other lock is taken while it is held.
    private readonly Lock _gate = new();
    private long _bytes;
    private bool _isClosed;

    /// <summary>The total size of the cached objects in bytes.</summary>
    public long Bytes => Volatile.Read(ref _bytes);

    /// <summary>Returns the object of a key, if it is cached.</summary>
    public bool TryGet(TKey key, [NotNullWhen(true)] out TValue? value)
    {
        value = null;
        if (!_kept.TryGetValue(key, out var node))
            return false;
        var kept = node.ValueRef;

        // Written only once per round, so that readers do not contend for the cache line.
        if (!kept.WasUsed)
            kept.WasUsed = true;
        value = kept.Value;
        return true;
    }

    /// <summary>Caches an object and returns it, or returns the one that another thread has added in the meantime.</summary>
    public TValue Add(TKey key, TValue value, long bytes)
    {
        var node = new LinkedListNode<Kept>(new Kept(key, value, bytes) { WasUsed = true });
        using (Uninterrupted.Hold(_gate))
        {
            if (_isClosed)
                return value;
            if (_kept.TryGetValue(key, out var known))
                return known.Value.Value;
            _kept[key] = node;
            _order.AddLast(node);
            Charge(bytes);
            while (_bytes > limitBytes && _order.Count > 1 && !PlantedFault.CacheWithoutLimit)
                TakeFirst();
        }

        return value;
    }

    /// <summary>Removes an object.</summary>
    public void Remove(TKey key)
    {
        using (Uninterrupted.Hold(_gate))
        {
            if (_kept.TryGetValue(key, out var node))
                Remove(node);
        }
    }

    /// <summary>Removes all objects, and caches none from now on.</summary>
    public void Close()
    {
        using (Uninterrupted.Hold(_gate))
        {
            _isClosed = true;
            _kept.Clear();
            _order.Clear();
            Charge(-_bytes);
        }
    }

    private void TakeFirst()
    {
        var first = _order.First!;
        if (!first.Value.WasUsed)
        {
            Remove(first);
            return;
        }

        first.Value.WasUsed = false;
        _order.RemoveFirst();
        _order.AddLast(first);
    }

    private void Remove(LinkedListNode<Kept> node)
    {
        _kept.TryRemove(node.Value.Key, out _);
        _order.Remove(node);
        Charge(-node.Value.Bytes);
    }

    private void Charge(long change)
    {
        _bytes += change;
        charge(change);
    }

    private sealed class Kept(TKey key, TValue value, long bytes)
    {
        public TKey Key => key;

        public TValue Value => value;

        public long Bytes => bytes;

        public bool WasUsed { get; set; }
    }
}
