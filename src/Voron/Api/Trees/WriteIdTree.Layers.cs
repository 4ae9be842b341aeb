namespace Voron;

/// <content>What tables need of an open tree besides its sets.</content>
public readonly partial struct WriteIdTree
{
    /// <inheritdoc cref="WriteTree(in Tree)"/>
    internal WriteIdTree(in IdTree tree) => _tree = tree;
}
