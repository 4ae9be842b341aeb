using System.Collections.Immutable;
using System.Text;

namespace Voron.Torture.Model;

/// <summary>Changes and checks the one tree of value sets of a model.</summary>
/// <remarks>Makes choices of its own, as <see cref="ModelFixedTree"/> does.</remarks>
/// <param name="seed">Decides about the choices.</param>
internal sealed class ModelValueSetTree(long seed)
{
    public const string Name = "value sets";

    // Some sets stay in their leaf, others are large, and some go over the borders again and again. Lengths depend on the value alone.
    private static readonly (string Key, int Values, int Bytes)[] Keys =
    [
        ("a", 2, 900), ("be", 40, 30), ("border", 60, 40), ("long", 8, 900), ("many", 4_000, 12), ("more", 500, 60),
        .. Enumerable.Range(0, 20).Select(i => ($"word {i}", 25, 20)),
    ];

    private readonly Random _random = new((int)(seed * 31 ^ (seed >> 32)));

    /// <summary>Returns whether the tree is to be changed now.</summary>
    public bool IsWanted() => _random.Next(16) == 0;

    /// <summary>Changes the tree, and returns what it has then.</summary>
    /// <param name="transaction">The transaction.</param>
    /// <param name="history">Notes what was done.</param>
    /// <param name="sets">What the tree has; null if there is none.</param>
    public ModelValueSets? Change(WriteTransaction transaction, ModelHistory history, ModelValueSets? sets)
    {
        if (_random.Next(30) == 0)
        {
            history.Note("delete the tree of value sets");
            Require(transaction.DeleteTree(Name) == (sets != null), "it exists, or not, and should not");
            return null;
        }

        var tree = transaction.CreateValueSetTree(Name);
        sets ??= ModelValueSets.Empty;
        var changes = _random.Next(1, 120);
        history.Note($"{changes} changes of the tree with {sets.Values} values");
        Require(tree.Count == sets.Keys.Count && tree.ValueCount == sets.Values, $"it counts {tree.ValueCount} values, and should have {sets.Values}");
        for (var i = 0; i < changes; i++)
            sets = ChangeOnce(tree, sets);
        if (_random.Next(4) == 0)
            CheckAll(tree, sets);
        return sets;
    }

    public static void CheckAll(ValueSetTree tree, ModelValueSets sets)
    {
        Require(tree.Count == sets.Keys.Count && tree.ValueCount == sets.Values, $"it counts {tree.ValueCount} values, and should have {sets.Values}");
        using var cursor = tree.OpenCursor();
        foreach (var (key, set) in sets.Keys)
        {
            Require(tree.CountOf(Bytes(key)) == set.Count, $"key {key} counts {tree.CountOf(Bytes(key))} values, and should have {set.Count}");
            foreach (var value in set)
                Require(cursor.MoveNext() && IsAt(cursor, key, value), $"key {key} differs at value {value}");
        }

        Require(!cursor.MoveNext(), "it continues behind its last pair");
        foreach (var (key, set) in sets.Keys.Reverse().Take(8))
        {
            foreach (var value in set.Reverse())
                Require(cursor.MovePrevious() && IsAt(cursor, key, value), $"going back, key {key} differs at value {value}");
        }
    }

    private ModelValueSets ChangeOnce(WriteValueSetTree tree, ModelValueSets sets)
    {
        var kind = Keys[_random.Next(Keys.Length)];
        var key = kind.Key;
        var set = sets.Of(key);
        var value = Value(kind);
        switch (_random.Next(100))
        {
            case 0:
                Require(tree.RemoveAll(Bytes(key)) == set.Count, $"key {key} had another number of values than {set.Count}");
                return sets.With(key, ModelValueSets.None);
            case 1 when _random.Next(10) == 0:
                var doomed = sets.Keys.Keys.Where(name => string.CompareOrdinal(name, key) >= 0).ToList();
                Require(tree.DeleteRange(KeyRange.From(Bytes(key))) == doomed.Count, $"the range from {key} on has another number of keys");
                return doomed.Aggregate(sets, (left, name) => left.With(name, ModelValueSets.None));
            case 2 when _random.Next(10) == 0:
                tree.Clear();
                return ModelValueSets.Empty;
            case < 6:
                return AddMany(tree, sets, kind);
            case < 10:
                return RemoveWithCursor(tree, sets, key);
            case < 35:
                Require(tree.Remove(Bytes(key), Bytes(value)) == set.Contains(value), $"key {key} is wrong about the removal of {value}");
                return sets.With(key, set.Remove(value));
            case < 45:
                CheckOne(tree, sets, key, value);
                return sets;
            default:
                Require(tree.Add(Bytes(key), Bytes(value)) != set.Contains(value), $"key {key} is wrong about the addition of {value}");
                return sets.With(key, set.Add(value));
        }
    }

