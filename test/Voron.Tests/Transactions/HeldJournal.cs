using Voron.Simulation.Disks;

namespace Voron.Tests.Transactions;

/// <summary>A simulated disk whose next write to the journal is held until it is released.</summary>
internal sealed class HeldJournal : IDisposable
{
    private readonly ManualResetEventSlim _isWriting = new();
    private readonly ManualResetEventSlim _mayGoOn = new(true);
    private int _armed;

    public HeldJournal()
    {
        Disk.InProgress = entry =>
        {
            if (entry.Kind != TraceKind.Write || !entry.WriteThrough || Interlocked.Exchange(ref _armed, 0) == 0)
                return;
            _isWriting.Set();
            _mayGoOn.Wait(TestWait.Limit).Should().BeTrue("the test has to release the write");
        };
    }

    public SimulatedDisk Disk { get; } = new();

    /// <summary>True from <see cref="Hold"/> to <see cref="Release"/>.</summary>
    public bool IsHeld => !_mayGoOn.IsSet;

    public void Hold()
    {
        _isWriting.Reset();
        _mayGoOn.Reset();
        Volatile.Write(ref _armed, 1);
    }

    /// <summary>Returns when a write is held.</summary>
    public void WaitUntilHeld() => _isWriting.Wait(TestWait.Limit).Should().BeTrue("a write has to reach the disk");

    public void Release()
    {
        Volatile.Write(ref _armed, 0);
        _mayGoOn.Set();
    }

    public void Dispose()
    {
        Release();
        Disk.InProgress = null;
    }

    /// <summary>Returns options with one journal file for everything, and no work in the background.</summary>
    public static StorageOptions Options() => new()
    {
        BackgroundFlush = false,
        InitialJournalFileBytes = 1 << 20,
        MaxGroupCommitDuration = TimeSpan.FromMinutes(1),
    };
}
