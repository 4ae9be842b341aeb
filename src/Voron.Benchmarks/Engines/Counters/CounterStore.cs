using System.Buffers.Binary;
using System.Numerics;

namespace Voron.Benchmarks.Engines.Counters;

/// <summary>A store of counters by key, with one way to add 1 to a counter. A missing counter is 0.</summary>
internal abstract class CounterStore : IDisposable
{
    private const ulong Multiplier = 0x9E37_79B9_7F4A_7C15;

    /// <summary>The bytes of transaction records so far, or null if the engine does not report them.</summary>
    public virtual long? RecordBytes => null;

    public abstract void BeginWrite();

    /// <summary>Adds 1 to a counter.</summary>
    public abstract void Increment(ReadOnlySpan<byte> key);

    /// <summary>Ends the write transaction. It is durable on return.</summary>
    public abstract void Commit();

    /// <summary>Writes back what has been committed, where the engine has a call for it.</summary>
    public virtual void Settle()
    {
    }

    /// <summary>Reads all counters in the order of their keys, and returns a checksum of keys and numbers.</summary>
    public abstract ulong ReadAll();

    public abstract void Dispose();

    /// <summary>Adds a counter to a checksum.</summary>
    protected static ulong AddTo(ulong checksum, ReadOnlySpan<byte> key, long count)
    {
        foreach (var letter in key)
            checksum = (BitOperations.RotateLeft(checksum, 5) ^ letter) * Multiplier;
        return (BitOperations.RotateLeft(checksum, 5) ^ (ulong)count) * Multiplier;
    }

    /// <summary>Reads all counters through a reader of values of eight bytes, in little-endian order.</summary>
    protected static ulong ReadAll(BenchmarkReader reader)
    {
        var checksum = 0UL;
        reader.Begin();
        for (var found = reader.MoveFirst(out var key, out var value); found; found = reader.MoveNext(out key, out value))
            checksum = AddTo(checksum, key, BinaryPrimitives.ReadInt64LittleEndian(value));
        reader.End();
        return checksum;
    }
}
