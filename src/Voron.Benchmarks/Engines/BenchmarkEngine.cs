namespace Voron.Benchmarks.Engines;

/// <summary>
/// An engine as the workloads use it: one ordered store, one writer, any number of readers. Implementations are sealed, so that calls
/// to the only implementation in a process are direct or inlined once the loop is compiled.
/// </summary>
internal abstract class BenchmarkEngine : IDisposable
{
    private readonly Lock _oneWriter = new();

    /// <summary>The version and the settings that affect the figures, for the head of a report.</summary>
    public abstract string Settings { get; }

    /// <summary>Time spent in the device's write calls at commits since the store was opened, or null if the engine does not report it.</summary>
    public virtual TimeSpan? CommitWriteTime => null;

    /// <summary>Bytes of a page, or null if the engine does not report how many pages a commit changed.</summary>
    public virtual int? PageSize => null;

    public abstract void BeginWrite();

    /// <summary>Inserts or replaces.</summary>
    public abstract void Put(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value);

    /// <summary>Inserts a key greater than all others, through the engine's call for sorted input if it has one.</summary>
    public virtual void Append(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value) => Put(key, value);

    /// <returns>True if the key existed.</returns>
    public abstract bool Delete(ReadOnlySpan<byte> key);

    /// <summary>Ends the write transaction. It is durable on return unless the engine's settings say that commits are pipelined.</summary>
    public abstract void Commit();

    /// <summary>
    /// Begins a load by the engine's own means for many entries, if it has any: transactions are then ignored, and nothing need be durable before
    /// <see cref="EndLoad"/>.
    /// </summary>
    /// <param name="isSorted">True if the keys come in order.</param>
    public virtual void BeginLoad(bool isSorted)
    {
    }

    /// <summary>Ends the load. The entries are durable then, and as compact as the engine makes them.</summary>
    public virtual void EndLoad()
    {
    }

    /// <summary>Waits until every commit so far is durable. Only a pipelining engine has to wait.</summary>
    public virtual void WaitForCommits()
    {
    }

    /// <summary>Makes one put in its own transaction, durable on return. Any number of threads can call it at once.</summary>
    public virtual void PutDurable(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        lock (_oneWriter)
        {
            BeginWrite();
            Put(key, value);
            Commit();
        }
    }

    /// <summary>Creates a caller that waits without a thread, or returns null if the engine has only blocking calls.</summary>
    public virtual AsyncCaller? CreateCaller() => null;

    /// <summary>Creates a reader for one thread. Dispose it before the engine.</summary>
    public abstract BenchmarkReader CreateReader();

    public abstract void Dispose();
}

/// <summary>A caller with at most one put in flight.</summary>
internal abstract class AsyncCaller
{
    /// <summary>Completes when the put is durable. The buffers must not change before that.</summary>
    public abstract ValueTask PutAsync(ReadOnlyMemory<byte> key, ReadOnlyMemory<byte> value);
}

/// <summary>Reads one snapshot after another. A returned span is valid until the next call on the reader.</summary>
internal abstract class BenchmarkReader : IDisposable
{
    public abstract void Begin();

    public abstract void End();

    public abstract bool TryGet(ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value);

    /// <summary>Gets the first <paramref name="count"/> keys of a buffer in one call, if the engine has such a call.</summary>
    /// <returns>The number of keys found.</returns>
    public virtual int GetMany(ItemBuffer keys, int count, ref ContentChecksum checksum) => GetEach(keys, count, ref checksum);

    /// <summary>Gets the first <paramref name="count"/> keys of a buffer one by one.</summary>
    /// <returns>The number of keys found.</returns>
    public int GetEach(ItemBuffer keys, int count, ref ContentChecksum checksum)
    {
        var found = 0;
        var sum = checksum;
        for (var i = 0; i < count; i++)
        {
            if (!TryGet(keys.Key(i), out var value))
                continue;
            sum.Add(value);
            found++;
        }
        checksum = sum;
        return found;
    }

    public abstract bool MoveFirst(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value);

    public abstract bool MoveLast(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value);

    public abstract bool MoveNext(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value);

    public abstract bool MovePrevious(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value);

    public abstract void Dispose();
}
