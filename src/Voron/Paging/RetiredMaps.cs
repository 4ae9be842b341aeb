using Voron.IO;

namespace Voron.Paging;

/// <summary>The maps of the data file that a newer one has replaced. Readers that registered earlier may still use them.</summary>
/// <remarks>Only for the holder of the writer.</remarks>
internal sealed class RetiredMaps : IDisposable
{
    private readonly List<(FileMap Map, long RetiredAtSequence)> _maps = [];

    public bool HasAny => _maps.Count > 0;

    /// <summary>Adds a map that is to be retired with the next published state.</summary>
    public void Add(FileMap map) => _maps.Add((map, long.MaxValue));

    /// <summary>Records that readers that register with <paramref name="sequence"/> or later do not know the maps added so far.</summary>
    public void Retire(long sequence)
    {
        for (var i = 0; i < _maps.Count; i++)
        {
            if (_maps[i].RetiredAtSequence == long.MaxValue)
                _maps[i] = (_maps[i].Map, sequence);
        }
    }

    /// <summary>Unmaps those that only readers with an older sequence than any registered one could use.</summary>
    public void Release(long oldestSequence)
    {
        for (var i = _maps.Count - 1; i >= 0; i--)
        {
            if (_maps[i].RetiredAtSequence > oldestSequence)
                continue;
            _maps[i].Map.Dispose();
            _maps.RemoveAt(i);
        }
    }

    public void Dispose()
    {
        foreach (var (map, _) in _maps)
            map.Dispose();
    }
}
