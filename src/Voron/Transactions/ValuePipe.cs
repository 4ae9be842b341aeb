using System.Buffers;
using System.IO.Pipelines;

namespace Voron.Transactions;

/// <summary>Reads a value from a pipe to its end.</summary>
/// <param name="pipe">The pipe.</param>
/// <param name="maxBytes">The maximum length of the value; smaller in tests.</param>
/// <param name="parameter">The name of the caller's parameter that supplies the value, for messages.</param>
internal sealed class ValuePipe(PipeReader pipe, long maxBytes, string parameter)
{
    /// <summary>The maximum length of a value in bytes.</summary>
    public const long MaxValueBytes = int.MaxValue;

    private const int SmallestReadBytes = 4 << 10;

    /// <summary>Returns the pipe that reads a stream, and leaves it open.</summary>
    /// <param name="stream">The stream.</param>
    /// <param name="largestReadBytes">The maximum number of bytes to read at a time.</param>
    /// <param name="parameter">The name of the caller's parameter.</param>
    /// <param name="knownBytes">Receives the number of bytes that the stream claims to hold; 0 if it does not say.</param>
    /// <exception cref="ArgumentException">The stream cannot be read, or holds too much.</exception>
    public static PipeReader Read(Stream stream, int largestReadBytes, string parameter, out long knownBytes)
    {
        ArgumentNullException.ThrowIfNull(stream, parameter);
        if (!stream.CanRead)
            throw new ArgumentException("The stream cannot be read: it is closed, or was opened for writing only.", parameter);
        knownBytes = stream.CanSeek ? Math.Max(0, stream.Length - stream.Position) : 0;
        CheckLength(knownBytes, MaxValueBytes, parameter);
        var bufferBytes = stream.CanSeek ? Math.Clamp(knownBytes + 1, SmallestReadBytes, largestReadBytes) : largestReadBytes;
        return PipeReader.Create(stream, new StreamPipeReaderOptions(leaveOpen: true, bufferSize: (int)bufferBytes));
    }

    /// <summary>Ends the read that waits for a pipe, on another thread, because the continuation may be any code.</summary>
    public static void CancelRead(PipeReader pipe) =>
        ThreadPool.UnsafeQueueUserWorkItem(static pipe => Cancel(pipe), pipe, preferLocal: false);

    /// <summary>Reads the pipe to its end, without completing it.</summary>
    /// <returns>The length of the value in bytes.</returns>
    /// <exception cref="ArgumentException">The length is greater than the maximum.</exception>
    public async ValueTask<long> ReadAllAsync(IValueSink sink, CancellationToken cancellationToken)
    {
        long total = 0;
        while (true)
        {
            var result = await ReadAsync(sink, cancellationToken).ConfigureAwait(false);
            sink.ThrowIfEnded();
            if (result.IsCanceled)
                throw new OperationCanceledException("A read from the pipe that supplies the value was cancelled.");
            total += result.Buffer.Length;
            CheckLength(total, maxBytes, parameter);
            await sink.TakeAsync(result.Buffer, total, result.IsCompleted, cancellationToken).ConfigureAwait(false);
            pipe.AdvanceTo(result.Buffer.End);
            if (result.IsCompleted)
                return total;
        }
    }

    // If the value is no longer wanted, the exception for that is thrown, whether or not the source fails as well.
    private async ValueTask<ReadResult> ReadAsync(IValueSink sink, CancellationToken cancellationToken)
    {
        try
        {
            return await pipe.ReadAsync(cancellationToken).ConfigureAwait(false);
        }
        catch (Exception)
        {
            sink.ThrowIfEnded();
            throw;
        }
    }

    private static void CheckLength(long bytes, long maxBytes, string parameter)
    {
        if (bytes > maxBytes)
            throw new ArgumentException($"A value can have at most {maxBytes} bytes, but this stream has {bytes} or more.", parameter);
    }

    private static void Cancel(PipeReader pipe)
    {
        try
        {
            pipe.CancelPendingRead();
        }
        catch (Exception)
        {
            // The reader has completed its pipe in the meantime.
        }
    }
}

/// <summary>Takes the bytes of a value as a <see cref="ValuePipe"/> reads them.</summary>
internal interface IValueSink
{
    /// <summary>Throws if the value is no longer wanted, whether or not its source has failed as well. Called after each read.</summary>
    void ThrowIfEnded();

    /// <summary>Takes bytes, which are valid until the task completes.</summary>
    /// <param name="bytes">The bytes.</param>
    /// <param name="total">The number of bytes that have arrived, including these.</param>
    /// <param name="isLast">Whether these are the last bytes of the value.</param>
    /// <param name="cancellationToken">Cancels a wait for the space that the bytes need.</param>
    ValueTask TakeAsync(ReadOnlySequence<byte> bytes, long total, bool isLast, CancellationToken cancellationToken);
}
