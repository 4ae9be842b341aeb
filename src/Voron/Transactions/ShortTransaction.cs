namespace Voron.Transactions;

/// <summary>Runs work of the engine's own in a write transaction, which the caller commits.</summary>
internal static class ShortTransaction
{
    /// <summary>Runs work. If it returns false or throws, the transaction is rolled back.</summary>
    /// <remarks>
    /// Nothing is rolled back from here on: a commit that fails has rolled back, and the body may be another caller's by the time its failure is
    /// seen.
    /// </remarks>
    public static bool TryRun(WriteTransactionBody body, Func<WriteTransactionBody, bool> work)
    {
        var isDone = false;
        try
        {
            return isDone = work(body);
        }
        finally
        {
            if (!isDone)
                body.Rollback();
        }
    }
}
