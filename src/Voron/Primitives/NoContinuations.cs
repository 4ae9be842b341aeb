namespace Voron.Primitives;

/// <summary>
/// Prevents an <c>await</c> from continuing inside the call that completes its task: where this is the current context, its continuation runs on the
/// pool instead.
/// </summary>
internal sealed class NoContinuations : SynchronizationContext
{
    private NoContinuations()
    {
    }

    public static NoContinuations Context { get; } = new();

    /// <summary>Runs work that may complete tasks of the user.</summary>
    public static void Run<T>(Action<T> work, T argument)
    {
        var before = Current;
        SetSynchronizationContext(Context);
        try
        {
            work(argument);
        }
        finally
        {
            SetSynchronizationContext(before);
        }
    }
}
