namespace Voron.Sorting;

/// <summary>Entries in key order, each key once unless all are kept. Read by one thread at a time.</summary>
internal abstract unsafe class SortedStream : IDisposable
{
    /// <summary>The current key, until the next move.</summary>
    public byte* Key { get; protected set; }

    public int KeyLength { get; protected set; }

    /// <summary>The current value, until the next move.</summary>
    public byte* Value { get; protected set; }

    public int ValueLength { get; protected set; }

    /// <summary>True after the last entry.</summary>
    public bool IsOver { get; protected set; }

    /// <summary>The number of bytes that all keys of the stream share at their beginning.</summary>
    public abstract int SharedBytes { get; }

    public ReadOnlySpan<byte> KeySpan => new(Key, KeyLength);

    /// <summary>Moves to the next entry; returns false after the last one.</summary>
    /// <exception cref="VoronException">The entry cannot be read back, or is damaged.</exception>
    public abstract bool MoveNext();

    public abstract void Dispose();
}
