namespace Voron.Tables;

/// <summary>The keys of one row in all indexes of a definition.</summary>
internal sealed class KeySet
{
    private readonly KeyList[] _lists;

    /// <param name="slots">The number of indexes.</param>
    /// <param name="maxKeyLength">The maximum length of a key in bytes.</param>
    public KeySet(int slots, int maxKeyLength)
    {
        _lists = new KeyList[slots];
        for (var i = 0; i < slots; i++)
            _lists[i] = new KeyList(maxKeyLength);
    }

    /// <summary>Returns buffers to the pool that are longer than that.</summary>
    public void Trim(int maxBytes)
    {
        foreach (var list in _lists)
            list.Trim(maxBytes);
    }

    /// <summary>The keys in one index, each once and in order.</summary>
    public KeyList this[int slot] => _lists[slot];
}
