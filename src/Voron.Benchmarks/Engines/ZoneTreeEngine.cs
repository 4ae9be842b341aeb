using ZoneTree;
using ZoneTree.Options;

namespace Voron.Benchmarks.Engines;

/// <summary>
/// ZoneTree. A transaction is a number of upserts, followed by a wait until the write-ahead log is on the device. It is not atomic, and other
/// callers see its items one by one.
/// </summary>
internal sealed class ZoneTreeEngine : BenchmarkEngine
{
    private readonly IZoneTree<Memory<byte>, Memory<byte>> _tree;
    private readonly IMaintainer _maintainer;

    public ZoneTreeEngine(string directory)
    {
        _tree = new ZoneTreeFactory<Memory<byte>, Memory<byte>>()
            .SetDataDirectory(directory)
            .ConfigureWriteAheadLogOptions(options => options.WriteAheadLogMode = WriteAheadLogMode.Sync)
            .OpenOrCreate();
        _maintainer = _tree.CreateMaintainer();
    }

    public override string Settings =>
        $"ZoneTree {typeof(WriteAheadLogMode).Assembly.GetName().Version?.ToString(3)}; write-ahead log mode Sync, then SyncWALAsync for "
        + "each transaction; transactions are not atomic, and reads have no snapshot; other settings default, with its maintainer";

    public override void BeginWrite()
    {
    }

    public override void Put(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value) => _tree.Upsert(key.ToArray(), value.ToArray());

    public override bool Delete(ReadOnlySpan<byte> key) => _tree.TryDelete(key.ToArray(), out _);

    public override void Commit() => _tree.SyncWALAsync().GetAwaiter().GetResult();

    public override void PutDurable(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        Put(key, value);
        Commit();
    }

    public override AsyncCaller CreateCaller() => new Caller(_tree);

    public override BenchmarkReader CreateReader() => new Reader(_tree);

    public override void Dispose()
    {
        // The tree must not be closed under a merge.
        _maintainer.WaitForBackgroundThreads();
        _maintainer.Dispose();
        _tree.Dispose();
    }

    private sealed class Caller(IZoneTree<Memory<byte>, Memory<byte>> tree) : AsyncCaller
    {
        public override ValueTask PutAsync(ReadOnlyMemory<byte> key, ReadOnlyMemory<byte> value)
        {
            tree.Upsert(key.ToArray(), value.ToArray());
            return new ValueTask(tree.SyncWALAsync());
        }
    }

    private sealed class Reader(IZoneTree<Memory<byte>, Memory<byte>> tree) : EnumeratingReader
    {
        public override void Begin()
        {
        }

        public override bool TryGet(ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
        {
            var found = tree.TryGet(key.ToArray(), out var item);
            value = item.Span;
            return found;
        }

        protected override IEnumerable<(ReadOnlyMemory<byte> Key, ReadOnlyMemory<byte> Value)> Scan(bool backward)
        {
            using var iterator = backward ? tree.CreateReverseIterator() : tree.CreateIterator();
            while (iterator.Next())
                yield return (iterator.CurrentKey, iterator.CurrentValue);
        }
    }
}
