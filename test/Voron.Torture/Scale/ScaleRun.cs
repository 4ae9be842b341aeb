using System.Diagnostics;
using Voron.Maintenance;
using Voron.Torture.Harness;
using Voron.Transactions;

namespace Voron.Torture.Scale;

/// <summary>What an operation has cost in a store of some size.</summary>
/// <param name="Operation">What was done.</param>
/// <param name="Seconds">How long it took.</param>
/// <param name="Allocated">Bytes of managed memory that its thread asked for in all, given back meanwhile or not.</param>
/// <param name="Resident">Bytes by which the memory of the process grew at most, the disk's own and that of a writer beside it included.</param>
/// <param name="LongestStall">The longest that a small commit took meanwhile; null when none was made.</param>
internal sealed record ScaleResult(string Operation, double Seconds, long Allocated, long Resident, TimeSpan? LongestStall);

/// <summary>Makes a large store and does to it what takes the longer the larger it is, while a writer commits.</summary>
internal sealed class ScaleRun(long bytes, int trees, int valueBytes = 4 << 20) : IDisposable
{
    private const int FillBatch = 16;
    private const int TreeBatch = 10_000;
    private const int UnflushedKeys = 20_000;

    private readonly SparseDisk _disk = new(Math.Max(bytes + (bytes / 4), bytes + (8L << 30)));
    private readonly List<ScaleResult> _results = [];
    private StorageEnvironment? _environment;

    /// <summary>Pages of the store when it is full.</summary>
    public long Pages { get; private set; }

    public IReadOnlyList<ScaleResult> Results => _results;

    /// <exception cref="BrokenPromiseException">A verification found something.</exception>
    public IReadOnlyList<ScaleResult> Run(Action<ScaleResult>? done = null)
    {
        _environment = Open();
        try
        {
            Measure("fill", Fill, done);
            Pages = _environment.GetStatistics().PageCount;
            Measure($"make {trees:N0} trees", MakeTrees, done);
            Measure("flush", () => _environment.Flush(), done);
            Measure("verify", Verify, done);
            Measure("scrub, as fast as it goes", Scrub, done);
            Measure("delete every second value", DeleteHalf, done);
            Measure("reclaim", () => _environment.ReclaimSpace(), done);
            Measure("close", () => _environment.Dispose(), done, isOpen: false);
            Measure("open after a close", () => _environment = Open(), done, isOpen: false);
            Measure("write what is to be replayed", WriteUnflushed, done);
            _disk.IsCut = true;
            _environment.Dispose();
            _disk.IsCut = false;
            Measure("open after a cut, with replay", () => _environment = Open(), done, isOpen: false);
            if (_environment.Recovery.ReplayedRecords == 0)
                throw new BrokenPromiseException("Nothing was replayed.");
            Measure("verify once more", Verify, done);
        }
        finally
        {
            _environment.Dispose();
        }

        return _results;
    }

    public void Dispose() => _disk.Release();

    private StorageEnvironment Open() => StorageEnvironment.Open(_disk, new StorageOptions { ScrubInterval = Timeout.InfiniteTimeSpan });

    private void Measure(string operation, Action act, Action<ScaleResult>? done, bool isOpen = true)
    {
        GC.Collect();
        using var memory = new PeakMemory();
        StallWatch? stalls = isOpen ? new StallWatch(_environment!) : null;
        long allocated = GC.GetAllocatedBytesForCurrentThread();
        long start = Stopwatch.GetTimestamp();
        try
        {
            act();
        }
        finally
        {
            stalls?.Dispose();
        }

        var result = new ScaleResult(
            operation, Stopwatch.GetElapsedTime(start).TotalSeconds, GC.GetAllocatedBytesForCurrentThread() - allocated, memory.Growth,
            stalls?.Longest);
        _results.Add(result);
        done?.Invoke(result);
    }

    private void Fill()
    {
        byte[] value = new byte[valueBytes];
        for (long number = 0; number * valueBytes < bytes; number += FillBatch)
        {
            using WriteTransaction writing = _environment!.BeginWrite();
            WriteTree tree = writing.CreateTree("values");
            for (long i = number; i < number + FillBatch; i++)
                tree.Put(Key(i), value);
            writing.Commit();
        }
    }

    private void DeleteHalf()
    {
        for (long number = 0; number * valueBytes < bytes; number += FillBatch)
        {
            using WriteTransaction writing = _environment!.BeginWrite();
            WriteTree tree = writing.OpenTree("values");
            for (long i = number; i < number + FillBatch; i += 2)
                tree.Delete(Key(i));
            writing.Commit();
        }
    }

    private void MakeTrees()
    {
        for (int first = 0; first < trees; first += TreeBatch)
        {
            using WriteTransaction writing = _environment!.BeginWrite();
            for (int i = first; i < Math.Min(trees, first + TreeBatch); i++)
                writing.CreateTree($"tree {i:D8}").Put([1], [2]);
            writing.Commit();
        }
    }

    private void WriteUnflushed()
    {
        _environment!.Flush();
        for (int batch = 0; batch < 10; batch++)
        {
            using WriteTransaction writing = _environment.BeginWrite();
            WriteTree tree = writing.CreateTree("small");
            for (int i = 0; i < UnflushedKeys / 10; i++)
                tree.Put(Key((i * 7919L % UnflushedKeys) + batch), Key(i));
            writing.Commit();
        }
    }

    private void Verify()
    {
        VerificationReport report = _environment!.Verify();
        if (!report.IsSound)
            throw new BrokenPromiseException($"The verification found: {report}");
    }

    private void Scrub()
    {
        var pass = new ScrubPass(_environment!.Context, new ScrubPace(0, new ScrubClock(), CancellationToken.None));
        bool isDone;
        do
        {
            var snapshot = new ReadSnapshot(_environment.Context, forEngine: true);
            snapshot.Begin();
            isDone = pass.RunSlice(snapshot);
            snapshot.End();
            snapshot.Retire();
        }
        while (!isDone);

        if (!pass.Report.IsSound)
            throw new BrokenPromiseException($"The scrub found: {pass.Report}");
    }

    private static byte[] Key(long number)
    {
        byte[] key = new byte[sizeof(long)];
        System.Buffers.Binary.BinaryPrimitives.WriteInt64BigEndian(key, number);
        return key;
    }
}
