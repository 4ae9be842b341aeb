namespace Voron;

/// <summary>
/// The transaction has reached a limit of a single transaction, such as <see cref="StorageOptions.MaxTransactionBytes"/>, whatever room the disk has.
/// It has not been committed, and the environment continues to work. Divide the work into several transactions, or raise the limit.
/// </summary>
public sealed class TransactionTooLargeException : StorageFullException
{
    internal TransactionTooLargeException(string message)
        : base(message)
    {
    }
}
