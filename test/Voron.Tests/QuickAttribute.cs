using Xunit.v3;

namespace Voron.Tests;

/// <summary>
/// Marks a class whose tests start no process, do not sleep, touch no real file, and take less than two seconds together. They run while one
/// types: <c>dotnet test --filter Category=Quick</c>.
/// </summary>
[AttributeUsage(AttributeTargets.Class)]
internal sealed class QuickAttribute : Attribute, ITraitAttribute
{
    /// <inheritdoc/>
    public IReadOnlyCollection<KeyValuePair<string, string>> GetTraits() => [new("Category", "Quick")];
}
