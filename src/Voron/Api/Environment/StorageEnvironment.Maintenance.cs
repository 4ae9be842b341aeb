using System.IO.Pipelines;
using Microsoft.Extensions.Logging.Abstractions;
using Voron.Backup;
using Voron.IO;
using Voron.Staging;
using Voron.Transactions;
using Voron.Trees;
using Voron.Trees.Pages;

namespace Voron;

/// <content>Backups, compaction, and long work on single trees and values.</content>
public sealed partial class StorageEnvironment
{
    /// <summary>
    /// Backs up the environment to a file, while other callers read and write. The backup contains the state of one transaction that was committed
    /// during the call. <see cref="BackupFile"/> verifies and restores it.
    /// </summary>
    /// <remarks>
    /// The backup reads pages from one snapshot after another, each held for a fraction of a second, and copies again the pages that have changed
    /// since they were copied. No flush therefore waits for long. Each page is checked while it is copied; a damaged page ends the backup. Large
    /// values, stored in separate pages, are checked only with <see cref="BackupOptions.VerifyValues"/>.
    /// <para>
    /// Until the backup is complete, a random number and ".partial" follow the file name. A failed or cancelled call deletes the partial file. A
    /// partial file left by a killed process is deleted by the next backup with that name.
    /// </para>
    /// </remarks>
    /// <param name="file">The path of the file, which must not exist yet, in a directory that exists.</param>
    /// <param name="options">The options; null for the defaults.</param>
    /// <param name="cancellationToken">Cancels the backup.</param>
    /// <returns>A description of the backup.</returns>
    /// <exception cref="ArgumentException">The path is empty, or an option is not valid.</exception>
    /// <exception cref="BackupException">
    /// The file exists (<see cref="BackupFault.TargetNotEmpty"/>), or the environment does not know the backup to build on
    /// (<see cref="BackupFault.UnknownBase"/>).
    /// </exception>
    /// <exception cref="CorruptionException">The environment is damaged. The message names the page.</exception>
    /// <exception cref="StorageFullException">There is not enough space for the file.</exception>
    /// <exception cref="StorageAccessException">The environment cannot be read, or the file cannot be written.</exception>
    /// <exception cref="StorageMemoryException">There is not enough memory.</exception>
    /// <exception cref="EnvironmentPoisonedException">A write has failed, and the environment has lost lazy commits.</exception>
    /// <exception cref="InvalidOperationException">
    /// The call was made inside a group-commit operation, or too many backups and verifications are running.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The environment is closed, or was closed during the call.</exception>
    /// <exception cref="OperationCanceledException">The backup was cancelled.</exception>
    public ValueTask<BackupReport> BackupAsync(string file, BackupOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentException.ThrowIfNullOrEmpty(file);
        FileOutput.CheckPath(file, nameof(file));
        return _backups.BackUpAsync(() => FileOutput.Open(file, Options.FileMode), options, cancellationToken);
    }

    /// <summary>Backs up the environment to a stream, from its current position on. The stream stays open.</summary>
    /// <param name="target">The stream. It may be slow: only this call waits for it.</param>
    /// <param name="options">The options; null for the defaults.</param>
    /// <param name="cancellationToken">Cancels the backup, if the stream observes its token during a write.</param>
    /// <remarks>
    /// If the call fails or is cancelled, the stream contains the beginning of a backup, which nothing accepts as a backup. Exceptions from the
    /// stream pass through.
    /// <para>
    /// If a stream hangs and ignores its token, this call cannot return before the stream's write returns, because the stream is in use until then.
    /// Dispose of the stream to end that. Nothing else is blocked: once the call is cancelled or the environment is closed, no snapshot is held,
    /// closing does not wait for the stream, and the environment can be opened again.
    /// </para>
    /// </remarks>
    /// <exception cref="ArgumentException">The stream cannot be written, or an option is not valid.</exception>
    /// <inheritdoc cref="BackupAsync(string, BackupOptions?, CancellationToken)"/>
    public ValueTask<BackupReport> BackupAsync(Stream target, BackupOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(target);
        if (!target.CanWrite)
            throw new ArgumentException("The stream cannot be written.", nameof(target));
        return _backups.BackUpAsync(() => new StreamOutput(target), options, cancellationToken);
    }

