using Voron.Torture.Model;

namespace Voron.Torture.Tables;

/// <summary>The content of a table as it is to be: a plain dictionary.</summary>
internal sealed class TableContent
{
    /// <summary>The most keys that a row has in an index.</summary>
    private const int MostKeys = 4;

    private readonly Dictionary<string, ModelRow> _rows;
    private readonly Dictionary<string, long> _versions;
    private readonly List<ModelRow> _expired = [];
    private int _mostExpired;

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
        _expired = [.. other._expired];
        _mostExpired = other._mostExpired;
    }

    public int Count => _rows.Count;

    public IReadOnlyCollection<ModelRow> Rows => _rows.Values;

    /// <summary>A row id below which all are known to have been used.</summary>
    public long NextId { get; private set; }

    /// <summary>Expired rows, some of which may have been deleted.</summary>
    public IReadOnlyCollection<ModelRow> Expired => _expired;

    /// <summary>Returns the content at a time: rows past it are as if they were deleted.</summary>
    /// <param name="expiry">The index of the times, which is ready.</param>
    /// <param name="now">The time, in milliseconds since 1970.</param>
    public TableContent At(TableIndex expiry, long now)
    {
        var past = _rows.Values.Where(row => expiry.ExpiryOf(row.Row) <= now).ToList();
        if (past.Count == 0)
            return this;
        var copy = Copy();
        foreach (var row in past)
        {
            copy.Remove(row);
            copy._expired.Add(row);
            copy._mostExpired++;
        }

        return copy;
    }

    /// <summary>
    /// Returns the content of a table whose rows have lost their times, or have got others: those that have not been deleted reappear.
    /// </summary>
    /// <param name="isThere">Returns whether a row exists.</param>
    /// <param name="expire">True if rows expire, by other times: those that are not there may be past them.</param>
    public TableContent WithExpired(Func<ModelRow, bool> isThere, bool expire)
    {
        if (_expired.Count == 0)
            return this;
        var copy = Copy();
        copy._expired.Clear();
        foreach (var row in _expired.AsEnumerable().Reverse())
        {
            if (copy.Find(row.Primary) == null && isThere(row))
            {
                copy._rows[row.Primary] = row;
                copy._mostExpired--;
            }
            else
            {
                copy._expired.Insert(0, row);
            }
        }

        if (!expire)
            copy._expired.Clear();
        copy._mostExpired = expire ? Math.Max(0, copy._mostExpired) : 0;
        return copy;
    }

    /// <summary>Requires the number of rows, including expired ones that have not been deleted, and keeps it.</summary>
    public void CheckCount(long rows)
    {
        if (rows < Count || rows > Count + _mostExpired)
            throw new ModelMismatchException($"the table has {rows} rows instead of {Count}, and at most {_mostExpired} expired");
        _mostExpired = (int)(rows - Count);
        if (_mostExpired == 0)
            _expired.Clear();
    }

    /// <summary>Returns whether a query counts that many entries instead of those of unexpired rows.</summary>
    public bool HasCount(long entries, long expected) => entries >= expected && entries <= expected + MostExpiredEntries;

    /// <summary>The number of expired rows at most that have not been deleted.</summary>
    public int MostExpired => _mostExpired;

    /// <summary>The number of entries of an index that expired rows have at most.</summary>
    public long MostExpiredEntries => (long)MostKeys * _mostExpired;

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
