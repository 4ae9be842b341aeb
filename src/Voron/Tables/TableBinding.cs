using Voron.Trees;

namespace Voron.Tables;

/// <summary>The match between a definition of the program and the schema in the environment. Immutable.</summary>
internal sealed class TableBinding
{
    private readonly byte[] _bytes;

    /// <param name="schema">The schema.</param>
    /// <param name="bytes">Its bytes.</param>
    /// <param name="slots">The indexes of the definition.</param>
    /// <param name="definitionVersion">The version of the definition.</param>
    public TableBinding(TableSchema schema, byte[] bytes, IReadOnlyList<IndexDefinition> slots, int definitionVersion)
    {
        Schema = schema;
        _bytes = bytes;
        Slots = [.. slots.Select(slot => Fitting(schema, slot))];
        RowsName = SystemTree.RowsName(schema.Id);
        NextRowKey = SchemaKeys.NextRow(schema.Id);
        NextVersionKey = SchemaKeys.NextVersion(schema.Id);
        TreeNames = [.. Slots.Select(index => index?.TreeName(schema.Id) ?? [])];
        HidesExpired = schema.Expiring?.State == IndexState.Ready;
        IsBuilding = schema.Indexes.Any(index => index.State == IndexState.Building);
        Refusal = FindRefusal(schema, slots, definitionVersion);
    }

    public TableSchema Schema { get; }

    /// <summary>
    /// For each index of the definition, the matching one of the schema; null if the schema lacks the index or contains another version.
    /// </summary>
    public IndexSchema?[] Slots { get; }

    /// <summary>True if expired rows count as deleted, whether or not the definition has an expiry function.</summary>
    public bool HidesExpired { get; }

    /// <summary>True if an index is being built.</summary>
    public bool IsBuilding { get; }

    /// <summary>The name of the row tree.</summary>
    public byte[] RowsName { get; }

    /// <inheritdoc cref="SchemaKeys.NextRow"/>
    public byte[] NextRowKey { get; }

    /// <inheritdoc cref="SchemaKeys.NextVersion"/>
    public byte[] NextVersionKey { get; }

    /// <summary>The names of the index trees.</summary>
    public byte[][] TreeNames { get; }

    /// <summary>Why the definition must not write; null if it may.</summary>
    public string? Refusal { get; }

    /// <summary>Returns whether these are still the bytes of the schema.</summary>
    public bool IsOf(ReadOnlySpan<byte> bytes) => bytes.SequenceEqual(_bytes);

    /// <summary>Returns the index of the schema that matches an index of the definition, or null.</summary>
    public static IndexSchema? Fitting(TableSchema schema, IndexDefinition shape) =>
        schema.Find(shape.Name) is { } index && index.Version == shape.Version && index.IsUnique == shape.IsUnique
            && index.IsExpiry == shape.IsExpiry && index.Shared.HasValue == shape.IsShared ? index : null;

    private static string? FindRefusal(TableSchema schema, IReadOnlyList<IndexDefinition> slots, int definitionVersion)
    {
        if (definitionVersion != schema.Version)
        {
            return $"The table '{schema.Name}' has version {schema.Version}, and the definition of this program has version {definitionVersion}. " + (
                definitionVersion < schema.Version
                    ? "Rows can be read, but not written: use the newer program."
                    : $"{nameof(TableEvolution.EvolveAsync)} raises the version of the table; rows can be read until then, but not written.");
        }

        foreach (var index in schema.Indexes)
        {
            if (index.State == IndexState.Failed || slots.Any(slot => Fitting(schema, slot) == index))
                continue;
            if (index.IsExpiry)
            {
                return $"The rows of table '{schema.Name}' expire, by times of version {index.Version} that the definition of this program does not have. " +
                    $"Writing would make them wrong: add {nameof(TableDefinition<,>.Expire)} to the definition, or bring the table to it with " +
                    $"{nameof(TableEvolution.EvolveAsync)}.";
            }

            return $"The table '{schema.Name}' has an index '{index.Name}' of version {index.Version} that the definition of this program does not " +
                $"have. Writing would make it wrong: add it to the definition, or drop it with {nameof(TableEvolution.EvolveAsync)}.";
        }

        return null;
    }
}
