using Voron.Testing;
using Voron.Trees;

namespace Voron.Tables;

/// <summary>An index as the environment has it. It never changes: a change of the schema makes another one.</summary>
internal sealed record IndexSchema
{
    /// <summary>The number of the primary key, whose name is empty.</summary>
    public const ushort PrimaryKey = 0;

    /// <summary>The number of the index in its table, never used for another index.</summary>
    public required ushort Id { get; init; }

    public required string Name { get; init; }

    /// <summary>The version of its function.</summary>
    public required int Version { get; init; }

    public required bool IsUnique { get; init; }

    /// <summary>True for the index of the times at which rows expire: they are in the heads of the rows, and its keys are their seconds.</summary>
    public bool IsExpiry { get; init; }

    /// <summary>The place of the table in an index that tables share; null for an index of its own.</summary>
    public SharedPlace? Shared { get; init; }

    /// <summary>What is added to the id of a row in the index.</summary>
    public long FirstId => Shared?.FirstId ?? 0;

    public required IndexState State { get; init; }

    /// <summary>While the index is built: the first row that the builder has yet to read.</summary>
    public long Cursor { get; init; }

    /// <summary>While the index is built: the first row that the builder does not read, because it was inserted after the beginning.</summary>
    public long Limit { get; init; }

    /// <summary>If the index has failed: the key that two rows have.</summary>
    public byte[] FailedKey { get; init; } = [];

    /// <summary>If the index has failed: the two rows.</summary>
    public (long First, long Second) FailedRows { get; init; }

    /// <summary>The name of the tree of the index.</summary>
    public byte[] TreeName(ushort table) =>
        Shared is { } place ? place.TreeName : SystemTree.IndexName(table, Id, IsUnique);

    /// <summary>Returns whether the writers maintain the keys of a row; those of other rows are left to the builder.</summary>
    public bool Covers(long rowId) => State switch
    {
        IndexState.Ready => true,
        IndexState.Building => (rowId < Cursor && !PlantedFault.SkipRowsBelowCursor) || rowId >= Limit,
        _ => false,
    };
}
