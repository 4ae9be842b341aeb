using System.Runtime.CompilerServices;
using Voron.Simulation.Harness;
using Voron.Simulation.Memory;

namespace Voron.Tests;

/// <summary>Runs before the first line of the tests.</summary>
internal static class Startup
{
    [ModuleInitializer]
    internal static void Run()
    {
        WineFrames.Mend();
        MemoryCase.Install();
    }
}
