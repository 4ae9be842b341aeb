using System.Diagnostics;
using Voron.IO;

namespace Voron.Paging;

/// <summary>The maps of the data file that a newer one has replaced. Readers that registered earlier may still use them.</summary>
/// <remarks>Only for the holder of the writer.</remarks>
internal sealed class RetiredMaps : IDisposable
{
    private readonly List<(FileMap Map, long RetiredAtSequence)> _maps = [];

    /// <summary>Asserts that the caller holds the writer; null before there is a writer, and in tests of this class alone.</summary>
    public Action? AssertHeld { get; set; }

    public bool HasAny => _maps.Count > 0;

    /// <summary>Adds a map that is to be retired with the next published state.</summary>
    public void Add(FileMap map)
    {
        AssertWriterHeld();
        _maps.Add((map, long.MaxValue));
    }

    /// <summary>In debug builds, asserts that the caller holds the writer.</summary>
    [Conditional("DEBUG")]
    public void AssertWriterHeld() => AssertHeld?.Invoke();

    /// <summary>Records that readers that register with <paramref name="sequence"/> or later do not know the maps added so far.</summary>
    public void Retire(long sequence)
    {
        AssertWriterHeld();
        for (var i = 0; i < _maps.Count; i++)
        {
            Debug.Assert(
                _maps[i].RetiredAtSequence is var retired && (retired == long.MaxValue || retired < sequence),
                "Maps must be retired in the order of the states that are published for it.");
            if (_maps[i].RetiredAtSequence == long.MaxValue)
                _maps[i] = (_maps[i].Map, sequence);
        }
    }

    /// <summary>Unmaps those that only readers with an older sequence than any registered one could use.</summary>
    public void Release(long oldestSequence)
    {
        AssertWriterHeld();
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
