using System.Diagnostics;

namespace Voron.Primitives;

/// <summary>Records which locks a thread holds, and throws if the order is violated. Off, and folded away, in ordinary release builds.</summary>
/// <remarks>
/// Debug builds always check. Release builds check when the process sets "Voron.LockChecks" as application data before it uses the engine.
/// </remarks>
internal static class LockOrder
{
#if DEBUG
    public static readonly bool IsOn = true;
#else
    public static readonly bool IsOn = AppContext.GetData("Voron.LockChecks") is not null;
#endif

    [ThreadStatic]
    private static uint Held;

    /// <summary>Must be called before a thread takes a lock.</summary>
    /// <exception cref="UnreachableException">The thread holds that lock, or one that comes later.</exception>
    public static void Entering(LockRank rank)
    {
        if (Held >> (int)rank != 0)
            Throw($"{rank} is taken while {Describe()} is held");
        Held |= 1u << (int)rank;
    }

    public static void Left(LockRank rank) => Held &= ~(1u << (int)rank);

    /// <summary>Must be called before a thread waits for the writer or calls the user's code. The thread must hold no lock at that point.</summary>
    /// <exception cref="UnreachableException">The thread holds a lock.</exception>
    public static void AssertNoneHeld(string what)
    {
        if (IsOn && Held != 0)
            Throw($"{what} while {Describe()} is held");
    }

    /// <summary>Runs an action as if on another thread, for tests that run another thread's work while this one is in a system call.</summary>
    public static void AsAnotherThread(Action action)
    {
        var held = Held;
        Held = 0;
        try
        {
            action();
        }
        finally
        {
            Held = held;
        }
    }

    private static string Describe() =>
        string.Join(" and ", Enum.GetValues<LockRank>().Where(rank => (Held & (1u << (int)rank)) != 0));

    private static void Throw(string what) => throw new UnreachableException($"The order of locks is violated: {what}.");
}
