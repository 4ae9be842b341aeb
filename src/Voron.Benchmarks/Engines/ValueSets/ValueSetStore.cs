using System.Numerics;

namespace Voron.Benchmarks.Engines.ValueSets;

/// <summary>A store of sorted byte strings under each word.</summary>
internal abstract class ValueSetStore : IDisposable
{
    private const ulong Multiplier = 0x9E37_79B9_7F4A_7C15;

    /// <summary>The bytes of the pages or files in use, once everything has been written back.</summary>
    public abstract long UsedBytes { get; }

    public abstract void BeginWrite();

    /// <summary>Adds a value to the set of a word.</summary>
    public abstract void Add(ReadOnlySpan<byte> word, ReadOnlySpan<byte> value);

    /// <summary>Ends the write transaction. It is durable on return.</summary>
    public abstract void Commit();

    /// <summary>Writes back what has been committed, where the engine has a call for it.</summary>
    public virtual void Settle()
    {
    }

    /// <summary>Reads the values of a word in ascending order.</summary>
    /// <param name="word">The word.</param>
    /// <param name="checksum">Takes in each value.</param>
    /// <returns>The number of values.</returns>
    public abstract int Read(ReadOnlySpan<byte> word, ref ulong checksum);

    /// <summary>Looks up pairs of word and value, in one read transaction.</summary>
    /// <returns>The number of pairs that exist.</returns>
    public abstract int CountKnown(ReadOnlySpan<(byte[] Word, byte[] Value)> pairs);

    public abstract void Dispose();

    /// <summary>Takes a value into a checksum: cheaply, because the time counts.</summary>
    protected static void AddTo(ref ulong checksum, ReadOnlySpan<byte> value) =>
        checksum = (BitOperations.RotateLeft(checksum, 5) ^ value[0] ^ ((ulong)value[^1] << 8) ^ ((ulong)value.Length << 16)) * Multiplier;
}
