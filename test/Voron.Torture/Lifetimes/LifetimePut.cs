using System.IO.Pipelines;
using Voron.Simulation.Harness;

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
