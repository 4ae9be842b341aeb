using Voron.IO;
using Voron.Torture.Simulation;

namespace Voron.Tests.Faults;

/// <summary>
/// A fixed sequence of commits and flushes, run against a disk that fails somewhere, and the states that a reopening may find
/// then: all that was acknowledged, with or without the one commit whose outcome was unknown.
/// </summary>
internal sealed class FaultWorkload
{
    private const int Commits = 14;

    private readonly SimulatedDisk _disk;
    private readonly StorageOptions _options;
    private SortedDictionary<int, byte[]> _acknowledged = [];
    private SortedDictionary<int, byte[]>? _possible;

    public FaultWorkload(SimulatedDisk disk, StorageOptions? options = null)
    {
        _disk = disk;
        _options = options ?? FaultBench.Options();
    }

    /// <summary>What the workload threw, in order.</summary>
    public List<Exception> Failures { get; } = [];

    public bool WasPoisoned { get; private set; }

    public int Acknowledged { get; private set; }

    /// <summary>How often a reader was told that a value cannot be read.</summary>
    public int FailedReads { get; private set; }

    /// <summary>Runs everything; failures of the environment are noted, and judged at once.</summary>
    public void Run()
    {
        StorageEnvironment environment;
        try
        {
            environment = StorageEnvironment.Open(_disk, _options);
        }
        catch (VoronException e)
        {
            Failures.Add(e);
            return;
        }

        ReadTransaction? reader = null;
        var seen = new SortedDictionary<int, byte[]>();
        for (var i = 0; i < Commits && !WasPoisoned; i++)
        {
            Commit(environment, i);
            if (i == 4)
            {
                reader = environment.BeginRead();
                seen = new(_acknowledged);
            }

            if (i % 3 == 2)
                Flush(environment);
            if (i == 9 && reader != null)
            {
                Check(reader.Value, seen);
                reader.Value.Dispose();
                reader = null;
            }
        }

        if (WasPoisoned)
            CheckPoisoned(environment);
        if (reader != null)
            Check(reader.Value, seen);
        var before = Changes();
        reader?.Dispose();
        environment.Dispose();
        if (WasPoisoned)
            Changes().Should().Be(before, "a poisoned environment writes nothing when it is disposed");
        _disk.OpenFiles.Should().Be(0);
        _disk.LiveMaps.Should().Be(0);
        _disk.HeldLocks.Should().Be(0);
    }

    /// <summary>Opens a disk that the workload has left, and checks that it holds what it must and nothing that it must not.</summary>
    public void CheckReopened(SimulatedDisk disk)
    {
        using var environment = StorageEnvironment.Open(disk, _options);
        environment.Verify().Problems.Should().BeEmpty();
        using (var reading = environment.BeginRead())
        {
            var state = Read(reading);
            if (!Same(state, _acknowledged) && (_possible == null || !Same(state, _possible)))
                Assert.Fail($"{state.Count} entries; acknowledged are {_acknowledged.Count}, or {_possible?.Count} with the unknown commit.");
        }

        FaultBench.Put(environment, 900_000, [1]);
        FaultBench.Get(environment, 900_000).Should().Equal(1);
        environment.Flush();
        environment.Verify().Problems.Should().BeEmpty();
    }

    private void Commit(StorageEnvironment environment, int number)
    {
        var next = new SortedDictionary<int, byte[]>(_acknowledged);
        try
        {
            using var writing = environment.BeginWrite();
            Change(writing.CreateTree(FaultBench.TreeName), number, next);
            writing.Commit();
            _acknowledged = next;
            Acknowledged++;
        }
        catch (EnvironmentPoisonedException e)
        {
            Failures.Add(e);
            WasPoisoned = true;
            e.InnerException.Should().BeOfType<DiskException>("the first cause is inside");
            e.Message.Should().Contain(e.InnerException!.Message);
            if (e.Outcome == CommitOutcome.Unknown)
                _possible = next;
        }
        catch (VoronException e) when (e is StorageFullException or StorageAccessException)
        {
            Failures.Add(e);
            using var reading = environment.BeginRead();
            Check(reading, _acknowledged);
        }
    }

