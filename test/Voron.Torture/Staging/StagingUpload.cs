using System.IO.Pipelines;
using Voron.Simulation.Harness;
using Voron.Torture.Crashes;

namespace Voron.Torture.Staging;

/// <summary>An upload whose source delivers the bytes that the run sends, when it sends them.</summary>
internal sealed class StagingUpload
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    // Inline: the upload has written the sent bytes by the time the send returns, unless it has to wait for the writer.
    private readonly Pipe _pipe = new(new PipeOptions(
        readerScheduler: PipeScheduler.Inline, writerScheduler: PipeScheduler.Inline, pauseWriterThreshold: 0, useSynchronizationContext: false));

    private readonly byte[] _bytes;
    private readonly Task<StagedValue> _task;
    private int _sent;

    public StagingUpload(StorageEnvironment environment, ModelValue value)
    {
        Value = value;
        _bytes = value.ToBytes();
        _task = environment.StageAsync(_pipe.Reader).AsTask();
    }

    public ModelValue Value { get; }

    /// <summary>The number of bytes sent so far.</summary>
    public int Sent => _sent;

    public int Left => _bytes.Length - _sent;

    public void Send(int bytes)
    {
        BrokenPromiseException.Require(!_task.IsCompleted, $"An upload has ended after {_sent} of {_bytes.Length} bytes.");
        _pipe.Writer.WriteAsync(_bytes.AsMemory(_sent, bytes)).AsTask().GetAwaiter().GetResult();
        _sent += bytes;
    }

    public StagedValue Complete()
    {
        Send(Left);
        _pipe.Writer.Complete();
        BrokenPromiseException.Require(_task.Wait(Patience), "An upload does not end although its source has ended.");
        BrokenPromiseException.Require(
            _task.Result.Length == _bytes.Length && _task.Result.State == StagedValueState.Ready, $"{_task.Result} should have {_bytes.Length} bytes.");
        return _task.Result;
    }

    public void Fail()
    {
        _pipe.Writer.Complete(new IOException("planned"));
        RequireEnd<IOException>();
    }

    /// <summary>Checks that the upload has failed in one way.</summary>
    public void RequireEnd<T>()
        where T : Exception
    {
        try
        {
            BrokenPromiseException.Require(_task.Wait(Patience), "An upload is still under way although it was ended.");
        }
        catch (AggregateException e) when (e.InnerException is T)
        {
            return;
        }

        throw new BrokenPromiseException("An upload was ended and does not report it.");
    }
}
