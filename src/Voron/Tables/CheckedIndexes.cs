namespace Voron.Tables;

/// <summary>The indexes that an environment has compared with the functions of one definition, since it was opened.</summary>
/// <remarks>Used by the holder of the writer.</remarks>
internal sealed class CheckedIndexes
{
    private readonly HashSet<ushort> _indexes = [];
    private ushort _table;

    /// <summary>Returns whether all these indexes of a table have been compared.</summary>
    /// <param name="table">The number of the table, which changes when a table of the same name is created again.</param>
    /// <param name="indexes">The numbers of the indexes.</param>
    public bool Contain(ushort table, List<ushort> indexes)
    {
        if (_table != table)
            _indexes.Clear();
        _table = table;
        return _indexes.IsSupersetOf(indexes);
    }

    /// <summary>Notes that indexes of the table have been compared.</summary>
    public void Add(List<ushort> indexes) => _indexes.UnionWith(indexes);
}
