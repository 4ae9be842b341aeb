namespace Voron.Tables;

/// <summary>An index of a definition.</summary>
/// <param name="Name">The name; empty for the primary key.</param>
/// <param name="Version">The version of the function; another version returns other keys.</param>
/// <param name="IsUnique">True if no two rows may have the same key.</param>
internal readonly record struct IndexDefinition(string Name, int Version, bool IsUnique)
{
    /// <summary>True for the expiry index.</summary>
    public bool IsExpiry { get; init; }

    /// <summary>The type of its keys; null if the function writes their bytes.</summary>
    public Type? KeyType { get; init; }

    /// <summary>True for a shared index.</summary>
    public bool IsShared { get; init; }
}
