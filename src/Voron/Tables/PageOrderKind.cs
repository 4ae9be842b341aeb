namespace Voron.Tables;

/// <summary>How a query orders its rows.</summary>
internal enum PageOrderKind
{
    /// <summary>By their ids.</summary>
    RowIds,

    /// <summary>By their primary keys.</summary>
    PrimaryKey,

    /// <summary>By their keys in an index.</summary>
    Index,

    /// <summary>By their keys in a shared index.</summary>
    SharedIndex,
}
