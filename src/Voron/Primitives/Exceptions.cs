namespace Voron;

/// <summary>The base of every exception that speaks of the state of an environment, rather than of a wrong call.</summary>
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

/// <summary>A file is not of this format, of a newer version of it, or of another environment. Nothing was changed.</summary>
public sealed class UnsupportedFormatException : VoronException
{
    internal UnsupportedFormatException(string message)
        : base(message)
    {
    }
}

/// <summary>Bytes read from disk are not the bytes that were written. The message names file, place, expected and actual.</summary>
public sealed class CorruptionException : VoronException
{
    internal CorruptionException(string message, Exception? cause = null)
        : base(message, cause)
    {
    }
}

/// <summary>
/// There was no room, on the disk or within a configured limit, for what was asked. The transaction has not been
/// committed, and the environment goes on.
/// </summary>
public sealed class StorageFullException : VoronException
{
    internal StorageFullException(string message, Exception? cause = null)
        : base(message, cause)
    {
    }
}

/// <summary>The system has not enough memory to open the environment, or limits it. Nothing was changed.</summary>
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

/// <summary>What became of the transaction whose commit threw.</summary>
public enum CommitOutcome
{
    /// <summary>The transaction was not committed, now or after a reopening.</summary>
    NotCommitted,

    /// <summary>The write had begun: whether the transaction is there will be known when the environment is opened again.</summary>
    Unknown,
}

/// <summary>
/// A write or a sync has failed, so what the disk holds is not known: the environment refuses all further writes, with
/// the first failure as the inner exception. Reads go on. Opening the environment again recovers it.
/// </summary>
public sealed class EnvironmentPoisonedException : VoronException
{
    internal EnvironmentPoisonedException(string message, CommitOutcome outcome, Exception? cause)
        : base(message, cause)
    {
        Outcome = outcome;
    }

    /// <summary>What became of the transaction that this exception ended.</summary>
    public CommitOutcome Outcome { get; }
}
