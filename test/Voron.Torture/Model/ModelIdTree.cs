using System.Collections.Immutable;
using System.Text;

namespace Voron.Torture.Model;

/// <summary>Changes and checks the one tree of id sets of a model.</summary>
/// <remarks>Makes choices of its own, as <see cref="ModelFixedTree"/> does.</remarks>
/// <param name="seed">Decides about the choices.</param>
internal sealed class ModelIdTree(long seed)
{
    public const string Name = "id sets";

    private const int MostIds = 6_000;

    // Some sets stay in their leaf, others have pages of their own, with blocks of all widths.
    private static readonly (string Key, long Ids)[] Keys =
    [
        ("a", 3), ("be", 60), ("dense", 4_000), ("far", 1L << 40), ("many", 100_000), ("sparse", long.MaxValue),
        .. Enumerable.Range(0, 30).Select(i => ($"word {i}", 1_000L)),
    ];

    private readonly Random _random = new((int)(~seed ^ (seed >> 32)));

    /// <summary>Returns whether the tree is to be changed now.</summary>
    public bool IsWanted() => _random.Next(16) == 0;

    /// <summary>Changes the tree, and returns what it has then.</summary>
    /// <param name="transaction">The transaction.</param>
    /// <param name="history">Notes what was done.</param>
    /// <param name="sets">What the tree has; null if there is none.</param>
    public ModelIdSets? Change(WriteTransaction transaction, ModelHistory history, ModelIdSets? sets)
    {
        if (_random.Next(30) == 0)
        {
            history.Note("delete the tree of id sets");
            Require(transaction.DeleteTree(Name) == (sets != null), "it exists, or not, and should not");
            return null;
        }

        var tree = transaction.CreateIdTree(Name);
        sets ??= ModelIdSets.Empty;
        Require(tree.Count == sets.Keys.Count && tree.ValueCount == sets.Ids, $"it counts {tree.Count} keys, and should have {sets.Keys.Count}");
        var changes = _random.Next(1, 80);
        history.Note($"{changes} changes of the tree with {sets.Ids} ids");
        for (var i = 0; i < changes; i++)
            sets = ChangeOnce(tree, sets);
        if (_random.Next(4) == 0)
            CheckAll(tree, sets);
        return sets;
    }

    public static void CheckAll(IdTree tree, ModelIdSets sets)
    {
        Require(tree.Count == sets.Keys.Count && tree.ValueCount == sets.Ids, $"it counts {tree.ValueCount} ids, and should have {sets.Ids}");
        using var keys = tree.OpenCursor();
        var ids = new long[200];
        var payloads = new byte[ids.Length];
        foreach (var (key, set) in sets.Keys)
        {
            Require(keys.MoveNext() && keys.Key.SequenceEqual(Bytes(key)) && keys.Count == set.Count, $"it differs at key {key}");
            using var cursor = keys.OpenIds();
            var at = 0;
            var filled = 0;
            foreach (var (id, payload) in set)
            {
                if (at == filled)
                    (at, filled) = (0, cursor.Fill(ids, payloads));
                Require(at < filled && ids[at] == id && payloads[at] == payload, $"key {key} differs at id {id}");
                at++;
            }

            Require(at == filled && cursor.Fill(ids) == 0, $"key {key} continues behind its last id");
            for (var i = set.Count - 1; i >= 0 && i > set.Count - 300; i--)
                Require(cursor.MovePrevious(), $"going back, key {key} ends too early");
        }

        Require(!keys.MoveNext(), "it continues behind its last key");
    }

