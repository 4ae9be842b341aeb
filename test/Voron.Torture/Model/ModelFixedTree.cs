using System.Collections.Immutable;

namespace Voron.Torture.Model;

/// <summary>Changes and checks the one fixed-size tree of a model.</summary>
/// <remarks>Makes choices of its own: those of a script, which decide about all else, are the same as before there were such trees.</remarks>
/// <param name="seed">Decides about the choices.</param>
internal sealed class ModelFixedTree(long seed)
{
    public const string Name = "fixed size";

    private const int ValueSize = 100;
    private const int Keys = 3_000;

    private readonly Random _random = new(HashCode(seed));

    /// <summary>Returns whether the tree is to be changed now.</summary>
    public bool IsWanted() => _random.Next(16) == 0;

    /// <summary>Changes the tree, and returns what it has then.</summary>
    /// <param name="transaction">The transaction.</param>
    /// <param name="history">Notes what was done.</param>
    /// <param name="entries">What the tree has; null if there is none.</param>
    public ImmutableSortedDictionary<long, int>? Change(
        WriteTransaction transaction, ModelHistory history, ImmutableSortedDictionary<long, int>? entries)
    {
        if (_random.Next(30) == 0)
        {
            history.Note("delete the fixed-size tree");
            Require(transaction.DeleteTree(Name) == (entries != null), "it exists, or not, and should not");
            return null;
        }

        var tree = transaction.CreateFixedTree(Name, ValueSize);
        entries ??= ImmutableSortedDictionary<long, int>.Empty;
        Require(tree.Count == entries.Count && tree.ValueSize == ValueSize, $"it counts {tree.Count} entries, and should have {entries.Count}");
        var changes = _random.Next(1, 80);
        history.Note($"{changes} changes of the fixed-size tree with {entries.Count} entries");
        for (var i = 0; i < changes; i++)
            entries = ChangeOnce(tree, entries);
        if (_random.Next(4) == 0)
            CheckAll(tree, entries);
        return entries;
    }

    public static void CheckAll(FixedTree tree, ImmutableSortedDictionary<long, int> entries)
    {
        Require(tree.Count == entries.Count, $"it counts {tree.Count} entries, and should have {entries.Count}");
        using var cursor = tree.OpenCursor();
        Span<byte> value = stackalloc byte[ValueSize];
        foreach (var (key, number) in entries)
        {
            Fill(value, number);
            Require(cursor.MoveNext() && cursor.Key == key && cursor.Value.SequenceEqual(value), $"it differs at key {key}");
        }

        Require(!cursor.MoveNext(), "it continues behind its last key");
        foreach (var key in entries.Keys.Reverse())
            Require(cursor.MovePrevious() && cursor.Key == key, $"going back, it differs at key {key}");
        Require(!cursor.MovePrevious(), "it continues before its first key");
    }

    private ImmutableSortedDictionary<long, int> ChangeOnce(WriteFixedTree tree, ImmutableSortedDictionary<long, int> entries)
    {
        var key = _random.NextInt64(-Keys, Keys);
        switch (_random.Next(100))
        {
            case 0:
                var last = key + _random.Next(Keys / 4);
                var first = _random.Next(2) == 0 ? long.MinValue : key;
                var doomed = entries.Keys.Where(one => one >= first && one <= last).ToList();
                Require(tree.DeleteRange(first, last) == doomed.Count, $"the range from {first} to {last} has another number of entries");
                return entries.RemoveRange(doomed);
            case < 20:
                Require(tree.Delete(key) == entries.ContainsKey(key), $"it is wrong about having had key {key}");
                return entries.Remove(key);
            case < 35:
                CheckOne(tree, entries, key);
                return entries;
            case < 55 when entries.Count > 0:
                return Put(tree, entries, entries.Keys.Last() + 1);
            default:
                return Put(tree, entries, key);
        }
    }

    private ImmutableSortedDictionary<long, int> Put(WriteFixedTree tree, ImmutableSortedDictionary<long, int> entries, long key)
    {
        Span<byte> value = stackalloc byte[ValueSize];
        var number = _random.Next();
        Fill(value, number);
        tree.Put(key, value);
        return entries.SetItem(key, number);
    }

    private static void CheckOne(FixedTree tree, ImmutableSortedDictionary<long, int> entries, long key)
    {
        Span<byte> expected = stackalloc byte[ValueSize];
        var found = tree.TryGet(key, out var value);
        Require(found == entries.TryGetValue(key, out var number), $"it is wrong about having key {key}");
        Fill(expected, number);
        Require(!found || value.SequenceEqual(expected), $"it has a wrong value of key {key}");
        var next = entries.Keys.FirstOrDefault(one => one >= key, long.MaxValue);
        Require(tree.TryGetCeiling(key, out var ceiling, out _) ? ceiling == next : next == long.MaxValue, $"it has another key behind {key} than {next}");
        var before = entries.Keys.LastOrDefault(one => one <= key, long.MinValue);
        Require(tree.TryGetFloor(key, out var floor, out _) ? floor == before : before == long.MinValue, $"it has another key before {key} than {before}");
    }

    private static void Fill(Span<byte> value, int number)
    {
        for (var i = 0; i < value.Length; i++)
            value[i] = (byte)(number >> i % 4 * 8);
    }

    private static int HashCode(long seed) => (int)(seed ^ (seed >> 32));

    private static void Require(bool holds, string message)
    {
        if (!holds)
            throw new ModelMismatchException($"the fixed-size tree: {message}");
    }
}
