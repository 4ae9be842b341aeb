using System.Diagnostics;
using Voron.Primitives;

namespace Voron.Transactions;

/// <summary>The activity of one group-commit operation, from the call to the answer. Exists only when a listener wants it.</summary>
/// <remarks>
/// The caller starts the activity before it holds anything, so the operation, which runs in the caller's execution context, runs inside it. The
/// thread that answers the caller records the end; the listener is called on a pool thread.
/// </remarks>
internal sealed class OperationTrace
{
    private readonly Activity _activity;
    private readonly Activity? _parent;
    private readonly Observers _observers;

    private OperationTrace(Activity activity, Activity? parent, Observers observers)
    {
        _activity = activity;
        _parent = parent;
        _observers = observers;
    }

    /// <summary>The context of the activity.</summary>
    public ActivityContext Context => _activity.Context;

    /// <summary>The commit that contains the operation's changes.</summary>
    public SharedCommitTrace? Commit { get; set; }

    /// <summary>Starts the activity as a child of the current one, and makes it the current one. Null when no listener wants it.</summary>
    public static OperationTrace? Start(EngineCore engine)
    {
        var parent = Activity.Current;
        return EngineActivities.Start(EngineActivities.Write, engine.Name.Text) is { } activity
            ? new OperationTrace(activity, parent, engine.Observers)
            : null;
    }

    /// <summary>Makes the caller's activity the current one again, once the operation has captured its context.</summary>
    public void Leave() => Activity.Current = _parent;

    /// <summary>Ends the activity. Called by the thread that answers the caller, or by the caller that cancels.</summary>
    public void End(Exception? failure)
    {
        var end = DateTime.UtcNow;
        _observers.Post(nameof(Activity), () =>
        {
            if (Commit is { } commit)
            {
                if (commit.Context != default)
                    _activity.AddLink(new ActivityLink(commit.Context));
                _activity.SetTag(EngineActivities.TransactionId, commit.Report.TransactionId);
            }

            EngineActivities.Stop(_activity, end, failure);
        });
    }
}
