using System.Collections.Immutable;
using System.Text;

namespace Voron.Torture.Crashes;

/// <summary>The sets of an id tree, as of one commit: the ids of each key, with their payloads.</summary>
internal sealed class IdTreeContent : TreeContent
{
    public static readonly IdTreeContent Empty =
        new(ImmutableSortedDictionary.Create<string, ImmutableSortedDictionary<long, byte>>(StringComparer.Ordinal));

    private const string Prefix = "ids";
    private const int IdsAtOnce = 256;

    private IdTreeContent(ImmutableSortedDictionary<string, ImmutableSortedDictionary<long, byte>> sets) => Sets = sets;

    /// <summary>The sets by key; none is empty.</summary>
    public ImmutableSortedDictionary<string, ImmutableSortedDictionary<long, byte>> Sets { get; }

    /// <summary>Returns whether an id tree, and no other, may have a name.</summary>
    public static bool IsName(string name) => name.StartsWith(Prefix, StringComparison.Ordinal);

    public ImmutableSortedDictionary<long, byte> SetOf(string key) => Sets.GetValueOrDefault(key, ImmutableSortedDictionary<long, byte>.Empty);

    public IdTreeContent With(string key, ImmutableSortedDictionary<long, byte> set) => new(set.IsEmpty ? Sets.Remove(key) : Sets.SetItem(key, set));

    public IdTreeContent Without(IEnumerable<string> keys) => new(Sets.RemoveRange(keys));

    public static ulong DigestOf(IdTree tree)
    {
        var digest = new Digest();
        digest.Add((ulong)tree.Count);
        digest.Add((ulong)tree.ValueCount);
        using var keys = tree.OpenCursor();
        Span<long> ids = stackalloc long[IdsAtOnce];
        Span<byte> payloads = stackalloc byte[IdsAtOnce];
        while (keys.MoveNext())
        {
            digest.Add(keys.Key);
            digest.Add((ulong)keys.Count);
            using var cursor = keys.OpenIds();
            for (int found; (found = cursor.Fill(ids, payloads)) > 0;)
            {
                for (var i = 0; i < found; i++)
                    Add(ref digest, ids[i], payloads[i]);
            }
        }

        return digest.Value;
    }

    public override string Compare(ReadTransaction reading, string name)
    {
        var tree = reading.OpenIdTree(name);
        using var keys = tree.OpenCursor();
        foreach (var (key, set) in Sets)
        {
            if (!keys.MoveNext() || !keys.Key.SequenceEqual(Encoding.ASCII.GetBytes(key)))
                return $"{name} has {(keys.IsOnKey ? $"key {Encoding.ASCII.GetString(keys.Key)}" : "no more keys")} where {key} should be; ";
            using var ids = keys.OpenIds();
            foreach (var (id, payload) in set)
            {
                if (!ids.MoveNext() || ids.Id != id)
                    return $"{name}/{key} has {(ids.IsOnId ? $"id {ids.Id}" : "no more ids")} where {id} should be; ";
                if (ids.Payload != payload)
                    return $"{name}/{key} has the payload {ids.Payload} instead of {payload} for id {id}; ";
            }

            if (ids.MoveNext() || keys.Count != set.Count)
                return $"{name}/{key} counts {keys.Count} ids of {set.Count}; ";
        }

        var more = keys.MoveNext() ? $"{name}/{Encoding.ASCII.GetString(keys.Key)} exists; " : "";
        var values = Sets.Values.Sum(set => (long)set.Count);
        return tree.Count == Sets.Count && tree.ValueCount == values
            ? more
            : $"{more}{name} counts {tree.Count} keys of {Sets.Count} and {tree.ValueCount} ids of {values}; ";
    }

    protected override ulong ComputeDigest()
    {
        var digest = new Digest();
        digest.Add((ulong)Sets.Count);
        digest.Add((ulong)Sets.Values.Sum(set => (long)set.Count));
        foreach (var (key, set) in Sets)
        {
            digest.Add(Encoding.ASCII.GetBytes(key));
            digest.Add((ulong)set.Count);
            foreach (var (id, payload) in set)
                Add(ref digest, id, payload);
        }

        return digest.Value;
    }

    private static void Add(ref Digest digest, long id, byte payload)
    {
        digest.Add((ulong)id);
        digest.Add(payload);
    }
}
