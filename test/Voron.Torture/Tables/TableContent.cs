namespace Voron.Torture.Tables;

/// <summary>The content of a table as it is to be: a plain dictionary.</summary>
internal sealed class TableContent
{
    private readonly Dictionary<string, ModelRow> _rows;
    private readonly Dictionary<string, long> _versions;

    public TableContent()
    {
        _rows = new(StringComparer.Ordinal);
        _versions = new(StringComparer.Ordinal);
    }

    private TableContent(TableContent other)
    {
        _rows = new(other._rows, StringComparer.Ordinal);
        _versions = new(other._versions, StringComparer.Ordinal);
        NextId = other.NextId;
    }

    public int Count => _rows.Count;

    public IReadOnlyCollection<ModelRow> Rows => _rows.Values;

    /// <summary>A row id below which all are known to have been used.</summary>
    public long NextId { get; private set; }

    /// <summary>Returns a copy, which does not follow later changes.</summary>
    public TableContent Copy() => new(this);

    public ModelRow? Find(string primary) => _rows.GetValueOrDefault(primary);

    /// <summary>Adds a row, or replaces the one with its key.</summary>
    /// <param name="row">The row.</param>
    /// <param name="primary">Its key.</param>
    /// <param name="definition">The version of the definition.</param>
    public ModelRow Put(TableRow row, string primary, int definition)
    {
        var old = Find(primary);
        var put = new ModelRow(row, primary)
        {
            Id = old?.Id ?? -1,
            LeastId = old?.LeastId ?? NextId,
            Definition = definition,
            OldVersion = Math.Max(old?.Version ?? 0, _versions.GetValueOrDefault(primary)),
        };
        _rows[primary] = put;
        return put;
    }

    /// <summary>Notes that the engine has told the version and the id of a row.</summary>
    public void Note(ModelRow row)
    {
        if (row.Id >= 0)
            NextId = Math.Max(NextId, row.Id + 1);
        if (row.Version > _versions.GetValueOrDefault(row.Primary))
            _versions[row.Primary] = row.Version;
    }

    public void Remove(ModelRow row)
    {
        Note(row);
        _rows.Remove(row.Primary);
    }

    /// <summary>Returns another row that has a unique key of a row, in the order in which the engine looks.</summary>
    public (TableIndex Index, string Key, ModelRow Holder)? FindDuplicate(IEnumerable<TableIndex> indexes, ModelRow row)
    {
        foreach (var index in indexes.Where(index => index.IsUnique))
        {
            foreach (var key in row.KeysIn(index).Where(key => !key.HasNull))
            {
                if (_rows.Values.FirstOrDefault(other => other.Primary != row.Primary && other.KeysIn(index).Contains(key)) is { } holder)
                    return (index, key.Bytes, holder);
            }
        }

        return null;
    }

    /// <summary>Returns the entries of an index in their order. The ids of all rows are known.</summary>
    public List<ModelEntry> Entries(TableIndex index)
    {
        var entries = _rows.Values
            .SelectMany(row => row.KeysIn(index).Where(key => !index.IsUnique || !key.HasNull).Select(key => new ModelEntry(key.Bytes, row)))
            .ToList();
        entries.Sort();
        return entries;
    }

    /// <summary>Returns the rows in the order of their primary keys.</summary>
    public List<ModelEntry> ByKey()
    {
        var entries = _rows.Values.Select(row => new ModelEntry(row.Primary, row)).ToList();
        entries.Sort();
        return entries;
    }
}
