namespace Voron.Torture.Tables;

/// <summary>A row of the model, in one version. A change makes another one.</summary>
/// <param name="row">Its fields.</param>
/// <param name="primary">Its primary key.</param>
internal sealed class ModelRow(TableRow row, string primary)
{
    private readonly Dictionary<TableIndex, ModelKey[]> _keys = [];

    public TableRow Row => row;

    public string Primary => primary;

    /// <summary>The id that the engine has given to the row; negative until it was asked for.</summary>
    public long Id { get; set; } = -1;

    /// <summary>The version that the engine has given to the row; 0 until it was asked for.</summary>
    public long Version { get; set; }

    /// <summary>The row id below which all were used before this row was inserted.</summary>
    public long LeastId { get; init; }

    /// <summary>The version of the definition with which the row was written.</summary>
    public int Definition { get; init; }

    /// <summary>The newest version that the key had before.</summary>
    public long OldVersion { get; init; }

    /// <summary>Returns whether a write of that row, with that definition, changes nothing.</summary>
    public bool IsSame(TableRow other, int definition) => Definition == definition && row.HasSameFields(other);

    public ModelKey[] KeysIn(TableIndex index)
    {
        if (!_keys.TryGetValue(index, out var keys))
            _keys.Add(index, keys = index.KeysOf(row));
        return keys;
    }
}
