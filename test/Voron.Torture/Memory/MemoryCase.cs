using Voron.Torture.Harness;

namespace Voron.Torture.Memory;

/// <summary>One case under the <see cref="GuardedMemory"/> of the process, which cases side by side share.</summary>
/// <remarks>What is found is a failure of the case that ends first: with one thread, of the one that did it.</remarks>
internal sealed class MemoryCase
{
    private static readonly Lock Gate = new();
    private static readonly List<MemoryCase> Open = [];
    private static readonly Queue<string> Findings = [];

    // What was taken by then has been looked at for leaks, or is no case's.
    private static long Settled;

    private readonly long _begun;

    private MemoryCase(long begun) => _begun = begun;

    /// <summary>Blocks that no case frees are failures too: not beside code that leaves environments open on purpose.</summary>
    public static bool FindsLeaks { get; set; }

    /// <summary>Addresses that were released, and are held back, in bytes.</summary>
    public static long KeptAddresses => GuardedMemory.Current?.KeptAddresses ?? 0;

    /// <summary>Managed bytes that the calling thread has taken for the allocator of the tests.</summary>
    public static long ManagedBytes => GuardedMemory.ManagedBytes;

    /// <summary>Has the engine of this process use a <see cref="GuardedMemory"/>. To be called before it is used.</summary>
    public static void Install() => GuardedMemory.Install(finding =>
    {
        // At once: the process may not live to tell it otherwise.
        Console.Error.WriteLine($"memory: {finding}");
        lock (Gate)
            Findings.Enqueue(finding);
    });

    public static MemoryCase Begin()
    {
        lock (Gate)
        {
            long taken = GuardedMemory.Current?.Taken ?? 0;
            if (Open.Count == 0)
                Settled = Math.Max(Settled, FindsLeaks ? 0 : taken);
            var begun = new MemoryCase(taken);
            Open.Add(begun);
            return begun;
        }
    }

    /// <param name="thrown">What the case has failed with, or null.</param>
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

    /// <summary>Looks at all memory, of all owners.</summary>
    /// <exception cref="BrokenPromiseException">The engine has used memory wrongly.</exception>
    public static void RequireSound() => Begin().End(null);

    /// <summary>Looks at all memory, and waits until everything is freed that all cases before have taken.</summary>
    /// <exception cref="BrokenPromiseException">Something is not.</exception>
    public static void RequireNothingLeft(TimeSpan longest)
    {
        if (GuardedMemory.Current is not { } memory)
            return;
        memory.Sweep();
        RequireSound();
        if (!FindsLeaks)
            return;
        long until = Environment.TickCount64 + (long)longest.TotalMilliseconds;
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

    // What was taken before the oldest open case began belongs to cases that have ended.
    private static void FindLeaks()
    {
        GuardedMemory? memory = GuardedMemory.Current;
        long before = Open.Count == 0 ? memory?.Taken ?? 0 : Open.Min(open => open._begun);
        if (memory?.Leaked(before, Settled) is { } leaked)
        {
            Findings.Enqueue(leaked);
            Settled = before;
        }
    }
}
