using System.Globalization;
using Voron.Tables;

namespace Voron;

/// <summary>A salvaged table in the new environment: see <see cref="SalvageReport"/>.</summary>
/// <remarks>
/// An index that may be incomplete, or may refer to lost rows, is empty and answers no queries until <see cref="TableEvolution.EvolveAsync"/> has
/// rebuilt it from the rows. The primary key cannot be rebuilt without the definition, so it is copied as it is, without the keys of lost rows;
/// <see cref="TableEvolution.RebuildKeysAsync"/> adds the lost keys.
/// </remarks>
public sealed record SalvagedTable
{
    /// <summary>The name of the table.</summary>
    public required string Name { get; init; }

    /// <summary>The number of rows.</summary>
    public required long Rows { get; init; }

    /// <summary>The number of primary keys that were left out because their rows are lost.</summary>
    public required long KeysWithoutRow { get; init; }

    /// <summary>
    /// The minimum number of rows whose primary keys are lost: lookups by key do not find them, but <see cref="Table{TKey, TRow}.Scan()"/> does.
    /// <see cref="TableEvolution.RebuildKeysAsync"/> restores their keys.
    /// </summary>
    public required long RowsWithoutKey { get; init; }

    /// <summary>The names of the indexes that <see cref="TableEvolution.EvolveAsync"/> rebuilds.</summary>
    public required IReadOnlyList<string> IndexesToBuild { get; init; }

    /// <inheritdoc/>
    public override string ToString()
    {
        var text = string.Create(CultureInfo.InvariantCulture, $"table '{Name}': {Rows} rows");
        if (KeysWithoutRow > 0)
            text += string.Create(CultureInfo.InvariantCulture, $"; {KeysWithoutRow} primary keys of lost rows were left out");
        if (RowsWithoutKey > 0)
        {
            text += string.Create(
                CultureInfo.InvariantCulture,
                $"; {RowsWithoutKey} rows have lost their primary keys: {nameof(TableEvolution.RebuildKeysAsync)} gives them back");
        }

        if (IndexesToBuild.Count > 0)
            text += $"; {nameof(TableEvolution.EvolveAsync)} builds these indexes again: {string.Join(", ", IndexesToBuild.Select(name => $"'{name}'"))}";
        return text;
    }
}
