using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using Voron.Testing;

namespace Voron.Primitives;

/// <summary>Keeps objects that can be made again, up to a number of bytes. A lookup takes no lock.</summary>
/// <remarks>
/// What was looked up since the last round gets a second chance when room is needed (F. J. Corbató, "A Paging Experiment with the Multics System",
/// 1968). The object that was added last stays, however large it is.
/// </remarks>
/// <typeparam name="TKey">Names an object.</typeparam>
/// <typeparam name="TValue">The objects, which never change.</typeparam>
/// <param name="limitBytes">The bytes up to which objects are kept.</param>
/// <param name="charge">Told by how many bytes the cache has grown or shrunk. Throws nothing.</param>
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

    /// <summary>The bytes of what is kept.</summary>
    public long Bytes => Volatile.Read(ref _bytes);

    /// <summary>Returns the object of a key, if it is kept.</summary>
    public bool TryGet(TKey key, [NotNullWhen(true)] out TValue? value)
    {
        value = null;
        if (!_kept.TryGetValue(key, out var node))
            return false;
        var kept = node.ValueRef;

        // Written only once, which spares other readers the cache line.
        if (!kept.WasUsed)
            kept.WasUsed = true;
        value = kept.Value;
        return true;
    }

    /// <summary>Keeps an object, and returns it, or the one that another thread has added meanwhile.</summary>
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

    /// <summary>Forgets an object.</summary>
    public void Remove(TKey key)
    {
        using (Uninterrupted.Hold(_gate))
        {
            if (_kept.TryGetValue(key, out var node))
                Remove(node);
        }
    }

    /// <summary>Forgets all objects, and keeps none from now on.</summary>
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
