using System.IO.Pipelines;
using Voron.Staging;
using Voron.Transactions;

namespace Voron;

public sealed partial class StorageEnvironment
{
    /// <summary>
    /// Uploads the content of a stream to free pages of the data file, as fast or as slowly as the stream delivers it, while other callers commit
    /// transactions. <see cref="WriteTree.Put(ReadOnlySpan{byte}, StagedValue)"/> then makes it the value of a key, in a transaction that need not
    /// wait for the stream.
    /// </summary>
    /// <remarks>
    /// The bytes are durable when the task completes, so the commit of the transaction that puts them does not write them again. A value of fewer
    /// than <see cref="StorageOptions.LargeValueBytes"/> bytes is kept in memory, and put like any other. The length of the stream need not be known.
    /// Nothing is stored until the value is put: an upload that fails, or a staged value that is disposed, leaves only free space. So does a crash.
    /// <para>
    /// The upload needs the writer for a moment at its beginning, and each time it has doubled. Stage a value before the transaction that puts
    /// it begins: an upload that is awaited while the same caller has a write transaction open would wait for that transaction to end. Where the
    /// data file has no free space, the engine commits a transaction of its own, which enlarges the file.
    /// </para>
    /// </remarks>
    /// <example>
    /// <code>
    /// using var photo = await environment.StageAsync(request.Body, cancellationToken);
    /// environment.Write(transaction => transaction.CreateTree("photos").Put(key, photo));
    /// </code>
    /// </example>
    /// <param name="source">The stream, which is read to its end and left open.</param>
    /// <param name="cancellationToken">Cancels the upload.</param>
    /// <returns>The staged value. Dispose it when it is no longer needed, whether or not it was put.</returns>
    /// <exception cref="ArgumentException">The stream cannot be read, or holds more than 2,147,483,647 bytes.</exception>
    /// <exception cref="InvalidOperationException">The environment is read-only, or the call was made inside a group-commit operation.</exception>
    /// <exception cref="StorageFullException">There is no room.</exception>
    /// <exception cref="StorageAccessException">The bytes could not be written.</exception>
    /// <exception cref="EnvironmentPoisonedException">A write failed, now or earlier.</exception>
    /// <exception cref="ObjectDisposedException">The environment is closed, or was closed during the upload.</exception>
    /// <exception cref="OperationCanceledException">The upload was cancelled.</exception>
    public ValueTask<StagedValue> StageAsync(Stream source, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(source);
        ThrowIfNotWritable(nameof(StageAsync));
        var pipe = ValuePipe.Read(source, StagedUpload.LargestReadBytes, nameof(source), out var knownBytes);
        return UploadAsync(pipe, knownBytes, ValuePipe.MaxValueBytes, cancellationToken);
    }

    /// <summary>
    /// Uploads the content of a pipe, which is read until it completes, to free pages of the data file, while other callers commit transactions.
    /// </summary>
    /// <param name="source">The pipe, which is completed in any case.</param>
    /// <param name="cancellationToken">Cancels the upload.</param>
    /// <exception cref="ArgumentException">The pipe delivers more than 2,147,483,647 bytes.</exception>
    /// <inheritdoc cref="StageAsync(Stream, CancellationToken)"/>
    public ValueTask<StagedValue> StageAsync(PipeReader source, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(source);
        ThrowIfNotWritable(nameof(StageAsync));
        return UploadAsync(source, knownBytes: 0, ValuePipe.MaxValueBytes, cancellationToken);
    }

    /// <summary>Uploads a value of a maximum length that tests choose.</summary>
    internal async ValueTask<StagedValue> UploadAsync(PipeReader source, long knownBytes, long maxBytes, CancellationToken cancellationToken) =>
        new(await StagedUpload.RunAsync(_writing!.Staging, source, knownBytes, maxBytes, cancellationToken).ConfigureAwait(false));
}
