using Voron.Simulation.Disks;

namespace Voron.Torture.Crashes;

/// <summary>Holds the first write of another thread while armed.</summary>
internal sealed class HeldWrite : IDisposable
{
    private readonly ManualResetEventSlim _entered = new();
    private readonly ManualResetEventSlim _released = new(true);
    private int _armed;
    private int _owner;

    /// <summary>True from the time it is armed until it is released.</summary>
    public bool IsHolding => !_released.IsSet;

    public void Arm()
    {
        _owner = Environment.CurrentManagedThreadId;
        _entered.Reset();
        _released.Reset();
        Volatile.Write(ref _armed, 1);
    }

    /// <param name="isGivenUp">Returns true if the write will not come.</param>
    public void WaitUntilEntered(Func<bool>? isGivenUp = null)
    {
        for (var left = 3_000; !_entered.Wait(TimeSpan.FromMilliseconds(10)) && isGivenUp?.Invoke() != true; left--)
        {
            if (left == 0)
                throw new CrashViolationException("A commit was not written although nothing prevented it.");
        }
    }

    public void Release()
    {
        Volatile.Write(ref _armed, 0);
        _released.Set();
    }

    public void Dispose()
    {
        _entered.Dispose();
        _released.Dispose();
    }

    /// <summary>Called within each write-through write and each sync.</summary>
    public void Pass(TraceEntry entry)
    {
        if (entry.Kind != TraceKind.Write || Environment.CurrentManagedThreadId == _owner || Interlocked.Exchange(ref _armed, 0) == 0)
            return;
        _entered.Set();
        _released.Wait();
    }
}
