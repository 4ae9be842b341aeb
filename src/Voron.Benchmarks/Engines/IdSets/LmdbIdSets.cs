using System.Runtime.InteropServices;
using Voron.Benchmarks.Peers;
using static Voron.Benchmarks.Peers.LmdbNative;

namespace Voron.Benchmarks.Engines.IdSets;

/// <summary>Id sets of LMDB: sorted duplicates of eight bytes, which it keeps without headers.</summary>
internal sealed unsafe class LmdbIdSets(string directory) : IdSetStore
{
    private readonly LmdbEngine _engine = new(directory, SortedDuplicates | FixedDuplicates | IntegerDuplicates);

    public override long UsedBytes => _engine.UsedBytes;

    public override void BeginWrite() => _engine.BeginWrite();

    public override void Add(ReadOnlySpan<byte> word, long id) => _engine.Put(word, MemoryMarshal.AsBytes(new ReadOnlySpan<long>(in id)));

    public override void Commit() => _engine.Commit();

    public override int Read(ReadOnlySpan<byte> word, Span<long> ids)
    {
        using var scan = new LmdbScan(_engine, _engine.Database);
        var count = 0;
        fixed (byte* key = word)
        {
            var nativeKey = new LmdbValue(key, word.Length);
            LmdbValue data;
            if (!scan.TryMove(&nativeKey, &data, CursorSet))
                return 0;
            for (var operation = CursorGetMultiple; scan.TryMove(&nativeKey, &data, operation); operation = CursorNextMultiple)
            {
                var some = MemoryMarshal.Cast<byte, long>(data.Span);
                some.CopyTo(ids[count..]);
                count += some.Length;
            }
        }

        return count;
    }

    public override void Dispose() => _engine.Dispose();
}
