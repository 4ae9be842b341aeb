namespace Voron;

/// <summary>The base class of all exceptions that concern the state of an environment rather than an incorrect call.</summary>
public abstract class VoronException : Exception
{
    private protected VoronException(string message, Exception? cause = null)
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

/// <summary>A file is not in this format, has a newer version of it, or belongs to another environment. Nothing was changed.</summary>
public sealed class UnsupportedFormatException : VoronException
{
    internal UnsupportedFormatException(string message)
        : base(message)
    {
    }
}

/// <summary>Bytes read from disk are not the bytes that were written. The message names file, place, expected and actual values.</summary>
public sealed class CorruptionException : VoronException
{
    internal CorruptionException(string message, Exception? cause = null)
        : base(message, cause)
    {
    }
}

/// <summary>
/// There was no room, on the disk or within a configured limit, for the requested operation. The transaction has not been
/// committed, and the environment continues to work.
/// </summary>
public sealed class StorageFullException : VoronException
{
    internal StorageFullException(string message, Exception? cause = null)
        : base(message, cause)
    {
    }
}

/// <summary>The system does not have enough memory to open the environment, or limits it. Nothing was changed.</summary>
public sealed class StorageMemoryException : VoronException
{
    internal StorageMemoryException(string message, Exception? cause = null)
        : base(message, cause)
    {
    }
}

/// <summary>The operating system refused an operation on a file: access denied, read error, a missing file.</summary>
public sealed class StorageAccessException : VoronException
{
    internal StorageAccessException(string message, Exception? cause = null)
        : base(message, cause)
    {
    }
}

/// <summary>The outcome of a transaction whose commit threw.</summary>
public enum CommitOutcome
{
    /// <summary>The transaction is not committed, and will not be after the environment is reopened.</summary>
    NotCommitted,

    /// <summary>The write had begun. Whether the transaction was committed will be known when the environment is opened again.</summary>
    Unknown,
}

/// <summary>
/// A write or a sync has failed, so the content of the disk is not known. The environment refuses all further writes, with
/// the first failure as the inner exception. Reads continue to work. Opening the environment again recovers it.
/// </summary>
public sealed class EnvironmentPoisonedException : VoronException
{
    internal EnvironmentPoisonedException(string message, CommitOutcome outcome, Exception? cause)
        : base(message, cause)
    {
        Outcome = outcome;
    }

    /// <summary>The outcome of the transaction that this exception ended.</summary>
    public CommitOutcome Outcome { get; }
}
