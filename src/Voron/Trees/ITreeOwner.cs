namespace Voron.Trees;

/// <summary>Keeps the state that a tree had at an open savepoint.</summary>
internal interface ITreeOwner
{
    /// <summary>Called before each change of the tree, while its header is still unchanged.</summary>
    void BeforeChange();
}
