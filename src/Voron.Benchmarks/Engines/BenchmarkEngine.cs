namespace Voron.Benchmarks.Engines;

/// <summary>
/// What a workload needs of an engine: one ordered store, one writer, any number of readers. Implementations are sealed,
/// so that the one implementation a process ever uses is called directly or inlined once the loop is compiled.
/// </summary>
internal abstract class BenchmarkEngine : IDisposable
{
    private readonly Lock _oneWriter = new();

    /// <summary>Version and settings that decide what is being measured, for the head of a report.</summary>
    public abstract string Settings { get; }

    /// <summary>Time inside the device's write calls at commits since the store was opened, or null where the engine does not tell.</summary>
    public virtual TimeSpan? CommitWriteTime => null;

    /// <summary>Bytes of a page, of engines that report how many pages a commit changed.</summary>
    public virtual int? PageSize => null;

    public abstract void BeginWrite();

    /// <summary>Inserts or replaces.</summary>
    public abstract void Put(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value);

    /// <summary>Inserts a key greater than all others, by the engine's own way for sorted input if it has one.</summary>
    public virtual void Append(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value) => Put(key, value);

    /// <returns>Whether the key was there.</returns>
    public abstract bool Delete(ReadOnlySpan<byte> key);

    /// <summary>Ends the write transaction; durable on return unless the engine says in its settings that it pipelines.</summary>
    public abstract void Commit();

    /// <summary>Returns when every commit so far is durable. Only a pipelining engine has anything to wait for.</summary>
    public virtual void WaitForCommits()
    {
    }

    /// <summary>A put of its own, durable on return. Any thread may call it, many at once.</summary>
    public virtual void PutDurable(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        lock (_oneWriter)
        {
            BeginWrite();
            Put(key, value);
            Commit();
        }
    }

    /// <summary>One of many callers that wait without a thread each, or null where the engine has only calls that block.</summary>
    public virtual AsyncCaller? CreateCaller() => null;

    /// <summary>Readers are used by one thread each and disposed before the engine.</summary>
    public abstract BenchmarkReader CreateReader();

    public abstract void Dispose();
}

/// <summary>A caller that has at most one put under way.</summary>
internal abstract class AsyncCaller
{
    /// <summary>Completes when the put is durable. The buffers stay as they are until then.</summary>
    public abstract ValueTask PutAsync(ReadOnlyMemory<byte> key, ReadOnlyMemory<byte> value);
}
