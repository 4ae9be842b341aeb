namespace Voron.Trees;

/// <summary>Preserves the state of a tree at an open savepoint.</summary>
internal interface ITreeChangeListener
{
    /// <summary>Called before each change of the tree, while its header is still unchanged.</summary>
    void BeforeChange();
}
