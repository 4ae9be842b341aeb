using System.Buffers.Binary;

namespace Voron.Benchmarks.Engines.Counters;

/// <summary>
/// Counters of RocksDB by its own operator for 64-bit sums. A merge only records the operand: reads, flushes and compactions add up.
/// </summary>
internal sealed class RocksDbCounters(string directory) : CounterStore
{
    private readonly RocksDbEngine _engine = new(directory, mergesCounters: true);

    public override void BeginWrite() => _engine.BeginWrite();

    public override void Increment(ReadOnlySpan<byte> key)
    {
        Span<byte> one = stackalloc byte[sizeof(long)];
        BinaryPrimitives.WriteInt64LittleEndian(one, 1);
        _engine.Merge(key, one);
    }

    public override void Commit() => _engine.Commit();

    public override ulong ReadAll()
    {
        using var reader = _engine.CreateReader();
        return ReadAll(reader);
    }

    public override void Dispose() => _engine.Dispose();
}
