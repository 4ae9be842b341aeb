using System.Threading.Tasks.Sources;

namespace Voron.Primitives;

/// <summary>
/// Finds the continuation that a value task passes to its source when it is converted to a task. A caller may block on such a task.
/// </summary>
internal sealed class AsTaskProbe : IValueTaskSource
{
    private Action<object?>? _continuation;

    public static Action<object?>? Continuation { get; } = Find();

    public void GetResult(short token)
    {
    }

    public ValueTaskSourceStatus GetStatus(short token) => ValueTaskSourceStatus.Pending;

    public void OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _continuation = continuation;

    private static Action<object?>? Find()
    {
        var probe = new AsTaskProbe();
        _ = new ValueTask(probe, 0).AsTask();
        return probe._continuation;
    }
}

/// <summary>As <see cref="AsTaskProbe"/>, for value tasks with a result: each type of result has a continuation of its own.</summary>
internal sealed class AsTaskProbe<T> : IValueTaskSource<T>
{
    private Action<object?>? _continuation;

    public static Action<object?>? Continuation { get; } = Find();

    public T GetResult(short token) => default!;

    public ValueTaskSourceStatus GetStatus(short token) => ValueTaskSourceStatus.Pending;

    public void OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _continuation = continuation;

    private static Action<object?>? Find()
    {
        var probe = new AsTaskProbe<T>();
        _ = new ValueTask<T>(probe, 0).AsTask();
        return probe._continuation;
    }
}
