using System.Diagnostics;
using Voron.Torture.Memory;

namespace Voron.Torture.Commands;

/// <summary>What has to be decided before this process uses the engine for the first time.</summary>
internal static class EngineSetup
{
    private const string FaultKey = "Voron.PlantedFault";
    private const string ScheduleKey = "Voron.SchedulePoints";
    private const string MemoryKey = "Voron.MemoryFaults";
    private const string LockKey = "Voron.LockChecks";

    /// <summary>Plants a fault, for as long as the process lives.</summary>
    public static void Plant(string fault) => AppContext.SetData(FaultKey, fault);

    /// <summary>
    /// Switches on what suites need that decide which thread goes on, or let allocations fail; and the checks of the order of locks.
    /// </summary>
    public static void SwitchHooksOn()
    {
        AppContext.SetData(LockKey, "on");
        AppContext.SetData(ScheduleKey, "on");
        AppContext.SetData(MemoryKey, "on");
    }

    /// <summary>Has the engine take its memory from an allocator that looks at how it is used.</summary>
    public static void GuardMemory()
    {
        MemoryCase.Install();
        MemoryCase.FindsLeaks = true;
    }

    /// <summary>Puts freed memory, and what is beside blocks, out of reach: a wrong use ends the process where it happens.</summary>
    public static void ProtectMemory()
    {
        if (GuardedMemory.Current is { } memory)
            memory.Protects = memory.TracksOrigins = true;
    }

    /// <summary>An assertion of a debug build is a failure like any other, and not the end of the process.</summary>
    public static void LetAssertionsThrow()
    {
        Trace.Listeners.Clear();
        Trace.Listeners.Add(new ThrowingListener());
    }

    private sealed class ThrowingListener : TraceListener
    {
        public override void Fail(string? message, string? detailMessage) =>
            throw new Harness.BrokenPromiseException($"Assertion failed: {message} {detailMessage}");

        public override void Write(string? message)
        {
        }

        public override void WriteLine(string? message)
        {
        }
    }
}
