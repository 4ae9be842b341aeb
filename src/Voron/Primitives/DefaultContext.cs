namespace Voron.Primitives;

/// <summary>The execution context of a thread on which nothing has been set: no <c>AsyncLocal</c> has a value there.</summary>
internal static class DefaultContext
{
    private static ExecutionContext? Known;

    /// <summary>The context. It is one object for the whole process.</summary>
    public static ExecutionContext Value => Volatile.Read(ref Known) ?? Find();

    // The base library returns it only on a thread that has it, so the first call starts a thread to which no context flows.
    private static ExecutionContext Find()
    {
        ExecutionContext? found = null;
        var thread = new Thread(() => found = ExecutionContext.Capture()) { IsBackground = true, Name = "Voron default context" };
        thread.UnsafeStart();
        Uninterrupted.Run(thread.Join);
        Volatile.Write(ref Known, found);
        return found!;
    }
}
