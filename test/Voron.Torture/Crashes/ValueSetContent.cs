using System.Collections.Immutable;
using System.Text;

namespace Voron.Torture.Crashes;

/// <summary>The sets of a tree of value sets, as of one commit: for each key the numbers of its values.</summary>
internal sealed class ValueSetContent : TreeContent
{
    public static readonly ValueSetContent Empty =
        new(ImmutableSortedDictionary.Create<string, ImmutableSortedSet<int>>(StringComparer.Ordinal));

    private const string Prefix = "sets";

    private ValueSetContent(ImmutableSortedDictionary<string, ImmutableSortedSet<int>> sets) => Sets = sets;

    /// <summary>The sets by key; none is empty.</summary>
    public ImmutableSortedDictionary<string, ImmutableSortedSet<int>> Sets { get; }

    /// <summary>Returns whether a tree of value sets, and no other, may have a name.</summary>
    public static bool IsName(string name) => name.StartsWith(Prefix, StringComparison.Ordinal);

    /// <summary>Returns the value of a number: some are so long that a few make a set large. Values have the order of their numbers.</summary>
    public static byte[] ValueOf(int number) =>
        Encoding.ASCII.GetBytes($"{number:D4}".PadRight(LengthOf(number), (char)('a' + (number % 26))));

    public ImmutableSortedSet<int> SetOf(string key) => Sets.GetValueOrDefault(key, ImmutableSortedSet<int>.Empty);

    public ValueSetContent With(string key, ImmutableSortedSet<int> set) => new(set.IsEmpty ? Sets.Remove(key) : Sets.SetItem(key, set));

    public ValueSetContent Without(IEnumerable<string> keys) => new(Sets.RemoveRange(keys));

    public static ulong DigestOf(ValueSetTree tree)
    {
        var digest = new Digest();
        digest.Add((ulong)tree.Count);
        digest.Add((ulong)tree.ValueCount);
        using var cursor = tree.OpenCursor();
        for (var found = cursor.SeekFirst(); found; found = cursor.MoveNext())
        {
            digest.Add(cursor.Key);
            digest.Add((ulong)cursor.CountOfKey);
            digest.Add(cursor.Value);
        }

        return digest.Value;
    }

    public override string Compare(ReadTransaction reading, string name)
    {
        var tree = reading.OpenValueSetTree(name);
        using var cursor = tree.OpenCursor();
        foreach (var (key, set) in Sets)
        {
            foreach (var number in set)
            {
                if (!cursor.MoveNext() || !cursor.Key.SequenceEqual(Encoding.ASCII.GetBytes(key)))
                    return $"{name} has {(cursor.IsOnValue ? $"key {Encoding.ASCII.GetString(cursor.Key)}" : "no more keys")} at value {number} of {key}; ";
                if (!cursor.Value.SequenceEqual(ValueOf(number)))
                    return $"{name}/{key} has the value {Encoding.ASCII.GetString(cursor.Value)} where number {number} should be; ";
                if (cursor.CountOfKey != set.Count)
                    return $"{name}/{key} counts {cursor.CountOfKey} values of {set.Count}; ";
            }
        }

        var more = cursor.MoveNext() ? $"{name}/{Encoding.ASCII.GetString(cursor.Key)} has {Encoding.ASCII.GetString(cursor.Value)} too; " : "";
        var values = Sets.Values.Sum(set => (long)set.Count);
        return tree.Count == Sets.Count && tree.ValueCount == values
            ? more
            : $"{more}{name} counts {tree.Count} keys of {Sets.Count} and {tree.ValueCount} values of {values}; ";
    }

    protected override ulong ComputeDigest()
    {
        var digest = new Digest();
        digest.Add((ulong)Sets.Count);
        digest.Add((ulong)Sets.Values.Sum(set => (long)set.Count));
        foreach (var (key, set) in Sets)
        {
            var bytes = Encoding.ASCII.GetBytes(key);
            foreach (var number in set)
            {
                digest.Add(bytes);
                digest.Add((ulong)set.Count);
                digest.Add(ValueOf(number));
            }
        }

        return digest.Value;
    }

    private static int LengthOf(int number) => number % 11 == 3 ? 250 + (number * 37 % 600) : 4 + (number * 7 % 40);
}
