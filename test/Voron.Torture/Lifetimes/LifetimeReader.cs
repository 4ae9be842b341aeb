using Voron.Simulation.Harness;

namespace Voron.Torture.Lifetimes;

/// <summary>A reader that keeps addresses of values, as spans do, until it ends.</summary>
internal sealed unsafe class LifetimeReader(StorageEnvironment environment, string treeName) : IDisposable
{
    private ReadTransaction _reading = environment.BeginRead();
    private readonly List<(nint Address, byte[] Bytes)> _spans = [];

    public void Hold(int key)
    {
        if (!_reading.TryOpenTree(treeName, out var tree) || !tree.TryGet(LifetimeKeys.Of(key), out var value))
            return;
        fixed (byte* address = value)
            _spans.Add(((nint)address, value.ToArray()));
    }

    /// <summary>Continues in a fork. The pages stay where they are, because a reader of the same snapshot is open all the time.</summary>
    public void Fork()
    {
        var fork = _reading.Fork();
        _reading.Dispose();
        _reading = fork;
    }

    public void Check()
    {
        foreach ((var address, var bytes) in _spans)
        {
            BrokenPromiseException.Require(
                new ReadOnlySpan<byte>((void*)address, bytes.Length).SequenceEqual(bytes), "A span of an open reader has changed.");
        }
    }

    public void Dispose() => _reading.Dispose();
}
