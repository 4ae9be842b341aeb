using System.Collections.Concurrent;
using Voron.Simulation.Harness;

namespace Voron.Simulation.Memory;

/// <summary>One case under the <see cref="GuardedMemory"/> of the process, which concurrent cases share.</summary>
/// <remarks>A finding becomes a failure of the case that ends first: with one thread, that is the case that caused it.</remarks>
internal sealed class MemoryCase
{
    // Protects Open and Settled. Taken before the locks of the allocator, which reports findings under them: reports must not take it.
    private static readonly Lock Gate = new();
    private static readonly List<MemoryCase> Open = [];
    private static readonly ConcurrentQueue<string> Findings = [];

    // The blocks taken by then have been checked for leaks, or belong to no case.
    private static long Settled;

    private readonly long _begun;

    private MemoryCase(long begun) => _begun = begun;

    /// <summary>
    /// True if blocks that no case frees are failures too; not for use beside code that leaves environments open on purpose.
    /// </summary>
    public static bool FindsLeaks { get; set; }

    /// <summary>The size in bytes of address ranges that were released and are held back.</summary>
    public static long KeptAddresses => GuardedMemory.Current?.KeptAddresses ?? 0;

    /// <summary>The managed bytes that the calling thread has allocated for the allocator of the tests.</summary>
    public static long ManagedBytes => GuardedMemory.ManagedBytes;

    /// <summary>Makes the engine of this process use a <see cref="GuardedMemory"/>. Must be called before the engine is used.</summary>
    public static void Install() => GuardedMemory.Install(finding =>
    {
        // Printed at once: the process may not live to report it in another way.
        Console.Error.WriteLine($"memory: {finding}");
        Findings.Enqueue(finding);
    });

    public static MemoryCase Begin()
    {
        lock (Gate)
        {
            var taken = GuardedMemory.Current?.Taken ?? 0;
            if (Open.Count == 0)
                Settled = Math.Max(Settled, FindsLeaks ? 0 : taken);
            var begun = new MemoryCase(taken);
            Open.Add(begun);
            return begun;
        }
    }

    /// <param name="thrown">The exception with which the case has failed, or null.</param>
    /// <exception cref="BrokenPromiseException">The engine has used memory wrongly.</exception>
    public void End(Exception? thrown)
    {
        string? finding;
        lock (Gate)
        {
            Open.Remove(this);
            GuardedMemory.Current?.Sweep(isQuick: true);
            if (FindsLeaks && thrown is null)
                FindLeaks();
            Findings.TryDequeue(out finding);
        }
        if (finding is not null)
            throw new BrokenPromiseException($"memory: {finding}", thrown);
    }

    /// <summary>Checks all memory, of all owners.</summary>
    /// <exception cref="BrokenPromiseException">The engine has used memory wrongly.</exception>
    public static void RequireSound() => Begin().End(null);

    /// <summary>Checks all memory, and waits until everything is freed that all earlier cases have taken.</summary>
    /// <exception cref="BrokenPromiseException">Something is not freed.</exception>
    public static void RequireNothingLeft(TimeSpan longest)
    {
        if (GuardedMemory.Current is not { } memory)
            return;
        memory.Sweep();
        RequireSound();
        if (!FindsLeaks)
            return;
        var until = Environment.TickCount64 + (long)longest.TotalMilliseconds;
        while (memory.HasAny(memory.Taken, Settled) && Environment.TickCount64 < until)
        {
            // Some of it is freed by finalizers.
            GC.Collect();
            GC.WaitForPendingFinalizers();
            Thread.Sleep(50);
        }
        if (memory.Leaked(memory.Taken, Settled) is { } leaked)
            throw new BrokenPromiseException($"memory: {leaked}");
    }

    // Blocks taken before the oldest open case began belong to cases that have ended.
    private static void FindLeaks()
    {
        var memory = GuardedMemory.Current;
        var before = Open.Count == 0 ? memory?.Taken ?? 0 : Open.Min(open => open._begun);
        if (memory?.Leaked(before, Settled) is { } leaked)
        {
            Findings.Enqueue(leaked);
            Settled = before;
        }
    }
}
