using System.Buffers.Binary;

namespace Voron.Benchmarks.Engines.Counters;

/// <summary>Counters of LMDB, which has no call for them: a lookup and a put in the same write transaction.</summary>
internal sealed class LmdbCounters(string directory) : CounterStore
{
    private readonly LmdbEngine _engine = new(directory);

    public override void BeginWrite() => _engine.BeginWrite();

    public override void Increment(ReadOnlySpan<byte> key)
    {
        var count = _engine.TryGetInWrite(key, out var value) ? BinaryPrimitives.ReadInt64LittleEndian(value) : 0;
        Span<byte> next = stackalloc byte[sizeof(long)];
        BinaryPrimitives.WriteInt64LittleEndian(next, count + 1);
        _engine.Put(key, next);
    }

    public override void Commit() => _engine.Commit();

    public override ulong ReadAll()
    {
        using var reader = _engine.CreateReader();
        return ReadAll(reader);
    }

    public override void Dispose() => _engine.Dispose();
}
