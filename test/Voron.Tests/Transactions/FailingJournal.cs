using Voron.IO;
using Voron.Primitives;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Transactions;

/// <summary>A simulated disk whose next write to the journal is held, and fails or continues as the test decides.</summary>
internal sealed class FailingJournal : IDisposable
{
    private readonly ManualResetEventSlim _isWriting = new();
    private readonly ManualResetEventSlim _mayGoOn = new();
    private int _armed;
    private volatile bool _fails;

    public FailingJournal()
    {
        Disk.InProgress = entry =>
        {
            if (entry.Kind != TraceKind.Write || !entry.WriteThrough || Interlocked.Exchange(ref _armed, 0) == 0)
                return;
            _isWriting.Set();

            // An interruption of the thread does not break off the write of any device.
            Uninterrupted.Run(() => _mayGoOn.Wait(TestWait.Limit).Should().BeTrue("the test has to release the write"));
            if (_fails)
                throw new DiskException(DiskError.Failed, "write", "simulated", "a planted fault");
        };
    }

    public SimulatedDisk Disk { get; } = new();

    /// <summary>Commits an item, and returns while its write is held.</summary>
    public Task CommitHeld(StorageEnvironment environment, int key)
    {
        using var writing = environment.BeginWrite();
        return CommitHeld(writing, key);
    }

    /// <inheritdoc cref="CommitHeld(StorageEnvironment, int)"/>
    public Task CommitHeld(WriteTransaction writing, int key)
    {
        Volatile.Write(ref _armed, 1);
        writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(key), FaultTestKit.Value(key, 100));
        var task = writing.CommitAsync().AsTask();
        _isWriting.Wait(TestWait.Limit).Should().BeTrue("the record has to reach the disk");
        return task;
    }

    public void Fail()
    {
        _fails = true;
        _mayGoOn.Set();
    }

    public void GoOn() => _mayGoOn.Set();

    public void Dispose()
    {
        _mayGoOn.Set();
        Disk.InProgress = null;
    }
}
