namespace Voron.Tables;

/// <summary>An index does not contain the keys of all rows yet, so it cannot answer queries.</summary>
public sealed class IndexNotReadyException : TableException
{
    internal IndexNotReadyException(string table, string index, IndexState state)
        : base(table, Describe(table, index, state))
    {
        IndexName = index;
        State = state;
    }

    /// <summary>The name of the index.</summary>
    public string IndexName { get; }

    /// <summary>The state of the index.</summary>
    public IndexState State { get; }

    private static string Describe(string table, string index, IndexState state)
    {
        var why = state switch
        {
            IndexState.Building => "is being built",
            IndexState.Failed => "could not be built, because two rows have the same key",
            _ => "does not exist in this environment",
        };
        return $"The index '{index}' of table '{table}' {why}. {nameof(TableEvolution.EvolveAsync)} builds it.";
    }
}
