using System.Text;

namespace Voron.Torture.Crashes;

internal enum ValueSetChangeKind
{
    Add,
    Remove,

    /// <summary>Removes existing values, in a row.</summary>
    RemoveKnown,

    RemoveAll,
    DeleteRange,
    Clear,
    Read,
}

/// <summary>A change of a tree of value sets: drawn in advance, and made in a transaction and in its model.</summary>
/// <param name="Kind">What is done.</param>
/// <param name="Key">The key.</param>
/// <param name="First">The number of the first value.</param>
/// <param name="Count">The number of values.</param>
/// <param name="Stride">The distance of their numbers.</param>
internal readonly record struct ValueSetChange(ValueSetChangeKind Kind, string Key, int First, int Count, int Stride)
{
    private const int Keys = 6;
    private const int Values = 300;

    // Four digits are the order of values.
    private const int MostValues = 10_000;

    private byte[] KeyBytes => Encoding.ASCII.GetBytes(Key);

    public static ValueSetChange Draw(Random random, ValueSetContent content)
    {
        var key = NameOf(random.Next(Keys));
        var set = content.SetOf(key);
        var change = new ValueSetChange(ValueSetChangeKind.Add, key, random.Next(Values), 1, random.Next(1, 5));
        var known = set.IsEmpty ? change.First : set[random.Next(set.Count)];
        return random.Next(16) switch
        {
            < 4 => change,
            4 or 5 => change with { Count = random.Next(2, 40) },
            6 => Append(content, key, random.Next(1, 60)),
            7 or 8 => change with { Kind = ValueSetChangeKind.Remove, First = known },
            9 => change with { Kind = ValueSetChangeKind.Remove, Count = random.Next(2, 20) },
            10 => change with { Kind = ValueSetChangeKind.RemoveKnown, First = known, Count = random.Next(1, 40) },

            // What is left goes back to the leaf.
            11 or 12 => change with { Kind = ValueSetChangeKind.RemoveKnown, First = 0, Count = Math.Max(1, set.Count - random.Next(1, 6)) },
            13 => change with { Kind = ValueSetChangeKind.RemoveAll },
            14 => change with { Kind = random.Next(6) == 5 ? ValueSetChangeKind.Clear : ValueSetChangeKind.DeleteRange, Count = random.Next(1, 3) },
            _ => change with { Kind = ValueSetChangeKind.Read, First = known },
        };
    }

    /// <summary>Returns a change that adds values behind all others of a key.</summary>
    public static ValueSetChange Append(ValueSetContent content, string key, int count)
    {
        var set = content.SetOf(key);
        var first = set.IsEmpty ? 0 : set[^1] + 1;
        return new ValueSetChange(ValueSetChangeKind.Add, key, first, Math.Min(count, MostValues - first), 1);
    }

    public static string NameOf(int number) => number == 3 ? $"key {number} {new string('k', 300)}" : $"key {number}";

    /// <summary>Makes the change in a transaction.</summary>
    /// <param name="tree">The tree.</param>
    /// <param name="before">What it has before.</param>
    /// <exception cref="CrashViolationException">The tree is wrong about what it has.</exception>
    public void ApplyTo(WriteValueSetTree tree, ValueSetContent before)
    {
        var set = before.SetOf(Key);
        switch (Kind)
        {
            case ValueSetChangeKind.Add:
                foreach (var number in Drawn())
                    Require(tree.Add(KeyBytes, ValueSetContent.ValueOf(number)) != set.Contains(number), tree, $"is wrong about adding {number}");
                break;
            case ValueSetChangeKind.Remove:
                foreach (var number in Drawn())
                    Require(tree.Remove(KeyBytes, ValueSetContent.ValueOf(number)) == set.Contains(number), tree, $"is wrong about {number}");
                break;
            case ValueSetChangeKind.RemoveKnown:
                foreach (var number in Doomed(before))
                    Require(tree.Remove(KeyBytes, ValueSetContent.ValueOf(number)), tree, $"does not have {number}");
                break;
            case ValueSetChangeKind.RemoveAll:
                var all = tree.RemoveAll(KeyBytes);
                Require(all == set.Count, tree, $"says that {all} values are gone, and {set.Count} are");
                break;
            case ValueSetChangeKind.DeleteRange:
                var keys = tree.DeleteRange(KeyRange.From(KeyBytes).Before(Encoding.ASCII.GetBytes(End)));
                Require(keys == before.Sets.Count - ApplyTo(before).Sets.Count, tree, $"says that {keys} keys are gone");
                break;
            case ValueSetChangeKind.Clear:
                tree.Clear();
                break;
            default:
                Read(tree, before);
                break;
        }
    }

    /// <summary>Returns the content after the change.</summary>
    public ValueSetContent ApplyTo(ValueSetContent content)
    {
        var (first, end) = (Key, End);
        return Kind switch
        {
            ValueSetChangeKind.Add => content.With(Key, content.SetOf(Key).Union(Drawn())),
            ValueSetChangeKind.Remove => content.With(Key, content.SetOf(Key).Except(Drawn())),
            ValueSetChangeKind.RemoveKnown => content.With(Key, content.SetOf(Key).Except(Doomed(content))),
            ValueSetChangeKind.RemoveAll => content.Without([Key]),
            ValueSetChangeKind.DeleteRange => content.Without(
                content.Sets.Keys.Where(key => string.CompareOrdinal(key, first) >= 0 && string.CompareOrdinal(key, end) < 0)),
            ValueSetChangeKind.Clear => ValueSetContent.Empty,
            _ => content,
        };
    }

    // The end of a range that begins with the key.
    private string End => $"key {Key[4] - '0' + Count}";

    private IEnumerable<int> Drawn()
    {
        for (var i = 0; i < Count; i++)
            yield return First + (i * Stride);
    }

    // Values in a row from the first one on, as far as there are any.
    private IEnumerable<int> Doomed(ValueSetContent content)
    {
        var first = First;
        return content.SetOf(Key).Where(number => number >= first).Take(Count);
    }

    private void Read(WriteValueSetTree tree, ValueSetContent before)
    {
        var set = before.SetOf(Key);
        Require(tree.CountOf(KeyBytes) == set.Count, tree, $"counts {tree.CountOf(KeyBytes)} values of {set.Count}");
        var value = ValueSetContent.ValueOf(First);
        Require(tree.Contains(KeyBytes, value) == set.Contains(First), tree, "is wrong about the first value");
        using var cursor = tree.OpenValues(KeyBytes);
        Require(cursor.SeekExact(value) == set.Contains(First), tree, "does not lead to the first value");
        var isLast = cursor.SeekLast() == !set.IsEmpty && (set.IsEmpty || cursor.Value.SequenceEqual(ValueSetContent.ValueOf(set[^1])));
        Require(isLast, tree, "has another last value");
    }

    private void Require(bool holds, WriteValueSetTree tree, string violation)
    {
        if (!holds)
            throw new CrashViolationException($"{this}: the tree of value sets '{tree.Name}' {violation}.");
    }
}
