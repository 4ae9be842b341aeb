namespace Voron.Benchmarks.Engines.IdSets;

/// <summary>A store of sorted 64-bit ids under each word, such as an index has.</summary>
internal abstract class IdSetStore : IDisposable
{
    // Kept between calls, so that calls that are timed allocate nothing.
    private long[] _left = [];
    private long[] _right = [];

    /// <summary>The bytes of the pages or files in use, once everything has been written back.</summary>
    public abstract long UsedBytes { get; }

    public abstract void BeginWrite();

    /// <summary>Adds an id to the set of a word.</summary>
    public abstract void Add(ReadOnlySpan<byte> word, long id);

    /// <summary>Ends the write transaction. It is durable on return.</summary>
    public abstract void Commit();

    /// <summary>Writes back what has been committed, where the engine has a call for it.</summary>
    public virtual void Settle()
    {
    }

    /// <summary>Reads the ids of a word in ascending order.</summary>
    /// <param name="word">The word.</param>
    /// <param name="ids">Receives the ids; long enough for all.</param>
    /// <returns>The number of ids.</returns>
    public abstract int Read(ReadOnlySpan<byte> word, Span<long> ids);

    /// <summary>Reads the ids that two words have in common.</summary>
    /// <inheritdoc cref="Read"/>
    public virtual int ReadBoth(ReadOnlySpan<byte> word, ReadOnlySpan<byte> other, Span<long> ids)
    {
        // The engine has no call for it: both sets are read, and merged.
        if (_left.Length < ids.Length)
            (_left, _right) = (new long[ids.Length], new long[ids.Length]);
        var lefts = _left.AsSpan(0, Read(word, _left));
        var rights = _right.AsSpan(0, Read(other, _right));
        var count = 0;
        for (int i = 0, j = 0; i < lefts.Length && j < rights.Length;)
        {
            if (lefts[i] == rights[j])
                ids[count++] = lefts[i];
            var (a, b) = (lefts[i], rights[j]);
            if (a <= b)
                i++;
            if (b <= a)
                j++;
        }

        return count;
    }

    public abstract void Dispose();
}
