using System.Buffers.Binary;

namespace Voron.Benchmarks.Engines.Counters;

/// <summary>Counters of Voron with default options, by <see cref="WriteTree.Increment"/> or by a lookup and a put.</summary>
internal sealed class VoronCounters(string directory, bool usesIncrement) : CounterStore
{
    private const string TreeName = "counters";

    private readonly StorageEnvironment _environment = StorageEnvironment.Open(directory);
    private WriteTransaction _write;
    private WriteTree _tree;

    public override long? RecordBytes => _environment.GetStatistics().JournalTransactionBytes;

    public override void BeginWrite()
    {
        _write = _environment.BeginWrite();
        _tree = _write.CreateTree(TreeName);
    }

    public override void Increment(ReadOnlySpan<byte> key)
    {
        if (usesIncrement)
        {
            _tree.Increment(key);
            return;
        }

        var count = _tree.TryGet(key, out var value) ? BinaryPrimitives.ReadInt64LittleEndian(value) : 0;
        Span<byte> next = stackalloc byte[sizeof(long)];
        BinaryPrimitives.WriteInt64LittleEndian(next, count + 1);
        _tree.Put(key, next);
    }

    public override void Commit() => _write.Commit();

    public override void Settle() => _environment.Flush();

    public override ulong ReadAll()
    {
        using var reading = _environment.BeginRead();
        var checksum = 0UL;
        foreach (var entry in reading.OpenTree(TreeName).GetEntries())
            checksum = AddTo(checksum, entry.Key, BinaryPrimitives.ReadInt64LittleEndian(entry.Value));
        return checksum;
    }

    public override void Dispose() => _environment.Dispose();
}
