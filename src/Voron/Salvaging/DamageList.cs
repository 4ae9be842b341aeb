namespace Voron.Salvaging;

/// <summary>The damage that a salvage has met: in the order in which it was met, each place once, and no more than a person reads.</summary>
internal sealed class DamageList
{
    private const int MaxListed = 10_000;

    private readonly List<SalvageDamage> _all = [];
    private readonly HashSet<(string File, long Offset)> _places = [];

    public IReadOnlyList<SalvageDamage> All => _all;

    /// <summary>The number of damages, those beyond the list included.</summary>
    public long Count { get; private set; }

    public void Add(string file, string message) => Add(new SalvageDamage(file, null, null, null, null, message));

    public void AddPage(string file, long page, int pageSize, string message, string? expected = null, string? actual = null)
    {
        if (IsNew(file, page * pageSize))
            Add(new SalvageDamage(file, page, page * pageSize, expected, actual, message));
    }

    public void AddUnreadable(string file, long offset, string message)
    {
        if (IsNew(file, ~offset))
            Add(new SalvageDamage(file, null, offset, null, null, message));
    }

    public void AddPlace(string file, long offset, string message) => Add(new SalvageDamage(file, null, offset, null, null, message));

    // A list as long as this says enough, and places beyond it are counted as often as they are met.
    private bool IsNew(string file, long place) => _places.Count >= MaxListed ? !_places.Contains((file, place)) : _places.Add((file, place));

    private void Add(SalvageDamage damage)
    {
        Count++;
        if (_all.Count < MaxListed)
            _all.Add(damage);
    }
}
