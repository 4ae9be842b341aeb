using System.Text;
using Voron.Torture.Crashes;
using Voron.Trees.Arrays;

namespace Voron.Torture.Damage;

/// <summary>The entries of all trees, as of one transaction.</summary>
internal sealed class StoreContent
{
    /// <summary>The trees by name, and the entries of each by key. Keys of fixed-size trees are bytes here.</summary>
    public required IReadOnlyList<(string Tree, IReadOnlyList<(byte[] Key, byte[] Value)> Entries)> Trees { get; init; }

    /// <summary>Returns the current content of an environment.</summary>
    public static StoreContent Of(ReadTransaction reading)
    {
        var trees = new List<(string, IReadOnlyList<(byte[], byte[])>)>();
        foreach (var name in reading.GetTreeNames())
        {
            var entries = new List<(byte[], byte[])>();
            if (FixedContent.IsName(name))
                AddFixed(entries, reading.OpenFixedTree(name));
            else
                AddPlain(entries, reading.OpenTree(name));
            trees.Add((name, entries));
        }

        return new StoreContent { Trees = trees };
    }

    private static void AddPlain(List<(byte[], byte[])> entries, Tree tree)
    {
        foreach (var entry in tree.GetEntries())
            entries.Add((entry.Key.ToArray(), entry.Value.ToArray()));
    }

    private static void AddFixed(List<(byte[], byte[])> entries, FixedTree tree)
    {
        using var cursor = tree.OpenCursor();
        while (cursor.MoveNext())
            entries.Add((ArrayKey.ToBytes(cursor.Key), cursor.Value.ToArray()));
    }

    /// <summary>Reads everything; unreadable parts must be reported, and everything that can be read must be right.</summary>
    /// <returns>The messages of all reports.</returns>
    /// <exception cref="Harness.BrokenPromiseException">A read returned something that does not exist, or missed something that
    /// does.</exception>
    public IReadOnlyList<string> Compare(ReadTransaction reading)
    {
        var reports = new List<string>();
        if (!Try(reports, () => CheckNames(reading.GetTreeNames())))
            return reports;
        foreach ((var name, var entries) in Trees)
        {
            // A page on the way may be damaged: the entries elsewhere must still be present.
            if (!Try(reports, () => CheckScan(reading, name, entries)))
                CheckEach(reports, reading, name, entries);
        }
        return reports;
    }

    private static void CheckEach(List<string> reports, ReadTransaction reading, string name, IReadOnlyList<(byte[] Key, byte[] Value)> entries)
    {
        foreach ((var key, var value) in entries)
        {
            Try(reports, () =>
            {
                var actual = Get(reading, name, key);
                var what = actual != null ? "has a wrong value for" : "does not have";
                Require(actual.AsSpan().SequenceEqual(value) && actual != null, $"'{name}' {what} {Encoding.ASCII.GetString(key)}");
            });
        }
    }

    private static byte[]? Get(ReadTransaction reading, string name, byte[] key)
    {
        if (!FixedContent.IsName(name))
            return reading.OpenTree(name).TryGet(key, out var value) ? value.ToArray() : null;
        return reading.OpenFixedTree(name).TryGet(ArrayKey.FromBytes(key), out var bytes) ? bytes.ToArray() : null;
    }

    private static void CheckScan(ReadTransaction reading, string name, IReadOnlyList<(byte[] Key, byte[] Value)> entries)
    {
        if (FixedContent.IsName(name))
            CheckScan(reading.OpenFixedTree(name), entries);
        else
            CheckScan(reading.OpenTree(name), entries);
    }

    private static void CheckScan(FixedTree tree, IReadOnlyList<(byte[] Key, byte[] Value)> entries)
    {
        var at = 0;
        using var cursor = tree.OpenCursor();
        for (; cursor.MoveNext(); at++)
        {
            Require(at < entries.Count && cursor.Key == ArrayKey.FromBytes(entries[at].Key), $"'{tree.Name}' has the wrong key {at}");
            Require(cursor.Value.SequenceEqual(entries[at].Value), $"'{tree.Name}' has a wrong value at entry {at}");
        }

        Require(at == entries.Count && tree.Count == at, $"'{tree.Name}' counts {tree.Count} entries, and ends at entry {at} of {entries.Count}");
    }

    private static void CheckScan(Tree tree, IReadOnlyList<(byte[] Key, byte[] Value)> entries)
    {
        var at = 0;
        foreach (var entry in tree.GetEntries())
        {
            Require(at < entries.Count && entry.Key.SequenceEqual(entries[at].Key), $"'{tree.Name}' has the wrong key {at}");
            Require(entry.Value.SequenceEqual(entries[at].Value), $"'{tree.Name}' has a wrong value at entry {at}");
            at++;
        }
        Require(at == entries.Count, $"'{tree.Name}' ends at entry {at} of {entries.Count}");
        Require(tree.Count == entries.Count, $"'{tree.Name}' counts {tree.Count} entries of {entries.Count}");
    }

    private void CheckNames(IReadOnlyList<string> names) =>
        Require(names.SequenceEqual(Trees.Select(tree => tree.Tree)), $"the trees are {string.Join(", ", names)}");

    private static bool Try(List<string> reports, Action check)
    {
        try
        {
            check();
            return true;
        }
        catch (VoronException e)
        {
            reports.Add(e.Message);
            return false;
        }
    }

    private static void Require(bool holds, string message) => Harness.BrokenPromiseException.Require(holds, message);
}
