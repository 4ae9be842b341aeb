using System.Diagnostics;
using Voron.Primitives;

namespace Voron.Transactions;

/// <summary>Commits as <see cref="WriteTransactionBody"/> does, and creates an activity for it, because there is a listener.</summary>
/// <remarks>
/// The activity is created when the commit has ended, so that a listener never runs while its thread holds the writer. It is a child of the
/// activity in which the caller commits.
/// </remarks>
internal static class TracedCommit
{
    /// <inheritdoc cref="WriteTransactionBody.Commit"/>
    public static void Run(WriteTransactionBody body)
    {
        var began = Stopwatch.GetTimestamp();
        var progress = default(CommitProgress);
        Exception? failure = null;
        try
        {
            body.Commit(notifiesObservers: true, ref progress);
        }
        catch (Exception e)
        {
            failure = e;
            throw;
        }
        finally
        {
            body.CallUser();
            Report(body, began, progress, failure);
        }
    }

    /// <inheritdoc cref="WriteTransactionBody.CommitAsync"/>
    public static ValueTask RunAsync(WriteTransactionBody body)
    {
        var began = Stopwatch.GetTimestamp();
        var progress = default(CommitProgress);
        ValueTask task;
        try
        {
            task = body.CommitAsync(ref progress);
        }
        catch (Exception e)
        {
            Report(body, began, progress, e);
            throw;
        }

        return FinishAsync(task, body, began, progress);
    }

    /// <summary>Returns the tags of the activity of a commit.</summary>
    public static KeyValuePair<string, object?>[] Tags(in CommitReport report) =>
    [
        new(EngineActivities.TransactionId, report.TransactionId), new(EngineActivities.Pages, report.PagesChanged),
        new(EngineActivities.Bytes, report.JournalBytes),
    ];

    // An asynchronous method, so that the current activity of the caller is the parent here too.
    private static async ValueTask FinishAsync(ValueTask task, WriteTransactionBody body, long began, CommitProgress progress)
    {
        Exception? failure = null;
        try
        {
            await task.ConfigureAwait(false);
        }
        catch (Exception e)
        {
            failure = e;
            throw;
        }
        finally
        {
            Report(body, began, progress, failure);
        }
    }

    private static void Report(WriteTransactionBody body, long began, in CommitProgress progress, Exception? failure) => EngineActivities.Report(
        EngineActivities.Commit, body.Context.EnvironmentName, WorkTime.Since(began), Tags(progress.Report), failure);
}
