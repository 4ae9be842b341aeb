namespace Voron.Tables;

/// <summary>An index opened by a transaction. The default stands for an index that does not exist in the environment.</summary>
/// <param name="Schema">The index.</param>
/// <param name="Entries">The tree of a unique index, from keys to row ids.</param>
/// <param name="Ids">The tree of a non-unique index, from keys to sets of row ids.</param>
internal readonly record struct OpenIndex(IndexSchema? Schema, Tree Entries, IdTree Ids)
{
    public IndexState State => Schema?.State ?? IndexState.Absent;
}
