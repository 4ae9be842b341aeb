namespace Voron;

/// <summary>The operating system refused an operation on a file: access denied, read error, a missing file.</summary>
public sealed class StorageAccessException : VoronException
{
    internal StorageAccessException(string message, Exception? cause = null)
        : base(message, cause)
    {
    }
}
