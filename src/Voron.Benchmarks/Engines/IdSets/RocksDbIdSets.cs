using System.Buffers.Binary;
using static Voron.Benchmarks.Peers.RocksDbNative;

namespace Voron.Benchmarks.Engines.IdSets;

/// <summary>
/// Id sets of RocksDB: keys of word and id, without values. Neighbouring keys share their beginnings in its files, and a merge of packed lists would
/// read and write each list as a whole.
/// </summary>
internal sealed unsafe class RocksDbIdSets(string directory) : IdSetStore
{
    private readonly RocksDbEngine _engine = new(directory);
    private readonly byte[] _key = new byte[256];

    public override long UsedBytes => _engine.UsedBytes;

    public override void BeginWrite() => _engine.BeginWrite();

    public override void Add(ReadOnlySpan<byte> word, long id) => _engine.Put(Key(word, id), default);

    public override void Commit() => _engine.Commit();

    public override void Settle() => _engine.Compact();

    public override int Read(ReadOnlySpan<byte> word, Span<long> ids)
    {
        var count = 0;
        var options = CreateReadOptions();
        var iterator = CreateIterator(_engine.Database, options);
        fixed (byte* from = Key(word, 0))
            Seek(iterator, from, (nuint)word.Length + 1 + sizeof(long));
        for (; IsValid(iterator) != 0; Next(iterator))
        {
            nuint length;
            var key = IteratorKey(iterator, &length);
            var found = new ReadOnlySpan<byte>(key, (int)length);
            if (found.Length != word.Length + 1 + sizeof(long) || !found.StartsWith(word) || found[word.Length] != 0)
                break;
            ids[count++] = BinaryPrimitives.ReadInt64BigEndian(found[^sizeof(long)..]);
        }

        DestroyIterator(iterator);
        DestroyReadOptions(options);
        return count;
    }

    public override void Dispose() => _engine.Dispose();

    private ReadOnlySpan<byte> Key(ReadOnlySpan<byte> word, long id)
    {
        word.CopyTo(_key);
        _key[word.Length] = 0;
        BinaryPrimitives.WriteInt64BigEndian(_key.AsSpan(word.Length + 1), id);
        return _key.AsSpan(0, word.Length + 1 + sizeof(long));
    }
}
