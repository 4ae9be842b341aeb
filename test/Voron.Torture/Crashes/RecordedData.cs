using System.Collections.Immutable;
using Voron.Torture.Recorded;

namespace Voron.Torture.Crashes;

/// <summary>
/// The entries of the tree of a <see cref="RecordedStore"/> and the rows of its tables, as of one commit: numbers from which bytes follow. It stands
/// for the tree of that name, without which there are no tables and no feed.
/// </summary>
internal sealed class RecordedData : TreeContent
{
    public static readonly RecordedData Empty = new(ImmutableSortedDictionary<int, int>.Empty, ImmutableSortedDictionary<int, int>.Empty);

    private RecordedData(ImmutableSortedDictionary<int, int> entries, ImmutableSortedDictionary<int, int> rows) =>
        (Entries, Rows) = (entries, rows);

    public ImmutableSortedDictionary<int, int> Entries { get; }

    public ImmutableSortedDictionary<int, int> Rows { get; }

    public static bool IsName(string name) => name == RecordedStore.TreeName;

    public RecordedData WithEntries(ImmutableSortedDictionary<int, int> entries) => new(entries, Rows);

    public RecordedData WithRows(ImmutableSortedDictionary<int, int> rows) => new(Entries, rows);

    public static ulong DigestOf(ReadTransaction reading)
    {
        var digest = new Digest();
        foreach (var entry in reading.OpenTree(RecordedStore.TreeName).GetEntries())
        {
            digest.Add(entry.Key);
            digest.Add((ulong)RecordedRow.NumberOf(entry.Value));
        }

        foreach (var (key, number) in RecordedStore.ReadRows(reading))
            Add(ref digest, key, number);
        return digest.Value;
    }

    public override string Compare(ReadTransaction reading, string name)
    {
        var found = RecordedStore.ReadRows(reading);
        foreach (var (key, number) in Rows)
        {
            if (!found.Remove(key, out var other) || other != number)
                return $"row {key} is {(other == 0 ? "missing" : $"that of {other}")} instead of that of {number}; ";
        }

        var tree = reading.OpenTree(name);
        foreach (var (key, number) in Entries)
        {
            if (!tree.TryGet(RecordedStore.KeyOf(key), out var value) || RecordedRow.NumberOf(value) != number)
                return $"{name}/{key} does not have the bytes of {number}; ";
        }

        var more = found.Count > 0 ? $"row {found.Keys.First()} exists; " : "";
        return tree.Count == Entries.Count ? more : $"{more}{name} counts {tree.Count} entries of {Entries.Count}; ";
    }

    protected override ulong ComputeDigest()
    {
        var digest = new Digest();
        foreach (var (key, number) in Entries)
        {
            digest.Add(RecordedStore.KeyOf(key));
            digest.Add((ulong)number);
        }

        foreach (var (key, number) in Rows)
            Add(ref digest, key, number);
        return digest.Value;
    }

    private static void Add(ref Digest digest, int key, int number)
    {
        digest.Add((ulong)key);
        digest.Add((ulong)number);
    }
}
