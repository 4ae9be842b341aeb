using System.Reflection;
using Voron.Torture.Memory;
using Xunit.v3;

namespace Voron.Tests;

/// <summary>After each test, memory has to be as the engine may leave it: see <see cref="MemoryCase"/>.</summary>
/// <remarks>Tests beside each other share their memory: the one that ends first tells what any of them has done.</remarks>
[AttributeUsage(AttributeTargets.Assembly)]
internal sealed class GuardedMemoryAttribute : BeforeAfterTestAttribute
{
    public override void After(MethodInfo methodUnderTest, IXunitTest test) => MemoryCase.RequireSound();
}
