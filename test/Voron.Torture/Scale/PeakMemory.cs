namespace Voron.Torture.Scale;

/// <summary>By how much the resident memory of the process grows at most while this lives.</summary>
internal sealed class PeakMemory : IDisposable
{
    private readonly long _before = Environment.WorkingSet;
    private readonly Timer _timer;
    private long _peak;

    public PeakMemory() => _timer = new Timer(_ => Look(), null, 0, 20);

    public long Growth
    {
        get
        {
            Look();
            return Math.Max(0, Volatile.Read(ref _peak) - _before);
        }
    }

    public void Dispose() => _timer.Dispose();

    private void Look() => Volatile.Write(ref _peak, Math.Max(Volatile.Read(ref _peak), Environment.WorkingSet));
}
