using System.Diagnostics;

namespace Voron.Primitives;

/// <summary>The activities of the engine, for listeners such as OpenTelemetry. Without a listener, nothing is created.</summary>
/// <remarks>
/// <para>
/// A listener is user code. An activity for the engine's own work is therefore created when the work has ended, with the time at which it began, by a
/// thread that holds no engine lock. Only the activity of a group-commit operation is started by its caller, before the call.
/// </para>
/// <para>No member passes on an exception thrown by a listener.</para>
/// </remarks>
internal static class EngineActivities
{
    public const string Open = "voron.open";
    public const string Recovery = "voron.recovery";
    public const string Commit = "voron.commit";
    public const string Write = "voron.write";
    public const string Flush = "voron.flush";
    public const string Verification = "voron.verification";
    public const string Backup = "voron.backup";
    public const string Compaction = "voron.compaction";

    public const string TransactionId = "voron.transaction.id";
    public const string Pages = "voron.pages";
    public const string Bytes = "voron.bytes";
    public const string Records = "voron.records";
    public const string Transactions = "voron.transactions";
    public const string Operations = "voron.operations";
    public const string Trees = "voron.trees";
    public const string Problems = "voron.problems";
    public const string PageSize = "voron.page_size";

    private const string System = "db.system.name";
    private const string SystemName = "voron";
    private const string Operation = "db.operation.name";
    private const string ErrorType = "error.type";

    private static readonly ActivitySource Source = new(EngineMeter.Name, EngineMeter.Version);

    /// <summary>True when there is a listener. Read it before preparing anything for an activity.</summary>
    public static bool IsListening => Source.HasListeners();

    /// <summary>Starts an activity on its caller's thread, as a child of the current one. Null when no listener wants it.</summary>
    public static Activity? Start(string operation, string environment)
    {
        if (!IsListening)
            return null;
        var current = Activity.Current;
        try
        {
            return Source.StartActivity(ActivityKind.Internal, default, TagsOf(operation, environment, []), name: operation);
        }
        catch (Exception e)
        {
            Ignore(e, current);
            return null;
        }
    }

    /// <summary>Ends an activity, which may belong to another thread, and leaves the current activity as it is.</summary>
    public static void Stop(Activity activity, DateTime end, Exception? failure)
    {
        var current = Activity.Current;
        try
        {
            Finish(activity, end, failure);
        }
        catch (Exception e)
        {
            Ignore(e, current);
        }

        Restore(current);
    }

    /// <summary>Creates the activity of work that has ended.</summary>
    /// <param name="operation">The name of the activity.</param>
    /// <param name="environment">The name of the environment.</param>
    /// <param name="time">The times at which the work began and ended.</param>
    /// <param name="tags">Its tags, in addition to those of all activities.</param>
    /// <param name="failure">The exception with which it ended, or null.</param>
    /// <param name="parent">Null for the current activity of this thread; the default value for none.</param>
    /// <returns>The context of the activity; the default value when no listener wanted it.</returns>
    public static ActivityContext Report(
        string operation, string environment, in WorkTime time, KeyValuePair<string, object?>[] tags, Exception? failure = null,
        ActivityContext? parent = null)
    {
        if (!IsListening)
            return default;
        var current = Activity.Current;
        try
        {
            if (parent != null)
                Activity.Current = null;
            var activity = Source.StartActivity(
                ActivityKind.Internal, parent ?? default, TagsOf(operation, environment, tags), startTime: time.Start, name: operation);
            if (activity == null)
                return default;
            var context = activity.Context;
            Finish(activity, time.End, failure);
            return context;
        }
        catch (Exception e)
        {
            Ignore(e, current);
            return default;
        }
        finally
        {
            Restore(current);
        }
    }

    private static KeyValuePair<string, object?>[] TagsOf(string operation, string environment, KeyValuePair<string, object?>[] tags) =>
    [
        new(System, SystemName), new(EnvironmentName.TagKey, environment), new(Operation, operation[(EngineMeter.Name.Length + 1)..]), .. tags,
    ];

    private static void Finish(Activity activity, DateTime end, Exception? failure)
    {
        if (failure != null)
        {
            activity.SetStatus(ActivityStatusCode.Error, failure.Message);
            activity.SetTag(ErrorType, failure.GetType().FullName);
            activity.AddException(failure);
        }

        activity.SetEndTime(end > activity.StartTimeUtc ? end : activity.StartTimeUtc.AddTicks(1));
        activity.Stop();
    }

    // There is nowhere to report the failure of a listener. The listener may have left its activity as the current one.
    private static void Ignore(Exception failure, Activity? current)
    {
        Restore(current);
        Uninterrupted.PassOn(failure is ThreadInterruptedException);
    }

    private static void Restore(Activity? current)
    {
        if (Activity.Current != current)
            Activity.Current = current;
    }
}

/// <summary>The start and the end, in UTC, of work that has ended.</summary>
internal readonly record struct WorkTime(DateTime Start, DateTime End)
{
    /// <summary>The time since a timestamp of <see cref="Stopwatch"/>, up to now.</summary>
    public static WorkTime Since(long timestamp)
    {
        var now = DateTime.UtcNow;
        return new WorkTime(now - Stopwatch.GetElapsedTime(timestamp), now);
    }
}
