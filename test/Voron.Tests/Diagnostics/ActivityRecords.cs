using System.Collections.Concurrent;
using System.Diagnostics;

namespace Voron.Tests.Diagnostics;

/// <summary>Listens to the engine's activities, and keeps those that have ended in environments of one name.</summary>
internal sealed class ActivityRecords : IDisposable
{
    private readonly ActivityListener _listener;
    private readonly ConcurrentQueue<Activity> _ended = new();

    /// <param name="environment">The name of the environments.</param>
    /// <param name="onEvent">Called with "sample", "started" and "stopped", and the name of the activity.</param>
    public ActivityRecords(string environment, Action<string, string>? onEvent = null)
    {
        bool IsOurs(IEnumerable<KeyValuePair<string, object?>>? tags) =>
            tags?.Any(tag => tag.Key == "db.namespace" && ((string)tag.Value!).Split('#')[0] == environment) == true;
        _listener = new ActivityListener
        {
            ShouldListenTo = source => source.Name == "Voron",
            Sample = (ref ActivityCreationOptions<ActivityContext> options) =>
            {
                if (!IsOurs(options.Tags))
                    return ActivitySamplingResult.None;
                onEvent?.Invoke("sample", options.Name);
                return ActivitySamplingResult.AllDataAndRecorded;
            },
            ActivityStarted = activity =>
            {
                if (IsOurs(activity.TagObjects))
                    onEvent?.Invoke("started", activity.OperationName);
            },
            ActivityStopped = activity =>
            {
                if (!IsOurs(activity.TagObjects))
                    return;
                _ended.Enqueue(activity);
                onEvent?.Invoke("stopped", activity.OperationName);
            },
        };
        ActivitySource.AddActivityListener(_listener);
    }

    public IReadOnlyList<Activity> Ended => [.. _ended];

    /// <summary>Waits until that many activities of a name have ended, and returns them.</summary>
    public IReadOnlyList<Activity> WaitFor(string name, int count)
    {
        TestWait.Until(() => Named().Count() >= count, $"{count} activities {name} end");
        return [.. Named()];
        IEnumerable<Activity> Named() => _ended.Where(activity => activity.OperationName == name);
    }

    public void Dispose() => _listener.Dispose();
}
