using Voron.Testing;
using Voron.Trees;

namespace Voron.Tables;

/// <summary>An index as stored in the environment. Immutable: a schema change creates another one.</summary>
internal sealed record IndexSchema
{
    /// <summary>The number of the primary key, whose name is empty.</summary>
    public const ushort PrimaryKey = 0;

    /// <summary>The number of the index in its table, never reused.</summary>
    public required ushort Id { get; init; }

    public required string Name { get; init; }

    /// <summary>The version of its function.</summary>
    public required int Version { get; init; }

    public required bool IsUnique { get; init; }

    /// <summary>True for the expiry index. The expiry times are in the row headers; the keys of the index are the times in seconds.</summary>
    public bool IsExpiry { get; init; }

    /// <summary>The place of the table in a shared index; null if the index is not shared.</summary>
    public SharedPlace? Shared { get; init; }

    /// <summary>The offset of row ids in the index.</summary>
    public long FirstId => Shared?.FirstId ?? 0;

    public required IndexState State { get; init; }

    /// <summary>While the index is built: the first row that the builder has yet to read.</summary>
    public long Cursor { get; init; }

    /// <summary>While the index is built: the first row that the builder does not read, because it was inserted after the build began.</summary>
    public long Limit { get; init; }

    /// <summary>If the index has failed: the key that two rows share.</summary>
    public byte[] FailedKey { get; init; } = [];

    /// <summary>If the index has failed: the two rows.</summary>
    public (long First, long Second) FailedRows { get; init; }

    /// <summary>Returns the name of the index tree.</summary>
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
