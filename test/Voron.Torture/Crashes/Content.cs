using System.Collections.Immutable;
using System.Text;

namespace Voron.Torture.Crashes;

/// <summary>All trees with all of their entries, as of one commit. Immutable.</summary>
internal sealed class Content
{
    public static readonly Content Empty = new(
        ImmutableSortedDictionary.Create<string, ImmutableSortedDictionary<string, ModelValue>>(StringComparer.Ordinal),
        ImmutableSortedDictionary.Create<string, TreeContent>(StringComparer.Ordinal));

    public static readonly ImmutableSortedDictionary<string, ModelValue> EmptyTree =
        ImmutableSortedDictionary.Create<string, ModelValue>(StringComparer.Ordinal);

    private ulong? _digest;

    private Content(
        ImmutableSortedDictionary<string, ImmutableSortedDictionary<string, ModelValue>> trees, ImmutableSortedDictionary<string, TreeContent> others)
        => (Trees, Others) = (trees, others);

    /// <summary>The ordinary trees.</summary>
    public ImmutableSortedDictionary<string, ImmutableSortedDictionary<string, ModelValue>> Trees { get; }

    /// <summary>The trees of other kinds.</summary>
    public ImmutableSortedDictionary<string, TreeContent> Others { get; }

    /// <summary>A digest that represents every tree, key and byte of the content.</summary>
    public ulong Digest => _digest ??= ComputeDigest();

    private IEnumerable<string> Names => Trees.Keys.Concat(Others.Keys).Order(StringComparer.Ordinal);

    public bool Has(string tree) => Trees.ContainsKey(tree) || Others.ContainsKey(tree);

    public Content With(string tree, ImmutableSortedDictionary<string, ModelValue> entries) => new(Trees.SetItem(tree, entries), Others);

    public Content With(string tree, TreeContent content) => new(Trees, Others.SetItem(tree, content));

    public Content Without(string tree) => new(Trees.Remove(tree), Others.Remove(tree));

    /// <summary>Returns the same digest for the content of an environment.</summary>
    public static ulong DigestOf(ReadTransaction reading)
    {
        var digest = new Digest();
        foreach (var name in reading.GetTreeNames())
        {
            digest.Add(Encoding.UTF8.GetBytes(name));
            if (TreeContent.TryDigest(reading, name, out var other))
            {
                digest.Add(other);
                continue;
            }

            var tree = reading.OpenTree(name);
            digest.Add((ulong)tree.Count);
            foreach (var entry in tree.GetEntries())
            {
                digest.Add(entry.Key);
                digest.Add(Crashes.Digest.Of(entry.Value));
            }
        }

        return digest.Value;
    }

    /// <summary>Describes where an environment differs.</summary>
    public string Compare(ReadTransaction reading)
    {
        var text = new StringBuilder();
        var names = reading.GetTreeNames();
        if (!names.SequenceEqual(Names))
            text.Append($"trees [{string.Join(", ", names)}] instead of [{string.Join(", ", Names)}]; ");
        foreach (var name in names.Where(Others.ContainsKey))
            text.Append(Others[name].Compare(reading, name));
        foreach (var name in names.Where(Trees.ContainsKey))
        {
            var expected = Trees[name];
            var tree = reading.OpenTree(name);
            var seen = new HashSet<string>();
            foreach (var entry in tree.GetEntries())
            {
                var key = Encoding.ASCII.GetString(entry.Key);
                seen.Add(key);
                if (!expected.TryGetValue(key, out var value))
                    text.Append($"{name}/{key} exists; ");
                else if (!entry.Value.SequenceEqual(value.ToBytes()))
                    text.Append($"{name}/{key} has {entry.Value.Length} other bytes than {value}; ");
                if (text.Length > 600)
                    return text.ToString();
            }

            foreach (var key in expected.Keys.Where(key => !seen.Contains(key)).Take(5))
                text.Append($"{name}/{key} is missing; ");
        }

        return text.Length == 0 ? "the same entries" : text.ToString();
    }

    private ulong ComputeDigest()
    {
        var digest = new Digest();
        foreach (var name in Names)
        {
            digest.Add(Encoding.UTF8.GetBytes(name));
            if (Others.TryGetValue(name, out var other))
            {
                digest.Add(other.Digest);
                continue;
            }

            var entries = Trees[name];
            digest.Add((ulong)entries.Count);
            foreach (var (key, value) in entries)
            {
                digest.Add(Encoding.ASCII.GetBytes(key));
                digest.Add(value.Digest);
            }
        }

        return digest.Value;
    }
}
