namespace Voron.Tables;

/// <summary>An index as a definition has it.</summary>
/// <param name="Name">The name; empty for the primary key.</param>
/// <param name="Version">The version of the function: another one means other keys.</param>
/// <param name="IsUnique">True if no two rows may have the same key.</param>
internal readonly record struct IndexShape(string Name, int Version, bool IsUnique)
{
    /// <summary>True for the index of the times at which rows expire.</summary>
    public bool IsExpiry { get; init; }

    /// <summary>The type of its keys; null if the function writes their bytes.</summary>
    public Type? KeyType { get; init; }

    /// <summary>True for an index that other tables may have as well.</summary>
    public bool IsShared { get; init; }
}
