using System.Diagnostics;
using Voron.Torture.Harness;

namespace Voron.Torture.Scale;

/// <summary>A writer that commits one small change after the other, and knows how long the slowest took.</summary>
internal sealed class StallWatch : IDisposable
{
    private readonly StorageEnvironment _environment;
    private readonly Thread _thread;
    private volatile bool _stops;
    private long _longestTicks;
    private Exception? _failure;

    public StallWatch(StorageEnvironment environment)
    {
        _environment = environment;
        _thread = new Thread(Run) { IsBackground = true, Name = "stall watch" };
        _thread.Start();
    }

    public int Commits { get; private set; }

    /// <summary>The longest time from asking for the writer to the durable commit.</summary>
    public TimeSpan Longest => Stopwatch.GetElapsedTime(0, Math.Max(1, Volatile.Read(ref _longestTicks)));

    /// <exception cref="BrokenPromiseException">A commit failed.</exception>
    public void Dispose()
    {
        _stops = true;
        _thread.Join();
        if (_failure is { } failure)
            throw new BrokenPromiseException($"A commit failed beside the operation: {failure.Message}");
    }

    private void Run()
    {
        Span<byte> key = stackalloc byte[sizeof(int)];
        try
        {
            while (!_stops)
            {
                long start = Stopwatch.GetTimestamp();
                using (WriteTransaction writing = _environment.BeginWrite())
                {
                    BitConverter.TryWriteBytes(key, Commits % 1000);
                    writing.CreateTree("stall watch").Put(key, key);
                    writing.Commit();
                }
                _longestTicks = Math.Max(_longestTicks, Stopwatch.GetTimestamp() - start);
                Commits++;
            }
        }
        catch (VoronException e)
        {
            _failure = e;
        }
    }
}
