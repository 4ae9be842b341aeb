using Microsoft.Extensions.Logging;
using Voron.Backup;
using Voron.IO;
using Voron.Primitives;

namespace Voron;

/// <summary>Reads, verifies and restores backups. The original environment need not exist.</summary>
/// <remarks>
/// A backup is a file with a checksum chain, or the same bytes in a stream. A backup that lacks its end, because the backup or a copy of it was
/// interrupted, is never restored. All members read forward, and use a few MiB of memory and some bits per page. They are thread-safe.
/// </remarks>
public static class BackupFile
{
    private static readonly TimeSpan LogPatience = TimeSpan.FromSeconds(5);

    /// <summary>
    /// Returns the description of a backup from its beginning and its end. Does not read the pages, so it finds no damage between them.
    /// </summary>
    /// <param name="file">The path of the backup.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="BackupException">The file is no backup, has no end, or is damaged at its beginning or its end.</exception>
    /// <exception cref="UnsupportedFormatException">The backup is of a newer format.</exception>
    /// <exception cref="StorageAccessException">The file cannot be read.</exception>
    /// <exception cref="OperationCanceledException">The call was cancelled.</exception>
    public static ValueTask<BackupInfo> ReadAsync(string file, CancellationToken cancellationToken = default) =>
        ReadAsync(BackupSource.OfFile(file), cancellationToken);

    /// <summary>
    /// Reads a backup in a stream, from the current position to the end, and returns its description. Checks the checksum chain, but not the pages.
    /// </summary>
    /// <param name="source">The stream, which stays open. Its exceptions pass through.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="ArgumentException">The stream cannot be read.</exception>
    /// <exception cref="BackupException">The stream is no backup, has no end, or is damaged.</exception>
    /// <exception cref="UnsupportedFormatException">The backup is of a newer format.</exception>
    /// <exception cref="OperationCanceledException">The call was cancelled.</exception>
    public static ValueTask<BackupInfo> ReadAsync(Stream source, CancellationToken cancellationToken = default) =>
        ReadAsync(BackupSource.OfStream(source), cancellationToken);

    /// <summary>Reads and checks a whole backup. Throws at the first fault.</summary>
    /// <remarks>
    /// Checks the checksum chain, the checksum and the structure of each page with a header, each overflow extent with consecutive pages, and, in a
    /// full backup, that all used pages are present. Does not check the key order across pages, nor the content of large values
    /// (<see cref="StorageOptions.LargeValueBytes"/>) beyond the backup's own checksums. In an incremental backup, a page without its own checksum
    /// may belong to a value that only an earlier backup references, and is not checked either. A restore with
    /// <see cref="RestoreOptions.VerifyRestored"/> checks all of these.
    /// </remarks>
    /// <param name="file">The path of the backup.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="BackupException">The file is no backup, has no end, or is damaged.</exception>
    /// <exception cref="UnsupportedFormatException">The backup is of a newer format.</exception>
    /// <exception cref="StorageAccessException">The file cannot be read.</exception>
    /// <exception cref="StorageMemoryException">The system does not have enough memory.</exception>
    /// <exception cref="OperationCanceledException">The call was cancelled.</exception>
    public static ValueTask<BackupInfo> VerifyAsync(string file, CancellationToken cancellationToken = default) =>
        VerifyAsync(BackupSource.OfFile(file), cancellationToken);

    /// <param name="source">The stream, which is read from its position to its end and stays open. Its exceptions pass through.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="ArgumentException">The stream cannot be read.</exception>
    /// <exception cref="BackupException">The stream is no backup, has no end, or is damaged.</exception>
    /// <inheritdoc cref="VerifyAsync(string, CancellationToken)"/>
    public static ValueTask<BackupInfo> VerifyAsync(Stream source, CancellationToken cancellationToken = default) =>
        VerifyAsync(BackupSource.OfStream(source), cancellationToken);

    /// <summary>Restores a full backup to a directory.</summary>
    /// <remarks>
    /// The restored environment starts in the state of <see cref="BackupInfo.TransactionId"/>, keeps the original's id, and continues with its own
    /// history. The restore is all or nothing: a failed or cancelled call deletes the restored files. After a killed process, openings and further
    /// restores refuse the directory until it is emptied.
    /// </remarks>
    /// <param name="file">The path of the backup.</param>
    /// <param name="directory">The directory, which is created if it is missing, and otherwise must be empty.</param>
    /// <param name="options">The options; null for the defaults.</param>
    /// <param name="cancellationToken">Cancels the restore, also while it verifies.</param>
    /// <exception cref="BackupException">
    /// The backup is not finished, is damaged, or is not a full one; or the directory is not empty: see <see cref="BackupException.Fault"/>.
    /// </exception>
    /// <exception cref="UnsupportedFormatException">The backup is of a newer format.</exception>
    /// <exception cref="StorageFullException">There is not enough space for the environment.</exception>
    /// <exception cref="StorageAccessException">The backup cannot be read, or the directory cannot be written.</exception>
    /// <exception cref="StorageMemoryException">The system does not have enough memory.</exception>
    /// <exception cref="OperationCanceledException">The call was cancelled.</exception>
    public static ValueTask<RestoreReport> RestoreAsync(
        string file, string directory, RestoreOptions? options = null, CancellationToken cancellationToken = default) =>
        RestoreAsync([file], directory, options, cancellationToken);

