using Voron.Benchmarks.Peers;
using static Voron.Benchmarks.Peers.LmdbNative;

namespace Voron.Benchmarks.Engines.ValueSets;

/// <summary>Value sets of LMDB: sorted duplicates.</summary>
internal sealed unsafe class LmdbValueSets(string directory) : ValueSetStore
{
    private readonly LmdbEngine _engine = new(directory, SortedDuplicates);

    public override long UsedBytes => _engine.UsedBytes;

    public override void BeginWrite() => _engine.BeginWrite();

    public override void Add(ReadOnlySpan<byte> word, ReadOnlySpan<byte> value) => _engine.Put(word, value);

    public override void Commit() => _engine.Commit();

    public override int Read(ReadOnlySpan<byte> word, ref ulong checksum)
    {
        using var scan = new LmdbScan(_engine, _engine.Database);
        var count = 0;
        fixed (byte* key = word)
        {
            var nativeKey = new LmdbValue(key, word.Length);
            LmdbValue data;
            for (var operation = CursorSet; scan.TryMove(&nativeKey, &data, operation); operation = CursorNextDuplicate)
            {
                AddTo(ref checksum, data.Span);
                count++;
            }
        }

        return count;
    }

    public override int CountKnown(ReadOnlySpan<(byte[] Word, byte[] Value)> pairs)
    {
        using var scan = new LmdbScan(_engine, _engine.Database);
        var known = 0;
        foreach (var (word, value) in pairs)
        {
            fixed (byte* key = word, data = value)
            {
                var nativeKey = new LmdbValue(key, word.Length);
                var nativeValue = new LmdbValue(data, value.Length);
                known += scan.TryMove(&nativeKey, &nativeValue, CursorGetBoth) ? 1 : 0;
            }
        }

        return known;
    }

    public override void Dispose() => _engine.Dispose();
}
