namespace Voron.Transactions;

/// <summary>Runs the engine's own work in a write transaction, which the caller commits.</summary>
internal static class ShortTransaction
{
    /// <summary>Runs work. If it returns false or throws, the transaction is rolled back.</summary>
    /// <remarks>
    /// The caller rolls nothing back afterwards: a failed commit has rolled back, and the body may belong to another caller by the time the
    /// failure is seen.
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
