namespace Voron.Tables;

/// <summary>An index that a transaction has open. The default stands for one that the environment does not have.</summary>
/// <param name="Schema">The index.</param>
/// <param name="Entries">The tree of a unique index, from keys to row ids.</param>
/// <param name="Ids">The tree of another index, from keys to sets of row ids.</param>
internal readonly record struct OpenIndex(IndexSchema? Schema, Tree Entries, IdTree Ids)
{
    public IndexState State => Schema?.State ?? IndexState.Absent;
}
