namespace Voron.Salvaging;

/// <summary>The damage that a salvage has found: in order of discovery, each place once, and up to a limit.</summary>
internal sealed class DamageList
{
    private const int MaxListed = 10_000;

    private readonly List<SalvageDamage> _all = [];
    private readonly HashSet<(string File, long Offset)> _places = [];

    public IReadOnlyList<SalvageDamage> All => _all;

    /// <summary>The number of damage items, including those beyond the list.</summary>
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

    // Places beyond the limit are not remembered, and are counted each time they are found.
    private bool IsNew(string file, long place) => _places.Count >= MaxListed ? !_places.Contains((file, place)) : _places.Add((file, place));

    private void Add(SalvageDamage damage)
    {
        Count++;
        if (_all.Count < MaxListed)
            _all.Add(damage);
    }
}
