namespace Voron;

/// <content>Compressed values.</content>
public readonly partial struct ReadTransaction
{
    /// <summary>Returns how the new values of a tree are compressed.</summary>
    /// <param name="name">The name of the tree.</param>
    /// <exception cref="ArgumentException">The name is empty, too long, or not valid text.</exception>
    /// <exception cref="KeyNotFoundException">There is no tree of that name.</exception>
    /// <exception cref="CorruptionException">The settings of the tree are damaged.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public ValueCompression GetValueCompression(string name)
    {
        _ = GetTreeStatistics(name, out var header);
        return (ValueCompression)GetCompression(header.TreeId).Mode;
    }
}
