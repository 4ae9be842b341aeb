using Voron.IO;
using Voron.Testing;

namespace Voron.Opening;

/// <summary>The exceptions of an opening that has failed.</summary>
internal static class OpeningFailure
{
    /// <summary>Throws the public exception for a failure of the disk or of memory; returns for any other failure.</summary>
    public static void ThrowTranslated(string path, StorageOptions options, Exception e)
    {
        if (e is DiskException failure)
            throw Translate(path, failure);
        if (e is OutOfMemoryException noMemory && !PlantedFault.PassMemoryErrors)
            throw NoMemory(path, options, noMemory);
    }

    private static VoronException Translate(string path, DiskException e) => e.Error switch
    {
        DiskError.NoSpace => new StorageFullException($"The environment in '{path}' cannot be opened: {e.Message}", e),
        DiskError.EndOfFile => new CorruptionException($"A file of the environment in '{path}' has been cut short: {e.Message}", e),
        DiskError.NotSupported => new StorageAccessException(
            $"The environment in '{path}' cannot be opened: {e.Message} The file system lacks something that the engine needs: a FUSE file system with " +
            "direct_io, for example, cannot map a file into memory. Use a directory of another file system.", e),
        _ => new StorageAccessException($"The environment in '{path}' cannot be opened: {e.Message}", e),
    };

    /// <summary>Returns the exception for an opening that has failed for lack of memory.</summary>
    public static StorageMemoryException NoMemory(string path, StorageOptions options, OutOfMemoryException e) => new(
        $"The environment in '{path}' cannot be opened for lack of memory: {e.Message} Recovery uses up to {options.ScratchMemoryBytes} bytes " +
        $"for page versions ({nameof(StorageOptions.ScratchMemoryBytes)}) before it uses a temporary file, and more memory for its largest record.", e);
}