    /// <summary>Backs up the environment to a pipe, which is not completed.</summary>
    /// <param name="target">The pipe. Its reader may be slow: only this call waits for it.</param>
    /// <param name="options">The options; null for the defaults.</param>
    /// <param name="cancellationToken">Cancels the backup.</param>
    /// <exception cref="ArgumentException">An option is not valid.</exception>
    /// <exception cref="IOException">The reader of the pipe was completed before the backup was finished.</exception>
    /// <inheritdoc cref="BackupAsync(Stream, BackupOptions?, CancellationToken)"/>
    public ValueTask<BackupReport> BackupAsync(PipeWriter target, BackupOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(target);
        return _backups.BackUpAsync(() => new PipeOutput(target), options, cancellationToken);
    }

    /// <summary>
    /// Copies the environment to a directory, while other callers read and write. The copy contains the state of one transaction that was committed
    /// during the call, and can be opened immediately.
    /// </summary>
    /// <remarks>
    /// The copy keeps the original's id, and continues with its own history (a lineage). Until the copy is complete and durable, the directory
    /// contains a file "voron.backup.partial" and cannot be opened. A failed or cancelled call deletes the partial copy. After a killed process,
    /// empty the directory.
    /// </remarks>
    /// <param name="directory">The directory, which is created if it is missing, and otherwise must be empty.</param>
    /// <param name="options">The options; null for the defaults.</param>
    /// <param name="cancellationToken">Cancels the copying.</param>
    /// <returns>A description of the copy, without a backup id.</returns>
    /// <exception cref="ArgumentException">The path is empty, or an option is not valid.</exception>
    /// <exception cref="BackupException">The directory is not empty (<see cref="BackupFault.TargetNotEmpty"/>).</exception>
    /// <exception cref="StorageFullException">There is not enough space for the copy.</exception>
    /// <exception cref="StorageAccessException">The environment cannot be read, or the directory cannot be written.</exception>
    /// <inheritdoc cref="BackupAsync(string, BackupOptions?, CancellationToken)"/>
    public ValueTask<BackupReport> CopyToAsync(string directory, CopyOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentException.ThrowIfNullOrEmpty(directory);
        return _backups.CopyAsync(() => EmptyDirectory.Open(directory, Options.FileMode, NullLogger.Instance), options, cancellationToken);
    }

    /// <summary>Copies the environment to a disk, which is disposed.</summary>
    internal ValueTask<BackupReport> CopyToAsync(IDisk disk, CopyOptions? options, CancellationToken cancellationToken) =>
        _backups.CopyAsync(() => disk, options, cancellationToken);

    /// <summary>Backs up the environment to a file on a disk, which is disposed.</summary>
    internal ValueTask<BackupReport> BackupAsync(IDisk disk, string name, BackupOptions? options, CancellationToken cancellationToken) =>
        _backups.BackUpAsync(() => FileOutput.Create(disk, name), options, cancellationToken);