    private ModelValueSets AddMany(WriteValueSetTree tree, ModelValueSets sets, (string Key, int Values, int Bytes) kind)
    {
        var set = sets.Of(kind.Key);
        for (var i = _random.Next(200); i > 0; i--)
        {
            var value = Value(kind);
            Require(tree.Add(Bytes(kind.Key), Bytes(value)) != set.Contains(value), $"key {kind.Key} is wrong about the addition of {value}");
            set = set.Add(value);
        }

        return sets.With(kind.Key, set);
    }

    // The cursor stays where its value was, and continues from there.
    private ModelValueSets RemoveWithCursor(WriteValueSetTree tree, ModelValueSets sets, string key)
    {
        var set = sets.Of(key);
        using var cursor = tree.OpenValues(Bytes(key));
        var at = set.Count == 0 ? 0 : _random.Next(set.Count);
        if (set.Count > 0)
            cursor.Seek(Bytes(set[at]));
        for (var i = _random.Next(150); i > 0 && at < set.Count; i--)
        {
            Require(cursor.IsOnValue && cursor.Value.SequenceEqual(Bytes(set[at])), $"key {key} has another value than {set[at]}");
            Require(tree.Remove(Bytes(key), cursor.Value), $"key {key} does not have the value of its cursor");
            set = set.Remove(set[at]);
            Require(!cursor.IsOnValue && cursor.MoveNext() == (at < set.Count), $"key {key} is wrong about the value behind a removed one");
        }

        return sets.With(key, set);
    }

    private static void CheckOne(ValueSetTree tree, ModelValueSets sets, string key, string value)
    {
        var set = sets.Of(key);
        Require(tree.CountOf(Bytes(key)) == set.Count, $"key {key} counts {tree.CountOf(Bytes(key))} values, and should have {set.Count}");
        Require(tree.Contains(Bytes(key), Bytes(value)) == set.Contains(value), $"key {key} is wrong about value {value}");
        using var cursor = tree.OpenValues(Bytes(key));
        var index = set.IndexOf(value);
        var next = index >= 0 ? index : ~index;
        var found = cursor.Seek(Bytes(value));
        Require(found == next < set.Count && (!found || cursor.Value.SequenceEqual(Bytes(set[next]))), $"key {key} has a wrong value from {value} on");
        found = cursor.SeekForPrevious(Bytes(value));
        var previous = index >= 0 ? index : ~index - 1;
        Require(found == previous >= 0 && (!found || cursor.Value.SequenceEqual(Bytes(set[previous]))), $"key {key} has a wrong value up to {value}");
    }

    private static bool IsAt(ValueSetCursor cursor, string key, string value) =>
        cursor.Key.SequenceEqual(Bytes(key)) && cursor.Value.SequenceEqual(Bytes(value));

    private string Value((string Key, int Values, int Bytes) kind)
    {
        var number = _random.Next(kind.Values);
        return $"{number:D4}".PadRight(Math.Max(4, (int)((uint)number * 2654435761 % (uint)kind.Bytes)), (char)('a' + number % 26));
    }

    private static byte[] Bytes(string text) => Encoding.UTF8.GetBytes(text);

    private static void Require(bool holds, string message)
    {
        if (!holds)
            throw new ModelMismatchException($"the tree of value sets: {message}");
    }
}

/// <summary>What the tree of value sets has.</summary>
/// <param name="Keys">The values of each key.</param>
/// <param name="Values">The number of values of all keys.</param>
internal sealed record ModelValueSets(ImmutableSortedDictionary<string, ImmutableSortedSet<string>> Keys, long Values)
{
    public static readonly ImmutableSortedSet<string> None = ImmutableSortedSet.Create<string>(StringComparer.Ordinal);

    public static readonly ModelValueSets Empty =
        new(ImmutableSortedDictionary.Create<string, ImmutableSortedSet<string>>(StringComparer.Ordinal), 0);

    public ImmutableSortedSet<string> Of(string key) => Keys.TryGetValue(key, out var set) ? set : None;

    public ModelValueSets With(string key, ImmutableSortedSet<string> set) =>
        new(set.Count == 0 ? Keys.Remove(key) : Keys.SetItem(key, set), Values - Of(key).Count + set.Count);
}
