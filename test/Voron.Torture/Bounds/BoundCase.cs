namespace Voron.Torture.Bounds;

/// <summary>A bound on the amount of a resource that an environment may need, whatever happens to it.</summary>
/// <param name="Name">A name in a few words.</param>
/// <param name="Check">Brings the situation about, and throws if the engine needs more than the bound.</param>
internal sealed record BoundCase(string Name, Action<BoundPlace> Check);
