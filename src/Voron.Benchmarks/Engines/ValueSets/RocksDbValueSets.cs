using static Voron.Benchmarks.Peers.RocksDbNative;

namespace Voron.Benchmarks.Engines.ValueSets;

/// <summary>Value sets of RocksDB: keys of word and value, without values.</summary>
internal sealed unsafe class RocksDbValueSets(string directory) : ValueSetStore
{
    private readonly RocksDbEngine _engine = new(directory);
    private readonly byte[] _key = new byte[256];

    public override long UsedBytes => _engine.UsedBytes;

    public override void BeginWrite() => _engine.BeginWrite();

    public override void Add(ReadOnlySpan<byte> word, ReadOnlySpan<byte> value) => _engine.Put(Key(word, value), default);

    public override void Commit() => _engine.Commit();

    public override void Settle() => _engine.Compact();

    public override int Read(ReadOnlySpan<byte> word, ref ulong checksum)
    {
        var count = 0;
        var options = CreateReadOptions();
        var iterator = CreateIterator(_engine.Database, options);
        var prefix = Key(word, default);
        fixed (byte* from = prefix)
            Seek(iterator, from, (nuint)prefix.Length);
        for (; IsValid(iterator) != 0; Next(iterator))
        {
            nuint length;
            var key = IteratorKey(iterator, &length);
            var found = new ReadOnlySpan<byte>(key, (int)length);
            if (!found.StartsWith(prefix))
                break;
            AddTo(ref checksum, found[prefix.Length..]);
            count++;
        }

        DestroyIterator(iterator);
        DestroyReadOptions(options);
        return count;
    }

    public override int CountKnown(ReadOnlySpan<(byte[] Word, byte[] Value)> pairs)
    {
        using var reader = _engine.CreateReader();
        var known = 0;
        reader.Begin();
        foreach (var (word, value) in pairs)
            known += reader.TryGet(Key(word, value), out _) ? 1 : 0;
        reader.End();
        return known;
    }

    public override void Dispose() => _engine.Dispose();

    private ReadOnlySpan<byte> Key(ReadOnlySpan<byte> word, ReadOnlySpan<byte> value)
    {
        word.CopyTo(_key);
        _key[word.Length] = 0;
        value.CopyTo(_key.AsSpan(word.Length + 1));
        return _key.AsSpan(0, word.Length + 1 + value.Length);
    }
}
