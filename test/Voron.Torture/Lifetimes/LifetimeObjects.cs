using System.IO.Pipelines;
using Voron.Torture.Harness;

namespace Voron.Torture.Lifetimes;

/// <summary>A put whose stream returns the bytes that the run sends, when it sends them.</summary>
internal sealed class LifetimePut
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    // Inline: the put has processed the sent bytes by the time the send returns.
    private readonly Pipe _pipe = new(new PipeOptions(
        readerScheduler: PipeScheduler.Inline, writerScheduler: PipeScheduler.Inline, pauseWriterThreshold: 0, useSynchronizationContext: false));

    private readonly byte[] _bytes;
    private readonly Task<long> _task;
    private int _sent;

    public LifetimePut(WriteTree tree, int key, LifetimeValue value)
    {
        Key = key;
        Value = value;
        _bytes = value.Bytes();
        _task = tree.PutAsync(LifetimeKeys.Of(key), _pipe.Reader).AsTask();
    }

    public int Key { get; }

    public LifetimeValue Value { get; }

    public int Left => _bytes.Length - _sent;

    public void Send(int bytes)
    {
        _pipe.Writer.WriteAsync(_bytes.AsMemory(_sent, bytes)).AsTask().GetAwaiter().GetResult();
        _sent += bytes;
    }

    public void Complete()
    {
        Send(Left);
        _pipe.Writer.Complete();
        BrokenPromiseException.Require(_task.Wait(Patience), $"The put of key {Key} does not end although its stream has ended.");
        BrokenPromiseException.Require(_task.Result == _bytes.Length, $"The put of key {Key} counts {_task.Result} bytes of {_bytes.Length}.");
    }

    public void Fail()
    {
        _pipe.Writer.Complete(new IOException("planned"));
        RequireFailure<IOException>();
    }

    /// <summary>Checks that something else has ended the put; later events of its stream then have no effect.</summary>
    public void RequireEnd(bool failsLater)
    {
        RequireFailure<InvalidOperationException>();
        _pipe.Writer.Complete(failsLater ? new IOException("planned") : null);
    }

    private void RequireFailure<T>()
        where T : Exception
    {
        try
        {
            BrokenPromiseException.Require(_task.Wait(Patience), $"The put of key {Key} is still pending although it was ended.");
        }
        catch (AggregateException e) when (e.InnerException is T)
        {
            return;
        }
        throw new BrokenPromiseException($"The put of key {Key} was ended and does not report it.");
    }
}

/// <summary>A stream of a value, with the bytes that it has to return for as long as it returns any.</summary>
/// <param name="stream">The stream.</param>
/// <param name="key">The key of the value.</param>
/// <param name="value">The value.</param>
internal sealed class LifetimeStream(Stream stream, int key, LifetimeValue value)
{
    private readonly byte[] _bytes = value.Bytes();

    public int Key => key;

    /// <summary>Whether the stream may refuse to continue: its bytes may be gone.</summary>
    public bool MayEnd { get; set; }

    public bool IsLarge => value.IsLarge;

    public void Read(Random random, bool mustEnd = false)
    {
        int at = random.Next(_bytes.Length + 1);
        byte[] buffer = new byte[random.Next(1, 5_000)];
        int read;
        try
        {
            stream.Position = at;
            read = stream.Read(buffer);
        }
        catch (InvalidOperationException) when (MayEnd || mustEnd)
        {
            return;
        }
        BrokenPromiseException.Require(!mustEnd || at == _bytes.Length, $"The stream of key {key} gives bytes after its transaction has ended.");
        BrokenPromiseException.Require(
            mustEnd || buffer.AsSpan(0, read).SequenceEqual(_bytes.AsSpan(at, Math.Min(_bytes.Length - at, buffer.Length))),
            $"The stream of key {key} gives other bytes at {at} than its value has, {_bytes.Length} in all.");
    }
}

/// <summary>A reader that keeps addresses of values, as spans do, until it ends.</summary>
internal sealed unsafe class LifetimeReader(StorageEnvironment environment, string treeName) : IDisposable
{
    private readonly ReadTransaction _reading = environment.BeginRead();
    private readonly List<(nint Address, byte[] Bytes)> _spans = [];

    public void Hold(int key)
    {
        if (!_reading.TryOpenTree(treeName, out Tree tree) || !tree.TryGet(LifetimeKeys.Of(key), out ReadOnlySpan<byte> value))
            return;
        fixed (byte* address = value)
            _spans.Add(((nint)address, value.ToArray()));
    }

    public void Check()
    {
        foreach ((nint address, byte[] bytes) in _spans)
        {
            BrokenPromiseException.Require(
                new ReadOnlySpan<byte>((void*)address, bytes.Length).SequenceEqual(bytes), "A span of an open reader has changed.");
        }
    }

    public void Dispose() => _reading.Dispose();
}

/// <summary>The few keys that all objects of a run share.</summary>
internal static class LifetimeKeys
{
    public const int Count = 12;

    public static byte[] Of(int key) => [(byte)'k', (byte)('a' + key)];
}
