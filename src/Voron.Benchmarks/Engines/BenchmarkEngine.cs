namespace Voron.Benchmarks.Engines;

/// <summary>
/// What a workload needs of an engine: one ordered store, one caller on one thread. Implementations are sealed, so that
/// the one implementation a process ever uses is called directly or inlined once the loop is compiled. Spans handed out
/// live until <see cref="EndRead"/>.
/// </summary>
internal abstract class BenchmarkEngine : IDisposable
{
    /// <summary>Version and settings that decide what is being measured, for the head of a report.</summary>
    public abstract string Settings { get; }

    public abstract void BeginWrite();

    /// <summary>Inserts or replaces.</summary>
    public abstract void Put(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value);

    /// <summary>Ends the write transaction; durable on return unless the engine says in its settings that it pipelines.</summary>
    public abstract void Commit();

    /// <summary>Returns when every commit so far is durable. Only a pipelining engine has anything to wait for.</summary>
    public virtual void WaitForCommits()
    {
    }

    public abstract void BeginRead();

    public abstract void EndRead();

    /// <summary>Number of items the open read transaction sees.</summary>
    public abstract long CountItems();

    public abstract bool TryGet(ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value);

    public abstract bool MoveFirst(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value);

    public abstract bool MoveLast(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value);

    public abstract bool MoveNext(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value);

    public abstract bool MovePrevious(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value);

    public abstract void Dispose();
}
