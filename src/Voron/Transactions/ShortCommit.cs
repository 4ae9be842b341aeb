namespace Voron.Transactions;

/// <summary>Runs a short internal transaction, and waits until it is durable.</summary>
internal static class ShortCommit
{
    /// <param name="entrance">Gives the writer.</param>
    /// <param name="work">The changes; false if there are none.</param>
    /// <param name="stop">Ends the wait for the writer.</param>
    public static async Task RunAsync(WriterEntrance entrance, Func<WriteTransactionBody, bool> work, CancellationToken stop)
    {
        stop.ThrowIfCancellationRequested();
        var body = await entrance.BeginAsync(stop).ConfigureAwait(false);
        try
        {
            if (!ShortTransaction.TryRun(body, work))
                return;
            var progress = default(CommitProgress);
            await body.CommitAsync(ref progress).ConfigureAwait(false);
        }
        finally
        {
            body.CallUser();
        }
    }
}
