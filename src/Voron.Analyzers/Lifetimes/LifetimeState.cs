using System.Collections.Immutable;
using Microsoft.CodeAnalysis;

namespace Voron.Analyzers.Lifetimes;

/// <summary>
/// What each variable may hold at one point of a function. A place without values holds nothing known. Where paths meet, a variable may hold
/// the values of all of them.
/// </summary>
internal sealed class LifetimeState
{
    private ImmutableDictionary<Place, ImmutableHashSet<LifetimeValue>> _values = ImmutableDictionary<Place, ImmutableHashSet<LifetimeValue>>.Empty;

    public IEnumerable<KeyValuePair<Place, ImmutableHashSet<LifetimeValue>>> Places => _values;

    public LifetimeState Copy() => new() { _values = _values };

    public ImmutableHashSet<LifetimeValue> Get(Place place) => _values.TryGetValue(place, out var values) ? values : [];

    public void Set(Place place, ImmutableHashSet<LifetimeValue> values) =>
        _values = values.IsEmpty ? _values.Remove(place) : _values.SetItem(place, values);

    /// <summary>Adds the values of another path.</summary>
    /// <returns>Whether there was a new one.</returns>
    public bool Merge(LifetimeState other)
    {
        var before = _values;
        foreach (var pair in other._values)
        {
            var own = Get(pair.Key);
            var joined = own.Union(pair.Value);
            if (joined.Count != own.Count)
                Set(pair.Key, joined);
        }

        return !ReferenceEquals(before, _values);
    }

    /// <summary>Makes everything of a transaction unusable.</summary>
    public void End(Owner owner, LifetimeStatus status, SyntaxNode by) =>
        Change(value => value.Owner == owner ? value.End(status, by) : value);

    /// <summary>Makes one handle unusable, and its copies.</summary>
    public void Close(LifetimeValue handle, SyntaxNode by) =>
        Change(value => value.Owner == handle.Owner && value.Origin == handle.Origin && value.Kind == handle.Kind
            ? value.End(LifetimeStatus.Closed, by) : value);

    /// <summary>Makes the spans of a transaction unusable.</summary>
    public void Overwrite(Owner owner, SyntaxNode by) =>
        Change(value => value.Owner == owner && value.Kind == LifetimeKind.View ? value.End(LifetimeStatus.Overwritten, by) : value);

    /// <summary>Makes the spans at the position of a cursor unusable.</summary>
    public void Move(LifetimeValue cursor, SyntaxNode by) =>
        Change(value => value.IsAtCursor && value.Owner == cursor.Owner && ReferenceEquals(value.CursorOrigin, cursor.Origin)
            ? value.End(LifetimeStatus.Moved, by) : value);

    /// <summary>Forgets valid values that came from an earlier execution of a call, which must not be taken for those of the next one.</summary>
    public void Forget(SyntaxNode origin) => Remove((_, value) => value.IsValid
        && (ReferenceEquals(value.Origin, origin) || ReferenceEquals(value.CursorOrigin, origin) || ReferenceEquals(value.Owner.Key, origin)));

    /// <summary>Forgets values that turned out to be null, and everything that would belong to them.</summary>
    public void Forget(ImmutableHashSet<LifetimeValue> missing)
    {
        var owners = missing.Where(value => value.Kind == LifetimeKind.Transaction).Select(value => value.Owner).Distinct().ToList();
        Remove((_, value) => missing.Contains(value) || (owners.Count == 1 && owners[0] == value.Owner));
    }

    /// <summary>Forgets the values of fields and properties, which other methods may have changed.</summary>
    public void ForgetMembers() => Remove((place, _) => place.IsMember);

    private void Change(Func<LifetimeValue, LifetimeValue> change)
    {
        foreach (var pair in _values)
        {
            if (pair.Value.Any(value => !ReferenceEquals(change(value), value)))
                Set(pair.Key, [.. pair.Value.Select(change)]);
        }
    }

    private void Remove(Func<Place, LifetimeValue, bool> condition)
    {
        foreach (var pair in _values)
        {
            if (pair.Value.Any(value => condition(pair.Key, value)))
                Set(pair.Key, [.. pair.Value.Where(value => !condition(pair.Key, value))]);
        }
    }
}
