using System.Text;

namespace Voron.Torture.Crashes;

internal enum IdTreeChangeKind
{
    /// <summary>Adds ids one by one, which wait until something reads the tree.</summary>
    Add,

    AddMany,

    /// <summary>Removes ids one by one, which wait until something reads the tree.</summary>
    Remove,

    RemoveMany,
    RemoveAll,
    DeleteRange,
    Read,
}

/// <summary>A change of an id tree: drawn in advance, and made in a transaction and in its model.</summary>
/// <param name="Kind">What is done.</param>
/// <param name="Key">The key.</param>
/// <param name="First">The first id.</param>
/// <param name="Count">The number of ids.</param>
/// <param name="Stride">The average distance of ids.</param>
/// <param name="Number">Decides about the payloads and the exact distances.</param>
internal readonly record struct IdTreeChange(IdTreeChangeKind Kind, string Key, long First, int Count, long Stride, int Number)
{
    private const int Keys = 6;
    private const int Ids = 2_000;

    private static readonly long[] Strides = [1, 3, 1_000, 1L << 40];

    private byte[] KeyBytes => Encoding.ASCII.GetBytes(Key);

    public static IdTreeChange Draw(Random random, IdTreeContent content)
    {
        var key = NameOf(random.Next(Keys));
        var set = content.SetOf(key);
        var change = new IdTreeChange(IdTreeChangeKind.Add, key, random.NextInt64(Ids), 1, Strides[random.Next(Strides.Length)], random.Next());
        var known = set.IsEmpty ? change.First : set.Keys.ElementAt(random.Next(set.Count));
        return random.Next(16) switch
        {
            < 4 => change,
            4 => change with { Count = random.Next(2, 30) },
            5 => Append(content, key, random.Next(1, 40), change.Stride, change.Number),
            6 => Append(content, key, random.Next(1, 400), change.Stride, change.Number) with { Kind = IdTreeChangeKind.AddMany },
            7 => change with { Kind = IdTreeChangeKind.AddMany, Count = random.Next(1, 200) },
            8 or 9 => change with { Kind = IdTreeChangeKind.Remove, First = known },
            10 => change with { Kind = IdTreeChangeKind.Remove, Count = random.Next(2, 30) },
            11 or 12 => change with { Kind = IdTreeChangeKind.RemoveMany, First = known, Count = random.Next(1, 300) },
            13 => change with { Kind = IdTreeChangeKind.RemoveAll },
            14 => change with { Kind = IdTreeChangeKind.DeleteRange, Count = random.Next(1, 3) },
            _ => change with { Kind = IdTreeChangeKind.Read, First = known },
        };
    }

    /// <summary>Returns a change that adds ids behind all others of a key.</summary>
    public static IdTreeChange Append(IdTreeContent content, string key, int count, long stride, int number)
    {
        var set = content.SetOf(key);
        return new IdTreeChange(IdTreeChangeKind.Add, key, set.IsEmpty ? 0 : set.Keys.Last() + 1, count, stride, number);
    }

    public static string NameOf(int number) => number == 3 ? $"key {number} {new string('k', 300)}" : $"key {number}";

    /// <summary>Makes the change in a transaction.</summary>
    /// <param name="tree">The tree.</param>
    /// <param name="before">What it has before.</param>
    /// <exception cref="CrashViolationException">The tree is wrong about what it has.</exception>
    public void ApplyTo(WriteIdTree tree, IdTreeContent before)
    {
        var changed = Math.Abs(ApplyTo(before).SetOf(Key).Count - before.SetOf(Key).Count);
        switch (Kind)
        {
            case IdTreeChangeKind.Add:
                foreach (var (id, payload) in Drawn())
                    tree.Add(KeyBytes, id, payload);
                break;
            case IdTreeChangeKind.AddMany:
                (long Id, byte Payload)[] added = [.. Drawn()];
                var more = tree.AddMany(KeyBytes, [.. added.Select(one => one.Id)], [.. added.Select(one => one.Payload)]);
                Require(more == changed, tree, $"says that {more} ids are new, and {changed} are");
                break;
            case IdTreeChangeKind.Remove:
                foreach (var (id, _) in Drawn())
                    tree.Remove(KeyBytes, id);
                break;
            case IdTreeChangeKind.RemoveMany:
                var less = tree.RemoveMany(KeyBytes, [.. Doomed(before)]);
                Require(less == changed, tree, $"says that {less} ids are gone, and {changed} are");
                break;
            case IdTreeChangeKind.RemoveAll:
                var all = tree.RemoveAll(KeyBytes);
                Require(all == changed, tree, $"says that {all} ids are gone, and {changed} are");
                break;
            case IdTreeChangeKind.DeleteRange:
                var keys = tree.DeleteRange(KeyRange.From(KeyBytes).Before(Encoding.ASCII.GetBytes(End)));
                Require(keys == before.Sets.Count - ApplyTo(before).Sets.Count, tree, $"says that {keys} keys are gone");
                break;
            default:
                Read(tree, before);
                break;
        }
    }

    /// <summary>Returns the content after the change.</summary>
    public IdTreeContent ApplyTo(IdTreeContent content)
    {
        var (first, end) = (Key, End);
        return Kind switch
        {
            IdTreeChangeKind.Add or IdTreeChangeKind.AddMany =>
                content.With(Key, content.SetOf(Key).SetItems(Drawn().Select(one => KeyValuePair.Create(one.Id, one.Payload)))),
            IdTreeChangeKind.Remove => content.With(Key, content.SetOf(Key).RemoveRange(Drawn().Select(one => one.Id))),
            IdTreeChangeKind.RemoveMany => content.With(Key, content.SetOf(Key).RemoveRange(Doomed(content))),
            IdTreeChangeKind.RemoveAll => content.Without([Key]),
            IdTreeChangeKind.DeleteRange => content.Without(
                content.Sets.Keys.Where(key => string.CompareOrdinal(key, first) >= 0 && string.CompareOrdinal(key, end) < 0)),
            _ => content,
        };
    }

    // The end of a range that begins with the key.
    private string End => $"key {Key[4] - '0' + Count}";

    private IEnumerable<(long Id, byte Payload)> Drawn()
    {
        for (var i = 0; i < Count; i++)
        {
            var jitter = Stride < 1_000 ? 0 : (long)((ulong)(Number + i) * 0x9E3779B97F4A7C15 >> 1) % Stride;
            yield return (First + i * Stride + jitter, Number % 3 == 0 ? (byte)0 : (byte)((Number >> 8) + i));
        }
    }

    // Ids in a row from the first one on, as far as there are any.
    private IEnumerable<long> Doomed(IdTreeContent content)
    {
        var first = First;
        return content.SetOf(Key).Keys.Where(id => id >= first).Take(Count);
    }

    private void Read(WriteIdTree tree, IdTreeContent before)
    {
        var set = before.SetOf(Key);
        Require(tree.CountOf(KeyBytes) == set.Count, tree, $"counts {tree.CountOf(KeyBytes)} ids of {set.Count}");
        var found = tree.TryGetPayload(KeyBytes, First, out var payload);
        Require(found == set.TryGetValue(First, out var known) && payload == known, tree, "is wrong about the first id");
        using var cursor = tree.OpenIds(KeyBytes);
        Require(cursor.SeekLast() == !set.IsEmpty && (set.IsEmpty || cursor.Id == set.Keys.Last()), tree, "has another last id");
    }

    private void Require(bool holds, WriteIdTree tree, string violation)
    {
        if (!holds)
            throw new CrashViolationException($"{this}: the id tree '{tree.Name}' {violation}.");
    }
}