    /// <summary>
    /// Shortens the data file to about the size of its content, while other callers read and write: moves pages from the end of the file to earlier
    /// free space, and truncates the file.
    /// </summary>
    /// <remarks>
    /// <para>
    /// Pages move in short transactions of at most 128 KiB, each of which holds the writer for some milliseconds. Long values are copied before their
    /// transaction. The compaction does not make the file grow. In addition to the file, the environment needs at most
    /// <see cref="StorageOptions.JournalLimitBytes"/> for the journal, as always, and, for ranges whose blocks had been returned to the file system,
    /// 256 MiB or the length of the longest value, whichever is larger.
    /// </para>
    /// <para>
    /// Readers continue undisturbed, and the space that they still use is truncated after they have ended: see
    /// <see cref="CompactionOptions.ReaderPatience"/>. While a caller keeps a write transaction open, the compaction waits for it; cancel the call to
    /// end that wait. However the call ends, moved pages stay moved, and nothing has to be resumed or repaired.
    /// </para>
    /// </remarks>
    /// <param name="options">The options; null for the defaults.</param>
    /// <param name="cancellationToken">Ends the compaction between two of its transactions.</param>
    /// <returns>A description of what was done.</returns>
    /// <exception cref="ArgumentException">An option is not valid.</exception>
    /// <exception cref="CorruptionException">The environment is damaged. The message names the page.</exception>
    /// <exception cref="StorageFullException">
    /// There is not enough space for the journal, or for blocks that had been returned to the file system.
    /// </exception>
    /// <exception cref="StorageAccessException">The data file cannot be read or grown.</exception>
    /// <exception cref="StorageMemoryException">There is not enough memory.</exception>
    /// <exception cref="EnvironmentPoisonedException">A write failed, now or earlier.</exception>
    /// <exception cref="InvalidOperationException">
    /// The environment is read-only, another compaction or too many backups and verifications are running, or the call was made inside a
    /// group-commit operation.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The environment is closed, or was closed during the call.</exception>
    /// <exception cref="OperationCanceledException">The compaction was cancelled.</exception>
    public ValueTask<CompactionReport> CompactAsync(CompactionOptions? options = null, CancellationToken cancellationToken = default)
    {
        _ = RequireWritable(nameof(CompactAsync));
        return _compactions.CompactAsync(options, cancellationToken);
    }

    /// <summary>
    /// Copies the content of the environment, in key order, to a new environment in another directory, while other callers read and write. The copy
    /// contains the state of one transaction, and gets a new id.
    /// </summary>
    /// <remarks>
    /// Unlike <see cref="CompactAsync"/>, this call makes the data file as short as possible and stores the pages in order. It holds one snapshot
    /// until it ends: meanwhile, nothing newer is flushed, and the journal grows up to <see cref="StorageOptions.JournalLimitBytes"/>, as with any
    /// reader that stays open. Until the copy is complete, its directory contains a file "voron.backup.partial" and cannot be opened. A failed or
    /// cancelled call deletes the partial copy. After a killed process, empty the directory.
    /// </remarks>
    /// <param name="directory">The directory, which is created if it is missing, and otherwise must be empty.</param>
    /// <param name="options">The options; null for the defaults.</param>
    /// <param name="cancellationToken">Cancels the copying.</param>
    /// <returns>A description of the copy.</returns>
    /// <exception cref="ArgumentException">The path is empty, or an option is not valid.</exception>
    /// <exception cref="BackupException">The directory is not empty (<see cref="BackupFault.TargetNotEmpty"/>).</exception>
    /// <exception cref="CorruptionException">The environment is damaged. The message names the page.</exception>
    /// <exception cref="StorageFullException">There is not enough space for the copy.</exception>
    /// <exception cref="StorageAccessException">The directory cannot be written.</exception>
    /// <exception cref="StorageMemoryException">There is not enough memory.</exception>
    /// <exception cref="EnvironmentPoisonedException">A write has failed, and the environment has lost lazy commits.</exception>
    /// <exception cref="InvalidOperationException">The call was made inside a group-commit operation.</exception>
    /// <exception cref="ObjectDisposedException">The environment is closed, or was closed during the call.</exception>
    /// <exception cref="OperationCanceledException">The copying was cancelled.</exception>
    public ValueTask<CompactionReport> CompactToAsync(
        string directory, CompactionOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentException.ThrowIfNullOrEmpty(directory);
        return _compactions.CompactToAsync(
            directory, options, static (path, ofCopy) => new CopyTarget(Open(path, ofCopy)), cancellationToken);
    }