    private void Flush(StorageEnvironment environment)
    {
        try
        {
            environment.Flush();
        }
        catch (EnvironmentPoisonedException e)
        {
            Failures.Add(e);
            WasPoisoned = true;
        }
        catch (VoronException e) when (e is StorageFullException or StorageAccessException)
        {
            Failures.Add(e);
        }
    }

    private static void Change(WriteTree tree, int number, SortedDictionary<int, byte[]> model)
    {
        var random = new Random(number);
        for (var i = 0; i < 6; i++)
        {
            var key = random.Next(60);
            var value = FaultBench.Value(number * 100 + i, random.Next(5) == 0 ? random.Next(6000) : random.Next(200));
            tree.Put(FaultBench.Key(key), value);
            model[key] = value;
        }

        if (number % 5 == 3)
        {
            var value = FaultBench.Value(number, 70_000 + 10_000 * number);
            tree.Put(FaultBench.Key(100 + number % 2), value);
            model[100 + number % 2] = value;
        }

        var gone = random.Next(60);
        tree.Delete(FaultBench.Key(gone)).Should().Be(model.Remove(gone));
    }

    private void CheckPoisoned(StorageEnvironment environment)
    {
        var cause = Failures.OfType<EnvironmentPoisonedException>().First().InnerException;
        var refusals = new[]
        {
            Record.Exception(() => environment.BeginWrite().Dispose()),
            Record.Exception(() => environment.Flush()),
            Record.Exception(() => environment.WriteAsync(_ => { }).AsTask().GetAwaiter().GetResult()),
            Record.Exception(() => environment.BeginWriteAsync().AsTask().GetAwaiter().GetResult().Dispose()),
        };
        foreach (var refusal in refusals)
        {
            var poisoned = refusal.Should().BeOfType<EnvironmentPoisonedException>().Subject;
            poisoned.InnerException.Should().BeSameAs(cause);
            poisoned.Outcome.Should().Be(CommitOutcome.NotCommitted);
        }

        using var reading = environment.BeginRead();
        Check(reading, _acknowledged);
    }

    // Opening, reading, and closing are not among them.
    private int Changes() =>
        new[]
        {
            TraceKind.Create, TraceKind.Rename, TraceKind.Delete, TraceKind.DirectorySync, TraceKind.SetLength, TraceKind.Allocate, TraceKind.Punch,
            TraceKind.Write, TraceKind.WriteFailed, TraceKind.Sync, TraceKind.SyncFailed,
        }.Sum(_disk.Count);

    private static SortedDictionary<int, byte[]> Read(ReadTransaction reading)
    {
        var state = new SortedDictionary<int, byte[]>();
        if (!reading.TryOpenTree(FaultBench.TreeName, out var tree))
            return state;
        foreach (var entry in tree.GetEntries())
        {
            // A value that has its own place is no span: it is read as a stream.
            tree.TryOpenStream(entry.Key, out var stream).Should().BeTrue();
            var bytes = new byte[stream!.Length];
            stream.ReadExactly(bytes);
            state.Add(int.Parse(entry.Key, System.Globalization.CultureInfo.InvariantCulture), bytes);
        }

        tree.Count.Should().Be(state.Count);
        return state;
    }

    private void Check(ReadTransaction reading, SortedDictionary<int, byte[]> expected) =>
        Same(ReadDespiteFault(reading), expected).Should().BeTrue("a reader sees what was acknowledged when it began");

    // Large values are read from the disk at their first use. That may be the call that is to fail: then it says so, with what
    // the disk said, and the same reader sees everything as soon as the disk can be read again.
    private SortedDictionary<int, byte[]> ReadDespiteFault(ReadTransaction reading)
    {
        var before = _disk.LastFault;
        try
        {
            return Read(reading);
        }
        catch (StorageAccessException e) when (_disk.LastFault is { Operation: nameof(DiskCallKind.Read) } fault && fault != before)
        {
            e.InnerException.Should().BeSameAs(fault);
            FailedReads++;
        }

        _disk.SuspendFaults(true);
        var state = Read(reading);
        _disk.SuspendFaults(false);
        return state;
    }

    private static bool Same(SortedDictionary<int, byte[]> left, SortedDictionary<int, byte[]> right) =>
        left.Count == right.Count && left.All(pair => right.TryGetValue(pair.Key, out var value) && pair.Value.AsSpan().SequenceEqual(value));
}
