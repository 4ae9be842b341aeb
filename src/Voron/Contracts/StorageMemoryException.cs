namespace Voron;

/// <summary>The system does not have enough memory to open the environment, or limits it. Nothing was changed.</summary>
public sealed class StorageMemoryException : VoronException
{
    internal StorageMemoryException(string message, Exception? cause = null)
        : base(message, cause)
    {
    }
}