    /// <summary>
    /// Deletes a tree without holding the writer for long, however large it is: its name is free immediately, and its pages are freed
    /// in the background.
    /// </summary>
    /// <remarks>
    /// <para>
    /// One short transaction removes the tree's name; like any other, it waits for the writer and is committed. Then the pages are freed in
    /// transactions of up to a thousand pages each, or fewer if another caller waits for the writer. <see cref="WriteTransaction.DeleteTree"/>, by
    /// contrast, frees all pages in the caller's transaction.
    /// </para>
    /// <para>
    /// The call returns when all pages of the tree are free. Once the tree has lost its name, cancellation ends the wait, but not the freeing. If the
    /// environment is closed or its process ends, the next opening continues the freeing in the background; if
    /// <see cref="StorageOptions.BackgroundFlush"/> is off, the next tree drop continues it. A reader older than the most recently freed pages delays
    /// the remaining pages until it ends.
    /// </para>
    /// <para>In an environment with file format version 1, the first transaction frees all pages.</para>
    /// </remarks>
    /// <param name="name">The name of the tree.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <returns>False if there is no such tree.</returns>
    /// <exception cref="ArgumentException">The name is empty, too long, or not valid text.</exception>
    /// <exception cref="CorruptionException">
    /// A page of the tree is damaged. The tree has lost its name, and keeps the pages that are not yet free.
    /// </exception>
    /// <exception cref="StorageFullException">
    /// There is not enough space for the first transaction. Or the tree has lost its name, but there is not enough space to free more pages now.
    /// </exception>
    /// <exception cref="StorageMemoryException">There is not enough memory.</exception>
    /// <exception cref="EnvironmentPoisonedException">A write failed, now or earlier.</exception>
    /// <exception cref="InvalidOperationException">
    /// The environment is read-only, or the call was made inside a group-commit operation.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The environment is closed, or was closed during the call.</exception>
    /// <exception cref="OperationCanceledException">The wait was cancelled.</exception>
    public ValueTask<bool> DropTreeAsync(string name, CancellationToken cancellationToken = default)
    {
        _ = RequireWritable(nameof(DropTreeAsync));
        return _drops!.DropAsync(name, Encode(name), cancellationToken);
    }

    /// <inheritdoc cref="DropCalls.FreeDroppedTrees"/>
    internal void FreeDroppedTrees() => _drops?.FreeDroppedTrees();

    /// <summary>
    /// Trains a dictionary from the current values of a tree, and uses it for new values if it saves a twentieth more than the previous dictionary.
    /// </summary>
    /// <remarks>
    /// Unless <see cref="StorageOptions.BackgroundFlush"/> is off, the environment also trains dictionaries in the background: when the tree reaches
    /// 1 MiB, and again when values compress a fifth less than when the dictionary was new. Training reads a thousand values from a snapshot, and
    /// holds the writer only to install the dictionary. A tree can have at most 250 dictionaries over its lifetime.
    /// </remarks>
    /// <param name="name">The name of the tree.</param>
    /// <param name="cancellationToken">Cancels the training.</param>
    /// <returns>False if the tree gets no new dictionary: it would save too little, or the tree's values are not compressed.</returns>
    /// <exception cref="KeyNotFoundException">There is no tree of that name.</exception>
    /// <inheritdoc cref="RecompressAsync"/>
    public ValueTask<bool> TrainDictionaryAsync(string name, CancellationToken cancellationToken = default)
    {
        _ = RequireWritable(nameof(TrainDictionaryAsync));
        return _dictionaries!.TrainAsync(name, Encode(name), cancellationToken);
    }

