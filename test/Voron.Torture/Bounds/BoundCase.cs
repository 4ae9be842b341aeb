namespace Voron.Torture.Bounds;

/// <summary>What an environment may need of something, whatever happens to it.</summary>
/// <param name="Name">In a few words.</param>
/// <param name="Check">Brings it about, and throws when the engine needs more.</param>
internal sealed record BoundCase(string Name, Action<BoundPlace> Check);
