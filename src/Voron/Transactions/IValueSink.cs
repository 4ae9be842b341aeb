using System.Buffers;

namespace Voron.Transactions;

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
