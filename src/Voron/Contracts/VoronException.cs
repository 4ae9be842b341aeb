namespace Voron;

/// <summary>The base class of all exceptions that concern the state of an environment rather than an incorrect call.</summary>
public abstract class VoronException : Exception
{
    private protected VoronException(string message, Exception? cause = null)
        : base(message, cause)
    {
    }
}

/// <summary>The directory contains no environment, or does not exist, and the caller did not want to create one. Nothing was changed.</summary>
public sealed class EnvironmentNotFoundException : VoronException
{
    internal EnvironmentNotFoundException(string message, Exception? cause = null)
        : base(message, cause)
    {
    }
}

/// <summary>The directory already contains an environment, but the caller wanted to create a new one. Nothing was changed.</summary>
public sealed class EnvironmentExistsException : VoronException
{
    internal EnvironmentExistsException(string message, Exception? cause = null)
        : base(message, cause)
    {
    }
}

/// <summary>Another process, or this one, already has the environment open.</summary>
public sealed class EnvironmentInUseException : VoronException
{
    internal EnvironmentInUseException(string message, Exception? cause = null)
        : base(message, cause)
    {
    }
}

/// <summary>The operating system refused a file operation: access was denied, a read failed, or a file is missing.</summary>
public sealed class StorageAccessException : VoronException
{
    internal StorageAccessException(string message, Exception? cause = null)
        : base(message, cause)
    {
    }
}

/// <summary>
/// The system does not have enough memory to open the environment, or for a long call such as a backup or a salvage, or limits the memory of the
/// process. A failed opening has changed nothing.
/// </summary>
public sealed class StorageMemoryException : VoronException
{
    internal StorageMemoryException(string message, Exception? cause = null)
        : base(message, cause)
    {
    }
}
