using Voron.IO;
using Voron.Journal;
using Voron.Paging;

namespace Voron;

// The opening of environments. The public members copy the options first, so changes that the caller makes meanwhile have no effect.
public sealed partial class StorageEnvironment
{
    /// <summary>
    /// Opens the environment in a directory. Creates the environment, and the directory, if they are missing, unless
    /// <see cref="StorageOptions.OpenMode"/> forbids it.
    /// </summary>
    /// <param name="directory">The path of the directory, which contains only this environment.</param>
    /// <param name="options">The options, which are copied; null for the defaults.</param>
    /// <exception cref="EnvironmentInUseException">
    /// The environment is already open in this process or another, and <see cref="StorageOptions.LockTimeout"/> has elapsed.
    /// </exception>
    /// <exception cref="EnvironmentNotFoundException">
    /// The environment is missing, and <see cref="StorageOptions.OpenMode"/> or <see cref="StorageOptions.ReadOnly"/> forbids creating it.
    /// </exception>
    /// <exception cref="EnvironmentExistsException">The environment exists, and <see cref="StorageOptions.OpenMode"/> requires a new one.</exception>
    /// <exception cref="UnsupportedFormatException">The files are not Voron files, or come from a newer version.</exception>
    /// <exception cref="CorruptionException">The files are damaged; nothing was changed.</exception>
    /// <exception cref="StorageFullException">There is not enough space to open or create the environment.</exception>
    /// <exception cref="StorageAccessException">The files cannot be read or written, or the directory is on a network.</exception>
    /// <exception cref="StorageMemoryException">The system does not have enough memory.</exception>
    /// <exception cref="KeyNotFoundException">
    /// The environment was opened for reading only, and lacks one of the <see cref="StorageOptions.Trees"/>.
    /// </exception>
    /// <exception cref="ArgumentException">
    /// The options are not valid, or their <see cref="StorageOptions.PageSize"/> is not that of the existing environment.
    /// </exception>
    public static StorageEnvironment Open(string directory, StorageOptions? options = null)
    {
        ArgumentException.ThrowIfNullOrEmpty(directory);
        return Opening(CopyValid(options)).Run(directory);
    }

    /// <summary>
    /// Opens the environment in a directory without blocking the calling thread. The wait for the lock (<see cref="StorageOptions.LockTimeout"/>)
    /// blocks no thread; recovery, which reads and computes, runs on a thread-pool thread.
    /// </summary>
    /// <param name="directory">The path of the directory, which contains only this environment.</param>
    /// <param name="options">The options, which are copied; null for the defaults.</param>
    /// <param name="cancellationToken">Cancels the wait for the lock. Once the lock is held, the opening runs to its end.</param>
    /// <exception cref="OperationCanceledException">The call was cancelled before it had the lock. Nothing was changed.</exception>
    /// <inheritdoc cref="Open(string, StorageOptions?)"/>
    public static Task<StorageEnvironment> OpenAsync(
        string directory, StorageOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentException.ThrowIfNullOrEmpty(directory);
        options = CopyValid(options);
        return Task.Run(() => Opening(options).RunAsync(directory, cancellationToken), cancellationToken);
    }

    /// <summary>
    /// Returns true if the directory contains an environment. Opens, locks and creates nothing, so the answer may be outdated when it arrives; an
    /// opening with <see cref="StorageOptions.OpenMode"/> decides without such a gap.
    /// </summary>
    /// <remarks>
    /// The header decides: a creation writes this file last. Returns false if the directory is missing or cannot be read, if the creation of an
    /// environment was interrupted, and if a copy or a restore was not finished or an environment has lost its header, which
    /// <see cref="Open(string, StorageOptions?)"/> reports as damage. True does not mean that the files are intact.
    /// </remarks>
    /// <param name="directory">The path of the directory.</param>
    /// <exception cref="ArgumentException">The path is empty.</exception>
    public static bool Exists(string directory)
    {
        ArgumentException.ThrowIfNullOrEmpty(directory);
        return File.Exists(System.IO.Path.Combine(directory, HeaderFile.FileName));
    }

    /// <summary>Opens the environment on a disk, which the environment owns and disposes.</summary>
    internal static StorageEnvironment Open(IDisk disk, StorageOptions options) => Opening(options).Run(disk);

    /// <summary>
    /// Creates an in-memory environment. Its contents are lost when it is disposed, or when the process ends. Everything else works as on disk, with
    /// the same code: transactions, snapshots, exceptions, observers.
    /// </summary>
    /// <remarks>
    /// Opening, a small commit and disposal together take well below a millisecond, so each test can have its own environment. An environment with
    /// little data has no thread, and a thousand such environments can be open at the same time.
    /// </remarks>
    /// <param name="options">The options; null for the defaults. Later changes of the object have no effect.</param>
    /// <exception cref="ArgumentException">The options are not valid; the message names each fault.</exception>
    /// <exception cref="StorageMemoryException">The system does not have enough memory.</exception>
    /// <exception cref="StorageFullException">The declared trees need more than <see cref="InMemoryOptions.MaxDataBytes"/>.</exception>
    public static StorageEnvironment OpenInMemory(InMemoryOptions? options = null)
    {
        options ??= new InMemoryOptions();
        var engineOptions = options.ToValidStorageOptions(nameof(options));
        return Open(new MemoryDisk(MemoryDisk.DefaultReservation, options.MaxDataBytes ?? long.MaxValue, JournalFile.IsName), engineOptions);
    }

    /// <summary>Creates an environment that works on files in memory exactly as on files on disk, for tests.</summary>
    internal static StorageEnvironment OpenInMemory(StorageOptions options)
    {
        options = CopyValid(options);
        return Open(new MemoryDisk(), options);
    }

    private static StorageOptions CopyValid(StorageOptions? options)
    {
        var copy = options == null ? new StorageOptions() : new StorageOptions(options);
        copy.Validate(nameof(options));
        return copy;
    }

    private static OpeningCall<StorageEnvironment> Opening(StorageOptions options) =>
        new(options, static opened => new StorageEnvironment(opened), static environment => environment.BeginWork());

    private void BeginWork()
    {
        _diagnostics.Begin();
        CreateDeclaredTrees();
        _drops?.ResumeAtOpening();
    }

    private void CreateDeclaredTrees()
    {
        if (Options.Trees.Count == 0)
            return;
        List<string> missing;
        using (var reading = BeginRead())
            missing = [.. Options.Trees.Except(reading.GetTreeNames())];
        if (missing.Count == 0)
            return;
        if (_writing == null)
        {
            throw new KeyNotFoundException(
                $"The environment in '{Path}' has no tree '{missing[0]}', which {nameof(StorageOptions)}.{nameof(StorageOptions.Trees)} declares, and " +
                "an opening for reading only cannot create it. Open the environment for writing first.");
        }

        using var writing = BeginWrite();
        writing.Durability = Durability.Durable;
        foreach (var name in missing)
            writing.CreateTree(name);
        writing.Commit();
    }
}
