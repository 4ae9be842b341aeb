using System.Diagnostics;
using Voron.Simulation.Harness;

namespace Voron.Torture.Scale;

/// <summary>A writer that commits one small change after the other, and measures the slowest commit.</summary>
/// <remarks>
/// Beside it a thread sleeps a millisecond at a time, and measures by how much it overslept: the engine cannot help if the machine has no
/// processor for a thread, or a garbage collection stops all threads.
/// </remarks>
internal sealed class StallWatch : IDisposable
{
    private readonly StorageEnvironment _environment;
    private readonly Thread _writer;
    private readonly Thread _sleeper;
    private volatile bool _stops;
    private long _longestTicks;
    private long _sleptTicks;
    private Exception? _failure;

    public StallWatch(StorageEnvironment environment)
    {
        _environment = environment;
        _writer = new Thread(Write) { IsBackground = true, Name = "stall watch" };
        _sleeper = new Thread(Sleep) { IsBackground = true, Name = "sleeper" };
        _writer.Start();
        _sleeper.Start();
    }

    public int Commits { get; private set; }

    /// <summary>The longest time from the request for the writer to the durable commit.</summary>
    public TimeSpan Longest => Stopwatch.GetElapsedTime(0, Math.Max(1, Volatile.Read(ref _longestTicks)));

    /// <summary>The longest time for which a thread got no processor.</summary>
    public TimeSpan Noise => Stopwatch.GetElapsedTime(0, Math.Max(1, Volatile.Read(ref _sleptTicks)));

    /// <exception cref="BrokenPromiseException">A commit failed.</exception>
    public void Dispose()
    {
        _stops = true;
        _writer.Join();
        _sleeper.Join();
        if (_failure is { } failure)
            throw new BrokenPromiseException($"A commit failed beside the operation: {failure.Message}");
    }

    private void Write()
    {
        Span<byte> key = stackalloc byte[sizeof(int)];
        try
        {
            while (!_stops)
            {
                var start = Stopwatch.GetTimestamp();
                using (var writing = _environment.BeginWrite())
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

    private void Sleep()
    {
        while (!_stops)
        {
            var start = Stopwatch.GetTimestamp();
            Thread.Sleep(1);
            _sleptTicks = Math.Max(_sleptTicks, Stopwatch.GetTimestamp() - start);
        }
    }
}
