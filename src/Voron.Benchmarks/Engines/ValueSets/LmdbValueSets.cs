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
        var transaction = _engine.BeginReading();
        var count = 0;
        try
        {
            nint cursor;
            LmdbEngine.Check(OpenCursor(transaction, _engine.Database, &cursor));
            fixed (byte* key = word)
            {
                var nativeKey = new LmdbValue(key, word.Length);
                LmdbValue data;
                for (var operation = CursorSet; LmdbEngine.Found(MoveCursor(cursor, &nativeKey, &data, operation)); operation = CursorNextDuplicate)
                {
                    AddTo(ref checksum, data.Span);
                    count++;
                }
            }

            CloseCursor(cursor);
        }
        finally
        {
            AbortTransaction(transaction);
        }

        return count;
    }

    public override int CountKnown(ReadOnlySpan<(byte[] Word, byte[] Value)> pairs)
    {
        var transaction = _engine.BeginReading();
        var known = 0;
        try
        {
            nint cursor;
            LmdbEngine.Check(OpenCursor(transaction, _engine.Database, &cursor));
            foreach (var (word, value) in pairs)
            {
                fixed (byte* key = word, data = value)
                {
                    var nativeKey = new LmdbValue(key, word.Length);
                    var nativeValue = new LmdbValue(data, value.Length);
                    known += LmdbEngine.Found(MoveCursor(cursor, &nativeKey, &nativeValue, CursorGetBoth)) ? 1 : 0;
                }
            }

            CloseCursor(cursor);
        }
        finally
        {
            AbortTransaction(transaction);
        }

        return known;
    }

    public override void Dispose() => _engine.Dispose();
}
