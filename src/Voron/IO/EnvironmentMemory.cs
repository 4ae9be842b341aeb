namespace Voron.IO;

/// <summary>
/// The native memory of an environment that belongs nowhere else: lists, and buffers for journal records. Counts all of the environment's native
/// memory, and provides the temporary files for data that does not fit.
/// </summary>
internal sealed class EnvironmentMemory : IDisposable
{
    /// <param name="temporaryFiles">Creates the files for data that does not fit; owned by this object.</param>
    /// <param name="recordBytes">The number of bytes of memory for journal records.</param>
    public EnvironmentMemory(TemporaryFiles temporaryFiles, long recordBytes)
    {
        TemporaryFiles = temporaryFiles;
        Records = new BlockMemory(recordBytes, temporaryFiles, Account);
        Lists = new NativeHeap { Account = Account };
    }

    /// <summary>Counts the native memory.</summary>
    public MemoryAccount Account { get; } = new();

    /// <summary>Creates temporary files for data that does not fit into memory.</summary>
    public TemporaryFiles TemporaryFiles { get; }

    /// <summary>The memory for journal records.</summary>
    public BlockMemory Records { get; }

    /// <summary>The memory of lists that grow with the unflushed changes.</summary>
    public NativeHeap Lists { get; }

    /// <summary>Frees the lists. Called last, when all other memory has been freed.</summary>
    public void Dispose()
    {
        Lists.Dispose();
        Account.Dispose();
        TemporaryFiles.Dispose();
    }
}
