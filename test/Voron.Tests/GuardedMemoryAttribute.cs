using System.Reflection;
using Voron.Simulation.Memory;
using Xunit.v3;

namespace Voron.Tests;

/// <summary>Checks after each test that the engine has left memory in a permitted state: see <see cref="MemoryCase"/>.</summary>
/// <remarks>Tests that run at the same time share their memory: the one that ends first reports the faults of all of them.</remarks>
[AttributeUsage(AttributeTargets.Assembly)]
internal sealed class GuardedMemoryAttribute : BeforeAfterTestAttribute
{
    public override void After(MethodInfo methodUnderTest, IXunitTest test) => MemoryCase.RequireSound();
}
