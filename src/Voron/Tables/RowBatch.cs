namespace Voron.Tables;

/// <summary>
/// Rows of a query that are looked up together, because their searches then wait for memory in parallel. Reused by one query after another.
/// </summary>
internal sealed class RowBatch
{
    /// <summary>The maximum number of rows in a group search.</summary>
    public const int MaxRows = 32;

    private readonly LookupBatch _lookups = new();
    private readonly long[] _rowIds = new long[MaxRows];
    private readonly int[] _keyEnds = new int[MaxRows];
    private byte[] _keys = new byte[1024];

    /// <summary>The number of rows.</summary>
    public int Count { get; private set; }

    /// <summary>Removes all rows.</summary>
    public void Clear()
    {
        Count = 0;
        _lookups.Clear();
    }

    /// <summary>Adds the current row of a source. The batch must contain fewer than <see cref="MaxRows"/> rows.</summary>
    public void Add(RowSource source)
    {
        var key = source.Key;
        var start = Count == 0 ? 0 : _keyEnds[Count - 1];
        if (_keys.Length - start < key.Length)
            Array.Resize(ref _keys, Math.Max(2 * _keys.Length, start + key.Length));
        key.CopyTo(_keys.AsSpan(start));
        _keyEnds[Count] = start + key.Length;
        _rowIds[Count++] = source.RowId;
        _lookups.Add(RowIdBytes.Write(source.RowId, stackalloc byte[RowIdBytes.Bytes]));
    }

    /// <summary>Looks up all rows.</summary>
    public void LookUp(Tree rows) => rows.GetMany(_lookups);

    public long RowId(int index) => _rowIds[index];

    public ReadOnlySpan<byte> Key(int index) => _keys.AsSpan((index == 0 ? 0 : _keyEnds[index - 1]).._keyEnds[index]);

    /// <summary>Gets a row in the memory of its page; false if it does not exist.</summary>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public bool TryGet(int index, out ReadOnlySpan<byte> row) => _lookups.TryGetValue(index, out row);
}
