using System.Diagnostics;
using Voron.Simulation.Harness;
using Voron.Simulation.Memory;

namespace Voron.Torture.Commands;

/// <summary>Settings that must be made before this process uses the engine for the first time.</summary>
internal static class EngineSetup
{
    private const string FaultKey = "Voron.PlantedFault";
    private const string ScheduleKey = "Voron.SchedulePoints";
    private const string MemoryKey = "Voron.MemoryFaults";
    private const string LockKey = "Voron.LockChecks";

    /// <summary>Plants a fault for the lifetime of the process.</summary>
    public static void Plant(string fault) => AppContext.SetData(FaultKey, fault);

    /// <summary>
    /// Switches on the hooks for suites that decide which thread continues or make allocations fail, and the checks of the lock order.
    /// </summary>
    public static void SwitchHooksOn()
    {
        AppContext.SetData(LockKey, "on");
        AppContext.SetData(ScheduleKey, "on");
        AppContext.SetData(MemoryKey, "on");
    }

    /// <summary>Makes the engine take its memory from an allocator that checks how the memory is used.</summary>
    public static void GuardMemory()
    {
        MemoryCase.Install();
        MemoryCase.FindsLeaks = true;
    }

    /// <summary>Makes freed memory and the bytes beside blocks inaccessible: a wrong access ends the process where it happens.</summary>
    public static void ProtectMemory()
    {
        if (GuardedMemory.Current is { } memory)
            memory.Protects = memory.TracksOrigins = true;
    }

    /// <summary>Turns an assertion of a debug build into a failure like any other, instead of the end of the process.</summary>
    public static void LetAssertionsThrow()
    {
        Trace.Listeners.Clear();
        Trace.Listeners.Add(new ThrowingListener());
    }

    private sealed class ThrowingListener : TraceListener
    {
        public override void Fail(string? message, string? detailMessage) =>
            throw new BrokenPromiseException($"Assertion failed: {message} {detailMessage}");

        public override void Write(string? message)
        {
        }

        public override void WriteLine(string? message)
        {
        }
    }
}