    /// <summary>Restores the environment of a full backup and the incremental ones that build on it to a directory.</summary>
    /// <param name="files">The paths of the backups: the full one first, then the incremental ones, oldest first, none left out.</param>
    /// <param name="directory">The directory, which is created if it is missing, and otherwise must be empty.</param>
    /// <param name="options">The options; null for the defaults.</param>
    /// <param name="cancellationToken">Cancels the restore, also while it verifies.</param>
    /// <exception cref="BackupException">
    /// A backup is not finished, is damaged, or does not build on the one before it, which is found before anything is restored; or the directory is
    /// not empty: see <see cref="BackupException.Fault"/>.
    /// </exception>
    /// <exception cref="ArgumentException">There is no file.</exception>
    /// <inheritdoc cref="RestoreAsync(string, string, RestoreOptions?, CancellationToken)"/>
    public static ValueTask<RestoreReport> RestoreAsync(
        IReadOnlyList<string> files, string directory, RestoreOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(files);
        ArgumentException.ThrowIfNullOrEmpty(directory);
        if (files.Count == 0)
            throw new ArgumentException("A restore needs at least one backup, but the list is empty.", nameof(files));
        var sources = files.Select(BackupSource.OfFile).ToArray();
        return RestoreAsync(directory, options, target => BackupRestorer.RestoreAsync(sources, target, cancellationToken), cancellationToken);
    }

    /// <summary>Restores the environment of a full backup in a stream to a directory.</summary>
    /// <param name="source">The stream, which is read from its position to its end, once, and stays open. Its exceptions pass through.</param>
    /// <param name="directory">The directory, which is created if it is missing, and otherwise must be empty.</param>
    /// <param name="options">The options; null for the defaults.</param>
    /// <param name="cancellationToken">Cancels the restore, also while it verifies.</param>
    /// <exception cref="ArgumentException">The stream cannot be read.</exception>
    /// <inheritdoc cref="RestoreAsync(string, string, RestoreOptions?, CancellationToken)"/>
    public static ValueTask<RestoreReport> RestoreAsync(
        Stream source, string directory, RestoreOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentException.ThrowIfNullOrEmpty(directory);
        var stream = BackupSource.OfStream(source);
        return RestoreAsync(directory, options, target => BackupRestorer.RestoreAsync(stream, target, cancellationToken), cancellationToken);
    }

    /// <summary>Merges a full backup and the incremental backups based on it into one full backup, and verifies it.</summary>
    /// <remarks>
    /// The merged backup keeps the id, the note, the state and the file permissions of the last backup, so later backups build on it. The source
    /// files are kept. The merged file gets its name after it has been verified.
    /// </remarks>
    /// <param name="files">The paths of the backups: the full one first, then the incremental ones, oldest first, none left out.</param>
    /// <param name="target">The path of the merged backup, which must not exist yet.</param>
    /// <param name="compress">True to compress the pages.</param>
    /// <param name="cancellationToken">Cancels the merging.</param>
    /// <returns>The merged backup.</returns>
    /// <exception cref="ArgumentException">There is no file, or the path of the target is empty.</exception>
    /// <exception cref="BackupException">
    /// A backup is not finished, is damaged, or does not build on the one before it; or the target file already exists.
    /// </exception>
    /// <exception cref="UnsupportedFormatException">A backup is of a newer format.</exception>
    /// <exception cref="StorageFullException">There is not enough space for the merged backup.</exception>
    /// <exception cref="StorageAccessException">A file cannot be read or written.</exception>
    /// <exception cref="StorageMemoryException">The system does not have enough memory.</exception>
    /// <exception cref="OperationCanceledException">The call was cancelled.</exception>
    public static ValueTask<BackupInfo> MergeAsync(
        IReadOnlyList<string> files, string target, bool compress = true, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(files);
        ArgumentException.ThrowIfNullOrEmpty(target);
        if (files.Count == 0)
            throw new ArgumentException("A merge needs at least one backup, but the list is empty.", nameof(files));
        var sources = files.Select(BackupSource.OfFile).ToArray();
        return RunAsync(
            async () =>
            {
                BackupInfo? merged = null;
                var mode = OperatingSystem.IsWindows() ? FilePermissions.OwnerOnly : FilePermissions.OfFile(files[^1]);
                FileOutput Open()
                {
                    var output = FileOutput.Open(target, mode);
                    output.Verify = async (file, stop) => merged = await VerifyAsync(file, stop).ConfigureAwait(false);
                    return output;
                }

                await BackupMerging.RunAsync(sources, Open, compress, cancellationToken).ConfigureAwait(false);
                return merged!;
            },
            cancellationToken);
    }

