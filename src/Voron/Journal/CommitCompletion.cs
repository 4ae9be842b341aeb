using Voron.IO;
using Voron.Primitives;

namespace Voron.Journal;

/// <summary>The source of the task of an awaited commit.</summary>
internal sealed class CommitCompletion : PooledCompletion
{
    private const int PoolSize = 64;

    /// <summary>About the size of an object, for the tests that refuse memory.</summary>
    private const int Bytes = 200;

    private static readonly CommitCompletion?[] Pool = new CommitCompletion?[PoolSize];

    /// <summary>The sequence of the record that must become durable, for a commit without a record.</summary>
    public long Sequence { get; set; }

    protected override bool IsReusable => true;

    /// <exception cref="OutOfMemoryException">There is no memory.</exception>
    public static CommitCompletion Rent()
    {
        // Even if the pool has one: leftovers of other commits must not affect a test.
        EngineMemory.Ask(Bytes);
        for (var i = 0; i < PoolSize; i++)
        {
            var pooled = Interlocked.Exchange(ref Pool[i], null);
            if (pooled != null)
                return pooled;
        }

        return new CommitCompletion();
    }

    public void SetResult() => Complete(null);

    public void SetException(Exception exception) => Complete(exception);

    protected override void Return()
    {
        for (var i = 0; i < PoolSize; i++)
        {
            if (Interlocked.CompareExchange(ref Pool[i], this, null) == null)
                break;
        }
    }
}