    /// <summary>
    /// Applies the current compression settings to the existing values of a tree, in short transactions while other callers write: rewrites values
    /// stored before the compression or with older dictionaries, or, if the compression was turned off, all compressed values. First trains a
    /// dictionary, if that is worthwhile.
    /// </summary>
    /// <remarks>
    /// At the end, dictionaries that no value uses any more are dropped. Each transaction holds the writer for about 2 ms at most. Change feeds
    /// record nothing, since no value changes. However the call ends, rewritten values stay rewritten, and the next call skips them.
    /// </remarks>
    /// <param name="name">The name of the tree.</param>
    /// <param name="cancellationToken">Ends the call between two of its transactions.</param>
    /// <returns>A description of what was done.</returns>
    /// <exception cref="ArgumentException">The name is empty, too long, or not valid text.</exception>
    /// <exception cref="KeyNotFoundException">There is no tree of that name.</exception>
    /// <exception cref="CorruptionException">A page or a value of the tree is damaged. The message names it.</exception>
    /// <exception cref="StorageFullException">There is no space left.</exception>
    /// <exception cref="StorageMemoryException">There is not enough memory.</exception>
    /// <exception cref="EnvironmentPoisonedException">A write failed, now or earlier.</exception>
    /// <exception cref="InvalidOperationException">
    /// The environment is read-only, the tree is of another kind, or the call was made inside a group-commit operation.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The environment is closed, or was closed during the call.</exception>
    /// <exception cref="OperationCanceledException">The call was cancelled.</exception>
    public ValueTask<RecompressionReport> RecompressAsync(string name, CancellationToken cancellationToken = default)
    {
        _ = RequireWritable(nameof(RecompressAsync));
        return _dictionaries!.RecompressAsync(name, Encode(name), cancellationToken);
    }

    /// <inheritdoc cref="RecompressAsync"/>
    internal ValueTask<RecompressionReport> RecompressNamedAsync(string shownName, byte[] name, CancellationToken cancellationToken) =>
        _dictionaries!.RecompressAsync(shownName, name, cancellationToken);

    /// <summary>
    /// Uploads the content of a stream to free pages of the data file, at the pace of the stream, while other callers commit
    /// transactions. <see cref="WriteTree.Put(ReadOnlySpan{byte}, StagedValue)"/> then makes it the value of a key, in a transaction that
    /// need not wait for the stream.
    /// </summary>
    /// <remarks>
    /// The bytes are durable when the task completes, so the commit of the transaction that puts them does not write them again. A value of fewer
    /// than <see cref="StorageOptions.LargeValueBytes"/> bytes is kept in memory, and put like any other. The length of the stream need not be known.
    /// Nothing is stored until the value is put: an upload that fails, or a staged value that is disposed, leaves only free space. So does a crash.
    /// <para>
    /// The upload needs the writer for a moment at its beginning, and each time its length has doubled. Stage a value before the transaction that
    /// puts it begins: an upload awaited while the same caller has a write transaction open would wait for that transaction to end. If the data file
    /// has no free space, the engine commits a transaction of its own that enlarges the file.
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
    /// <exception cref="StorageFullException">There is no space left.</exception>
    /// <exception cref="StorageAccessException">The bytes could not be written.</exception>
    /// <exception cref="EnvironmentPoisonedException">A write failed, now or earlier.</exception>
    /// <exception cref="ObjectDisposedException">The environment is closed, or was closed during the upload.</exception>
    /// <exception cref="OperationCanceledException">The upload was cancelled.</exception>
    public ValueTask<StagedValue> StageAsync(Stream source, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(source);
        _ = RequireWritable(nameof(StageAsync));
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
        _ = RequireWritable(nameof(StageAsync));
        return UploadAsync(source, knownBytes: 0, ValuePipe.MaxValueBytes, cancellationToken);
    }

    /// <summary>Uploads a value with a maximum length chosen by tests.</summary>
    internal async ValueTask<StagedValue> UploadAsync(PipeReader source, long knownBytes, long maxBytes, CancellationToken cancellationToken) =>
        new(await StagedUpload.RunAsync(_writing!.Staging, source, knownBytes, maxBytes, cancellationToken).ConfigureAwait(false));

    private static byte[] Encode(string name) => Catalog.Encode(name, new byte[TreeLimits.MaxNameBytes]).ToArray();

    /// <summary>The environment into which a compacted copy is written.</summary>
    private sealed class CopyTarget(StorageEnvironment environment) : ICopyTarget
    {
        public long DataFileBytes => environment.GetStatistics().DataFileBytes;

        public WriteTransaction BeginWrite() => environment.BeginWrite();

        public ValueTask<CompactionReport> CompactAsync(CancellationToken stop) => environment.CompactAsync(null, stop);

        public void Dispose() => environment.Dispose();
    }
}