    internal static ValueTask<BackupInfo> ReadAsync(BackupSource source, CancellationToken cancellationToken) => RunAsync(
        async () =>
        {
            if (source.IsFile)
                return (await BackupSummary.ReadAsync(source, BackupInput.MakeSmallBuffer(), cancellationToken).ConfigureAwait(false)).ToInfo();
            var reader = await BackupReader.OpenAsync(source, cancellationToken).ConfigureAwait(false);
            await using (reader.ConfigureAwait(false))
            {
                await reader.ReadAllAsync(sink: null, progress: null, cancellationToken).ConfigureAwait(false);
                return BackupSummary.Of(reader).ToInfo();
            }
        },
        cancellationToken);

    internal static ValueTask<BackupInfo> VerifyAsync(BackupSource source, CancellationToken cancellationToken) => RunAsync(
        async () =>
        {
            var reader = await BackupReader.OpenAsync(source, cancellationToken).ConfigureAwait(false);
            await using (reader.ConfigureAwait(false))
            {
                using var pages = new BackupPageChecker(reader.Header);
                await reader.ReadAllAsync(pages, progress: null, cancellationToken).ConfigureAwait(false);
                pages.Check(reader.Content, reader.Header.IsFull, reader.Name);
                return BackupSummary.Of(reader).ToInfo();
            }
        },
        cancellationToken);

    /// <summary>Restores files to a disk, which stays open.</summary>
    internal static ValueTask<RestoreReport> RestoreAsync(
        IReadOnlyList<BackupSource> files, IDisk disk, RestoreOptions options, CancellationToken cancellationToken) =>
        RunAsync(() => BackupRestorer.RestoreAsync(files, TargetOf(disk, options), cancellationToken), cancellationToken);

    /// <summary>Restores a stream to a disk, which stays open.</summary>
    internal static ValueTask<RestoreReport> RestoreAsync(
        BackupSource stream, IDisk disk, RestoreOptions options, CancellationToken cancellationToken) =>
        RunAsync(() => BackupRestorer.RestoreAsync(stream, TargetOf(disk, options), cancellationToken), cancellationToken);

    private static ValueTask<RestoreReport> RestoreAsync(
        string directory, RestoreOptions? options, Func<RestoreTarget, Task<RestoreReport>> restore, CancellationToken cancellationToken)
    {
        // The caller may change its object during the call.
        new StorageOptions { FileMode = options?.FileMode ?? FilePermissions.OwnerOnly }.Validate(nameof(options));
        var copy = new RestoreOptions
        {
            VerifyRestored = options?.VerifyRestored ?? true,
            FileMode = options?.FileMode ?? FilePermissions.OwnerOnly,
            LoggerFactory = options?.LoggerFactory,
            Progress = options?.Progress,
        };
        return RunAsync(() => RestoreToDirectoryAsync(directory, copy, restore), cancellationToken);
    }

    private static async Task<RestoreReport> RestoreToDirectoryAsync(
        string directory, RestoreOptions options, Func<RestoreTarget, Task<RestoreReport>> restore)
    {
        var logger = GuardedLogger.Of(options.LoggerFactory);
        try
        {
            using var disk = EmptyDirectory.Open(directory, options.FileMode, logger);
            return await restore(TargetOf(disk, options)).ConfigureAwait(false);
        }
        finally
        {
            GuardedLogger.Finish(logger, LogPatience);
        }
    }

    private static RestoreTarget TargetOf(IDisk disk, RestoreOptions options) =>
        new(disk, options, (restored, cancellationToken) => VerifyRestored(restored, options.LoggerFactory, cancellationToken));

    // Closing the environment ends its verification.
    private static VerificationReport VerifyRestored(IDisk disk, ILoggerFactory? loggerFactory, CancellationToken cancellationToken)
    {
        var environment = StorageEnvironment.Open(disk, new StorageOptions { ReadOnly = true, LoggerFactory = loggerFactory });
        try
        {
            using var cancelling = cancellationToken.Register(
                static opened => Task.Run(((StorageEnvironment)opened!).Dispose, CancellationToken.None), environment);
            var report = environment.Verify();
            cancellationToken.ThrowIfCancellationRequested();
            return report;
        }
        catch (ObjectDisposedException) when (cancellationToken.IsCancellationRequested)
        {
            throw new OperationCanceledException("The restore was cancelled while it verified the environment.", cancellationToken);
        }
        finally
        {
            // Also waits for a close begun by the cancellation: nothing may use the files when they are deleted.
            environment.DisposeAsync().AsTask().GetAwaiter().GetResult();
        }
    }

    private static async ValueTask<T> RunAsync<T>(Func<Task<T>> work, CancellationToken cancellationToken)
    {
        try
        {
            return await Task.Run(work, cancellationToken).ConfigureAwait(false);
        }
        catch (OutOfMemoryException e)
        {
            throw new StorageMemoryException($"There is no memory to read the backup: {e.Message} Close other programs, or allow the process more memory.", e);
        }
    }
}
