using System.Diagnostics;
using Voron.Primitives;

namespace Voron.Transactions;

/// <summary>The activity of the commit that contains the changes of group-commit operations.</summary>
/// <remarks>
/// It belongs to no single caller, so it is the root of a separate trace, to which the activities of the operations link. A commit of a single
/// operation is a child of that operation's activity instead.
/// </remarks>
internal sealed class SharedCommitTrace(CommitReport report)
{
    /// <summary>The context of the activity, once it has been created.</summary>
    public ActivityContext Context { get; private set; }

    /// <summary>The transaction.</summary>
    public CommitReport Report => report;

    /// <summary>
    /// Reports that the commit has ended. Must be called before its operations are answered, so that their activities end after it.
    /// </summary>
    /// <param name="engine">The environment.</param>
    /// <param name="time">The time at which it began and ended.</param>
    /// <param name="operations">The number of operations whose changes it contains.</param>
    /// <param name="failure">The failure of the commit, or null.</param>
    /// <param name="parent">The activity of the only operation; the default value when there are several.</param>
    public void Post(EngineCore engine, WorkTime time, int operations, Exception? failure, ActivityContext parent) =>
        engine.Observers.Post(nameof(Activity), () =>
        {
            KeyValuePair<string, object?>[] tags = [.. TracedCommit.Tags(report), new(EngineActivities.Operations, operations)];
            Context = EngineActivities.Report(EngineActivities.Commit, engine.Name.Text, time, tags, failure, parent);
        });
}
