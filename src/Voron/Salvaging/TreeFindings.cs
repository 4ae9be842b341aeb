using Voron.Format;

namespace Voron.Salvaging;

/// <summary>The findings about one tree so far.</summary>
internal sealed class TreeFindings(string name, TreeHeader? header, uint? treeId)
{
    private const int MaxListed = 10_000;

    private readonly long[] _byGrade = new long[3];
    private readonly List<LostKeys> _lost = [];
    private readonly List<LostValue> _lostValues = [];
    private long _superseded;

    public string Name => name;

    /// <summary>The name of an internal tree in the catalog; null for others.</summary>
    public byte[]? SystemName { get; init; }

    public TreeHeader? Header => header;

    /// <summary>The id of the tree of value sets whose large sets the tree stores; null for others.</summary>
    public uint? LargeSetsOf { get; init; }

    public uint? TreeId => treeId;

    /// <summary>The form of its leaves.</summary>
    public TreeForm Form { get; init; } = header is { } known ? TreeForm.Of(known) : default;

    /// <summary>True for a tree that is not copied: a dropped one, or one of change feeds or dictionaries.</summary>
    public bool IsLeftBehind { get; init; }

    /// <summary>True for a tree of dictionaries, which are read, but not copied to the new environment.</summary>
    public bool HasDictionaries { get; init; }

    /// <summary>The ranges of keys whose pages are lost.</summary>
    public IReadOnlyList<LostKeys> Lost => _lost;

    /// <summary>True if entries may be in unreachable pages.</summary>
    public bool IsIncomplete => _lost.Count > 0 || (header is { } counted && _byGrade.Sum() + _lostValues.Count < counted.EntryCount);

    /// <summary>True if all of its entries are <see cref="SalvageGrade.Proven"/>, so that it is complete.</summary>
    public bool IsWhole => _lost.Count == 0 && _lostValues.Count == 0
        && header is { } counted && _byGrade[(int)SalvageGrade.Proven] == counted.EntryCount && _byGrade.Sum() == counted.EntryCount;

    public void Count(SalvageGrade grade) => _byGrade[(int)grade]++;

    public void CountSuperseded() => _superseded++;

    public void Lose(LostKeys range)
    {
        if (_lost.Count < MaxListed)
            _lost.Add(range);
    }

    public void LoseValue(ReadOnlySpan<byte> key, long length, string reason)
    {
        if (_lostValues.Count < MaxListed)
            _lostValues.Add(new LostValue(key.ToArray(), length, reason));
    }

    /// <summary>Returns the lost range that covers all keys from one to another; null if there is none.</summary>
    public LostKeys? FindRoom(ReadOnlySpan<byte> first, ReadOnlySpan<byte> last)
    {
        foreach (var range in _lost)
        {
            if (range.IsRoom && range.Contains(first) && range.Contains(last))
                return range;
        }

        return null;
    }

    public SalvagedTree ToReport() => new()
    {
        Name = name,
        TreeId = treeId,
        Expected = header?.EntryCount,
        Proven = _byGrade[(int)SalvageGrade.Proven],
        Current = _byGrade[(int)SalvageGrade.Current],
        Stale = _byGrade[(int)SalvageGrade.Stale],
        Superseded = _superseded,
        LostRanges = [.. _lost.Select(range => new LostRange(range.Low, range.High, range.Page, range.Found, range.Reason))],
        LostValues = _lostValues,
    };
}
