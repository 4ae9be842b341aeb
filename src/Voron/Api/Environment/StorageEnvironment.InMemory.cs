using Voron.IO;
using Voron.Journal;

namespace Voron;

public sealed partial class StorageEnvironment
{
    /// <summary>
    /// Creates an environment in memory. Its contents are lost when it is disposed, or when the process ends. Everything else is as in an
    /// environment on disk, whose code it runs: transactions, snapshots, exceptions, observers.
    /// </summary>
    /// <remarks>
    /// Opening, a small commit and disposing take well below a millisecond together, so that each test can have an environment of its own.
    /// An environment in which little is stored has no thread, and a thousand of them can be open at a time.
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
