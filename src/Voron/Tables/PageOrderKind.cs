namespace Voron.Tables;

/// <summary>By what a query orders its rows.</summary>
internal enum PageOrderKind
{
    /// <summary>By their ids.</summary>
    RowIds,

    /// <summary>By their primary keys.</summary>
    PrimaryKey,

    /// <summary>By their keys in an index.</summary>
    Index,

    /// <summary>By their keys in an index that tables share.</summary>
    SharedIndex,
}
