using Voron.IO;

namespace Voron.Backup;

/// <summary>The exceptions for a directory in which an environment cannot be created.</summary>
internal static class TargetFailure
{
    /// <summary>Returns the public exception for a failure of a disk or of the base library.</summary>
    /// <param name="message">The message, which names the directory and the failure.</param>
    /// <param name="failure">The failure.</param>
    /// <returns>A <see cref="StorageFullException"/> if there is no space, otherwise a <see cref="StorageAccessException"/>.</returns>
    public static VoronException Of(string message, Exception failure) => SystemErrors.From(failure, "write", "").Error == DiskError.NoSpace
        ? new StorageFullException(message, failure)
        : new StorageAccessException(message, failure);
}
