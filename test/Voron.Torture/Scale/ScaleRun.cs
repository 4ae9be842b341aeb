using System.Diagnostics;
using Voron.Maintenance;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;
using Voron.Transactions;

namespace Voron.Torture.Scale;

/// <summary>Creates a large store and performs the operations that take longer the larger it is, while a writer commits.</summary>
internal sealed class ScaleRun(long bytes, int trees, int valueBytes = 4 << 20, TimeSpan punchTime = default) : IDisposable
{
    private const int FillBatch = 16;
    private const int TreeBatch = 10_000;
    private const int UnflushedKeys = 20_000;

    // The number of values left when the rest is deleted.
    private const int KeptValues = 8;

    private readonly SparseDisk _disk = new(Math.Max(bytes + (bytes / 4), bytes + (8L << 30))) { PunchTime = punchTime };
    private readonly List<ScaleResult> _results = [];
    private StorageEnvironment? _environment;
    private long _memoryBefore;

    /// <summary>The number of pages of the store when it is full.</summary>
    public long Pages { get; private set; }

    public int Trees => trees;

    public IReadOnlyList<ScaleResult> Results => _results;

    /// <exception cref="BrokenPromiseException">A verification found a problem.</exception>
    public IReadOnlyList<ScaleResult> Run(Action<ScaleResult>? done = null)
    {
        GC.Collect();
        _memoryBefore = PeakMemory.Now(_disk);
        _environment = Open();
        try
        {
            Measure("fill", Fill, done, isWatched: false);
            Measure($"make {trees:N0} trees", MakeTrees, done, isWatched: false);
            Pages = _environment.GetStatistics().PageCount;
            Measure("flush", () => _environment.Flush(), done);
            Measure("verify", Verify, done);
            Measure("scrub, as fast as it goes", Scrub, done);
            Measure("close", () => _environment.Dispose(), done, isWatched: false);
            Reopen("after a close", done);
            Measure("delete every second value", () => Delete(number => number % 2 != 0), done, isWatched: false);
            Measure("reclaim", () => _environment.ReclaimSpace(), done);
            Measure("write transactions to be replayed", WriteUnflushed, done);
            _disk.IsCut = true;
            _environment.Dispose();
            _disk.IsCut = false;
            Reopen("after a cut, with replay", done);
            if (_environment.Recovery.ReplayedRecords == 0)
                throw new BrokenPromiseException("Nothing was replayed.");
            Measure("verify once more", Verify, done);
            Measure("delete all but a few values", () => Delete(number => number >= KeptValues), done, isWatched: false);
            Measure("reclaim the rest", () => _environment.ReclaimSpace(), done);
            Verify();
        }
        finally
        {
            _environment.Dispose();
        }

        return _results;
    }

    public void Dispose() => _disk.Release();

    // Space is reclaimed only when the run asks for it.
    private StorageEnvironment Open() => StorageEnvironment.Open(
        _disk, new StorageOptions { ScrubInterval = Timeout.InfiniteTimeSpan, ReclaimInterval = TimeSpan.FromDays(1) });

    private void Reopen(string when, Action<ScaleResult>? done)
    {
        Measure($"open {when}", () => _environment = Open(), done, isWatched: false);
        Measure($"first commit {when}", () => PutSmall("first"), done, isWatched: false);
        Measure($"first large value {when}", PutLarge, done, isWatched: false);
    }

    private void Measure(string operation, Action act, Action<ScaleResult>? done, bool isWatched = true)
    {
        GC.Collect();
        using var memory = new PeakMemory(_disk);
        var stalls = isWatched ? new StallWatch(_environment!) : null;
        var read = _disk.ReadBytes;
        var allocated = GC.GetAllocatedBytesForCurrentThread();
        var start = Stopwatch.GetTimestamp();
        try
        {
            act();
        }
        finally
        {
            stalls?.Dispose();
        }

        var seconds = Stopwatch.GetElapsedTime(start).TotalSeconds;
        allocated = GC.GetAllocatedBytesForCurrentThread() - allocated;
        var result = new ScaleResult(operation, seconds, allocated, memory.Most - _memoryBefore, _disk.ReadBytes - read)
        {
            LongestStall = stalls?.Longest,
            Noise = stalls?.Noise ?? default,
        };
        _results.Add(result);
        done?.Invoke(result);
    }

    private void Fill()
    {
        var value = new byte[valueBytes];
        for (long number = 0; number * valueBytes < bytes; number += FillBatch)
        {
            using var writing = _environment!.BeginWrite();
            var tree = writing.CreateTree("values");
            for (var i = number; i < number + FillBatch; i++)
                tree.Put(Key(i), value);
            writing.Commit();
        }
    }

    private void Delete(Func<long, bool> which)
    {
        for (long number = 0; number * valueBytes < bytes; number += FillBatch)
        {
            using var writing = _environment!.BeginWrite();
            var tree = writing.OpenTree("values");
            for (var i = number; i < number + FillBatch; i++)
            {
                if (which(i))
                    tree.Delete(Key(i));
            }
            writing.Commit();
        }
    }

    private void MakeTrees()
    {
        for (var first = 0; first < trees; first += TreeBatch)
        {
            using var writing = _environment!.BeginWrite();
            for (var i = first; i < Math.Min(trees, first + TreeBatch); i++)
                writing.CreateTree($"tree {i:D8}").Put([1], [2]);
            writing.Commit();
        }
    }

    private void PutSmall(string treeName)
    {
        using var writing = _environment!.BeginWrite();
        writing.CreateTree(treeName).Put([1], [2]);
        writing.Commit();
    }

    private void PutLarge()
    {
        using var writing = _environment!.BeginWrite();
        writing.OpenTree("values").Put(Key(0), new byte[valueBytes]);
        writing.Commit();
    }

    private void WriteUnflushed()
    {
        _environment!.Flush();
        for (var batch = 0; batch < 10; batch++)
        {
            using var writing = _environment.BeginWrite();
            var tree = writing.CreateTree("small");
            for (var i = 0; i < UnflushedKeys / 10; i++)
                tree.Put(Key((i * 7919L % UnflushedKeys) + batch), Key(i));
            writing.Commit();
        }
    }

    private void Verify()
    {
        var report = _environment!.Verify();
        if (!report.IsSound)
            throw new BrokenPromiseException($"The verification found: {report}");
    }

    private void Scrub()
    {
        var pass = new ScrubPass(_environment!.Internals.Engine, new ScrubPace(0, new ScrubClock(), CancellationToken.None));
        bool isDone;
        do
        {
            using var reading = new EngineSnapshot(_environment.Internals.Engine);
            isDone = pass.RunSlice(reading.Snapshot);
        }
        while (!isDone);

        if (!pass.Report.IsSound)
            throw new BrokenPromiseException($"The scrub found: {pass.Report}");
    }

    private static byte[] Key(long number)
    {
        var key = new byte[sizeof(long)];
        System.Buffers.Binary.BinaryPrimitives.WriteInt64BigEndian(key, number);
        return key;
    }
}
