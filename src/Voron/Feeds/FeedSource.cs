namespace Voron.Feeds;

/// <summary>A tree or a table whose changes a feed records, or has recorded.</summary>
/// <param name="Name">The name that it had when the changes were made.</param>
/// <param name="IsTable">True for a table; false for a tree.</param>
public sealed record FeedSource(string Name, bool IsTable)
{
    /// <summary>Returns the kind and the name.</summary>
    public override string ToString() => IsTable ? $"table '{Name}'" : $"tree '{Name}'";
}
