using System.Diagnostics.CodeAnalysis;
using BenchmarkDotNet.Attributes;

namespace Voron.Benchmarks.Suites;

/// <summary>Transactions and cursors of an environment in memory: the time and the allocations of the engine itself.</summary>
[MemoryDiagnoser]
[SuppressMessage("Design", "CA1001", Justification = "BenchmarkDotNet calls the cleanup, not Dispose.")]
public class TransactionSuite
{
    private const string TreeName = "items";
    private const int Items = 100_000;
    private const int Steps = 1_000;
    private const int PutsPerTransaction = 100;

    private readonly ItemBuffer _buffer = new(KeyOrder.Random, PutsPerTransaction, withValues: true);
    private StorageEnvironment? _environment;
    private long _operation;

    [GlobalSetup]
    public void Fill()
    {
        _environment = StorageEnvironment.OpenInMemory();
        for (long done = 0; done < Items; done += PutsPerTransaction)
            Put(done, version: 0, random: false);
    }

    [GlobalCleanup]
    public void Close() => _environment?.Dispose();

    [Benchmark]
    public void BeginAndEndRead() => _environment!.BeginRead().Dispose();

    [Benchmark]
    public void BeginAndRollBackWrite() => _environment!.BeginWrite().Dispose();

    /// <summary>Edits, diffs, packs and publishes a transaction of 100 updates. Its record goes to memory.</summary>
    [Benchmark]
    public void PackAndCommit()
    {
        Put(_operation, version: (int)_operation, random: true);
        _operation += PutsPerTransaction;
    }

    [Benchmark(OperationsPerInvoke = Steps)]
    public long CursorStep()
    {
        long bytes = 0;
        using var transaction = _environment!.BeginRead();
        using var cursor = transaction.OpenTree(TreeName).OpenCursor();
        var found = cursor.SeekFirst();
        for (var i = 0; i < Steps && found; i++, found = cursor.MoveNext())
            bytes += cursor.Value.Length;
        return bytes;
    }

    private void Put(long first, int version, bool random)
    {
        for (var i = 0; i < PutsPerTransaction; i++)
        {
            var item = random ? ItemGenerator.PickItem(first + i, round: 0, Items) : first + i;
            _buffer.SetKey(i, item);
            _buffer.SetValue(i, item, version);
        }
        using var transaction = _environment!.BeginWrite();
        var tree = transaction.CreateTree(TreeName);
        for (var i = 0; i < PutsPerTransaction; i++)
            tree.Put(_buffer.Key(i), _buffer.Value(i));
        transaction.Commit();
    }
}
