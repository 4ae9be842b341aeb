using Voron.IO;
using Voron.Journal;

namespace Voron;

public sealed partial class StorageEnvironment
{
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

    /// <summary>Creates an environment that works on files in memory exactly as it would on files on disk, for tests.</summary>
    internal static StorageEnvironment OpenInMemory(StorageOptions options)
    {
        options = CopyValid(options);
        return Open(new MemoryDisk(), options);
    }
}
