namespace Voron;

/// <summary>Refuses asynchronous operations of a group commit, which return before they have finished.</summary>
internal static class AsynchronousOperation
{
    /// <summary>The error message of the compiler.</summary>
    public const string Message =
        "The operation must not be asynchronous: its transaction ends when it returns, which an async method does at its first await. Do the asynchronous " +
        "work before the call, or use BeginWriteAsync and CommitAsync.";

    public static ArgumentException Error() => new(
        "The operation returns a task, so it would use its transaction after it has returned. Use BeginWriteAsync and CommitAsync instead.", "operation");

    /// <exception cref="ArgumentException">The result of an operation would be a task.</exception>
    public static void ThrowIfResultIsTask<T>()
    {
        if (Result<T>.IsTask)
            throw Error();
    }

    private static class Result<T>
    {
        public static readonly bool IsTask = typeof(Task).IsAssignableFrom(typeof(T)) || typeof(T) == typeof(ValueTask)
            || (typeof(T).IsGenericType && typeof(T).GetGenericTypeDefinition() == typeof(ValueTask<>));
    }
}
