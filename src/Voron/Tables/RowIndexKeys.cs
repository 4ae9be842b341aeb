namespace Voron.Tables;

/// <summary>The keys of one row in all indexes of a definition.</summary>
internal sealed class RowIndexKeys
{
    private readonly IndexKeyList[] _lists;
    private readonly bool[] _isWanted;

    /// <param name="slots">The number of indexes.</param>
    /// <param name="maxKeyLength">The maximum length of a key in bytes.</param>
    public RowIndexKeys(int slots, int maxKeyLength)
    {
        _lists = new IndexKeyList[slots];
        _isWanted = new bool[slots];
        for (var i = 0; i < slots; i++)
            _lists[i] = new IndexKeyList(maxKeyLength);
    }

    /// <summary>
    /// Returns whether the keys of the row in an index are needed. The functions of other indexes are not called, because they might fail.
    /// </summary>
    public bool IsWanted(int slot) => _isWanted[slot];

    /// <summary>Sets whether the keys of the next row in an index are needed.</summary>
    public void Want(int slot, bool isWanted) => _isWanted[slot] = isWanted;

    /// <summary>Returns buffers that are longer than the maximum to the pool.</summary>
    public void Trim(int maxBytes)
    {
        foreach (var list in _lists)
            list.Trim(maxBytes);
    }

    /// <summary>The keys in one index, sorted and without duplicates.</summary>
    public IndexKeyList this[int slot] => _lists[slot];
}
