namespace Voron;

/// <summary>
/// There was not enough space, on the disk or within a configured limit, for the requested operation. The transaction has not been committed, and the
/// environment continues to work.
/// </summary>
/// <remarks>A <see cref="TransactionTooLargeException"/> calls for smaller transactions, not for more disk space.</remarks>
public class StorageFullException : VoronException
{
    internal StorageFullException(string message, Exception? cause = null)
        : base(message, cause)
    {
    }
}

/// <summary>
/// The transaction has reached a limit of a single transaction, such as <see cref="StorageOptions.MaxTransactionBytes"/>, however much space is free
/// on the disk. It has not been committed, and the environment continues to work. Divide the work into several transactions, or raise the limit.
/// </summary>
public sealed class TransactionTooLargeException : StorageFullException
{
    internal TransactionTooLargeException(string message)
        : base(message)
    {
    }
}