    private ModelIdSets ChangeOnce(WriteIdTree tree, ModelIdSets sets)
    {
        var (key, most) = Keys[_random.Next(Keys.Length)];
        var set = sets.Of(key);
        var id = set.Count > 0 && _random.Next(3) == 0 ? set.Keys.ElementAt(_random.Next(Math.Min(set.Count, 50))) : _random.NextInt64(most);
        switch (_random.Next(100))
        {
            case 0:
                Require(tree.RemoveAll(Bytes(key)) == set.Count, $"key {key} had another number of ids than {set.Count}");
                return sets.With(key, ModelIdSets.None);
            case 1 when _random.Next(10) == 0:
                var doomed = sets.Keys.Keys.Where(name => string.CompareOrdinal(name, key) >= 0).ToList();
                Require(tree.DeleteRange(KeyRange.From(Bytes(key))) == doomed.Count, $"the range from {key} on has another number of keys");
                return doomed.Aggregate(sets, (left, name) => left.With(name, ModelIdSets.None));
            case < 4:
                return AddMany(tree, sets, key, most);
            case < 8 when set.Count > MostIds:
            case 5:
                long[] some = [.. set.Keys.Skip(_random.Next(set.Count + 1)).Take(_random.Next(2_000))];
                Require(tree.RemoveMany(Bytes(key), some) == some.Length, $"key {key} had not all of {some.Length} ids");
                return sets.With(key, set.RemoveRange(some));
            case < 30:
                tree.Remove(Bytes(key), id);
                return sets.With(key, set.Remove(id));
            case < 40:
                CheckOne(tree, sets, key, id);
                return sets;
            case < 55 when set.Count > 0 && set.Keys.Last() < most:
                id = set.Keys.Last() + 1;
                break;
        }

        var payload = (byte)_random.Next(_random.Next(2) == 0 ? 2 : 256);
        tree.Add(Bytes(key), id, payload);
        return sets.With(key, set.SetItem(id, payload));
    }

    private ModelIdSets AddMany(WriteIdTree tree, ModelIdSets sets, string key, long most)
    {
        var set = sets.Of(key);
        if (set.Count > MostIds)
            return sets;
        long[] ids = [.. Enumerable.Range(0, _random.Next(1_500)).Select(_ => _random.NextInt64(most)).Distinct().Order()];
        var payloads = new byte[ids.Length];
        if (_random.Next(2) == 0)
            _random.NextBytes(payloads);
        Require(tree.AddMany(Bytes(key), ids, payloads) == ids.Count(id => !set.ContainsKey(id)), $"key {key} gained another number of {ids.Length} ids");
        return sets.With(key, set.SetItems(ids.Zip(payloads, KeyValuePair.Create)));
    }

    private void CheckOne(IdTree tree, ModelIdSets sets, string key, long id)
    {
        var set = sets.Of(key);
        Require(tree.CountOf(Bytes(key)) == set.Count, $"key {key} counts {tree.CountOf(Bytes(key))} ids, and should have {set.Count}");
        var found = tree.TryGetPayload(Bytes(key), id, out var payload);
        Require(found == set.TryGetValue(id, out var expected) && payload == expected, $"key {key} is wrong about id {id}");
        using var cursor = tree.OpenIds(Bytes(key));
        var next = set.Keys.FirstOrDefault(one => one >= id, -1);
        Require((cursor.Seek(id) ? cursor.Id : -1) == next, $"key {key} has another id behind {id} than {next}");
        var other = Keys[_random.Next(Keys.Length)].Key;
        using var query = IdQuery.And(tree.Query(Bytes(key)), tree.Query(Bytes(other)));
        var both = set.Keys.Where(sets.Of(other).ContainsKey).Take(20);
        foreach (var one in both)
            Require(query.MoveNext() && query.Current == one, $"keys {key} and {other} have {one} in common, which is not found");
    }

    private static byte[] Bytes(string key) => Encoding.UTF8.GetBytes(key);

    private static void Require(bool holds, string message)
    {
        if (!holds)
            throw new ModelMismatchException($"the tree of id sets: {message}");
    }
}

/// <summary>What the tree of id sets has.</summary>
/// <param name="Keys">The ids of each key, with their payloads.</param>
/// <param name="Ids">The number of ids of all keys.</param>
internal sealed record ModelIdSets(ImmutableSortedDictionary<string, ImmutableSortedDictionary<long, byte>> Keys, long Ids)
{
    public static readonly ImmutableSortedDictionary<long, byte> None = ImmutableSortedDictionary<long, byte>.Empty;

    public static readonly ModelIdSets Empty =
        new(ImmutableSortedDictionary.Create<string, ImmutableSortedDictionary<long, byte>>(StringComparer.Ordinal), 0);

    public ImmutableSortedDictionary<long, byte> Of(string key) => Keys.TryGetValue(key, out var set) ? set : None;

    public ModelIdSets With(string key, ImmutableSortedDictionary<long, byte> set) =>
        new(set.Count == 0 ? Keys.Remove(key) : Keys.SetItem(key, set), Ids - Of(key).Count + set.Count);
}
