using System.Text;
using Voron.Format;
using Voron.Simulation.Harness;
using Voron.Torture.Crashes;
using Voron.Torture.Recorded;
using Voron.Trees;
using Voron.Trees.Pages;

namespace Voron.Torture.Damage;

/// <summary>The entries of all trees, as of one transaction.</summary>
internal sealed class StoreContent
{
    /// <summary>The trees by name, and the entries of each by key. Keys of fixed-size trees are bytes. Sets have classes of their own.</summary>
    public required IReadOnlyList<(string Tree, IReadOnlyList<(byte[] Key, byte[] Value)> Entries)> Trees { get; init; }

    /// <summary>The names in the catalog of the trees of tables and feeds, by the descriptions that they have in <see cref="Trees"/>.</summary>
    public required IReadOnlyDictionary<string, byte[]> SystemNames { get; init; }

    /// <summary>The names of the user's trees.</summary>
    public IEnumerable<string> Names => Trees.Select(tree => tree.Tree).Where(name => !SystemNames.ContainsKey(name));

    /// <summary>True if there are the tables and the feed of a <see cref="RecordedStore"/>.</summary>
    public bool HasRecorded => Names.Contains(RecordedStore.TreeName);

    /// <summary>Returns the current content of an environment.</summary>
    public static StoreContent Of(ReadTransaction reading)
    {
        var trees = new List<(string, IReadOnlyList<(byte[], byte[])>)>();
        foreach (var name in reading.GetTreeNames())
        {
            trees.Add((name, FixedContent.IsName(name) ? EntriesOf(reading.OpenFixedTree(name))
                : IdTreeContent.IsName(name) ? IdEntries.Of(reading.OpenIdTree(name))
                : ValueSetContent.IsName(name) ? ValueSetEntries.Of(reading.OpenValueSetTree(name))
                : EntriesOf(reading.OpenTree(name))));
        }

        var system = new Dictionary<string, byte[]>();
        foreach (var (name, header) in reading.GetSystemTrees())
        {
            if (header.Kind != TreeKind.Plain || !reading.TryFindTree(name, out Tree tree))
                continue;
            trees.Add((SystemTree.Describe(name), EntriesOf(tree)));
            system.Add(SystemTree.Describe(name), name);
        }

        return new StoreContent { Trees = trees, SystemNames = system };
    }

    private static List<(byte[] Key, byte[] Value)> EntriesOf(Tree tree)
    {
        var entries = new List<(byte[], byte[])>();
        foreach (var entry in tree.GetEntries())
            entries.Add((entry.Key.ToArray(), entry.Value.ToArray()));
        return entries;
    }

    private static List<(byte[] Key, byte[] Value)> EntriesOf(FixedTree tree)
    {
        var entries = new List<(byte[], byte[])>();
        using var cursor = tree.OpenCursor();
        while (cursor.MoveNext())
            entries.Add((ArrayKey.ToBytes(cursor.Key), cursor.Value.ToArray()));
        return entries;
    }

    /// <summary>Reads everything; unreadable parts must be reported, and everything that can be read must be right.</summary>
    /// <returns>The messages of all reports.</returns>
    /// <exception cref="BrokenPromiseException">A read returned something that does not exist, or missed something that
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

    private void CheckEach(List<string> reports, ReadTransaction reading, string name, IReadOnlyList<(byte[] Key, byte[] Value)> entries)
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

    private byte[]? Get(ReadTransaction reading, string name, byte[] key)
    {
        if (IdTreeContent.IsName(name))
            return reading.OpenIdTree(name).TryGetPayload(IdEntries.KeyOf(key), IdEntries.IdOf(key), out var payload) ? [payload] : null;
        if (ValueSetContent.IsName(name))
            return reading.OpenValueSetTree(name).Contains(ValueSetEntries.KeyOf(key), ValueSetEntries.ValueOf(key)) ? [] : null;
        if (!FixedContent.IsName(name))
            return OpenPlain(reading, name).TryGet(key, out var value) ? value.ToArray() : null;
        return reading.OpenFixedTree(name).TryGet(ArrayKey.FromBytes(key), out var bytes) ? bytes.ToArray() : null;
    }

    private Tree OpenPlain(ReadTransaction reading, string name)
    {
        if (!SystemNames.TryGetValue(name, out var system))
            return reading.OpenTree(name);
        Require(reading.TryFindTree(system, out Tree tree), $"the {name} is missing");
        return tree;
    }

    private void CheckScan(ReadTransaction reading, string name, IReadOnlyList<(byte[] Key, byte[] Value)> entries)
    {
        if (FixedContent.IsName(name))
            CheckScan(reading.OpenFixedTree(name), entries);
        else if (IdTreeContent.IsName(name))
            CheckScan(reading.OpenIdTree(name), entries);
        else if (ValueSetContent.IsName(name))
            CheckScan(reading.OpenValueSetTree(name), entries);
        else
            CheckScan(OpenPlain(reading, name), name, entries);
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

    private static void CheckScan(IdTree tree, IReadOnlyList<(byte[] Key, byte[] Value)> entries)
    {
        var found = IdEntries.Of(tree);
        for (var at = 0; at < Math.Min(found.Count, entries.Count); at++)
        {
            var isRight = found[at].Key.AsSpan().SequenceEqual(entries[at].Key) && found[at].Value.AsSpan().SequenceEqual(entries[at].Value);
            Require(isRight, $"'{tree.Name}' has another id, or another payload, at entry {at}");
        }

        var isWhole = found.Count == entries.Count && tree.ValueCount == found.Count;
        Require(isWhole, $"'{tree.Name}' counts {tree.ValueCount} ids, and has {found.Count} of {entries.Count}");
    }

    private static void CheckScan(ValueSetTree tree, IReadOnlyList<(byte[] Key, byte[] Value)> entries)
    {
        var found = ValueSetEntries.Of(tree);
        for (var at = 0; at < Math.Min(found.Count, entries.Count); at++)
            Require(found[at].Key.AsSpan().SequenceEqual(entries[at].Key), $"'{tree.Name}' has another value at entry {at}");
        var isWhole = found.Count == entries.Count && tree.ValueCount == found.Count;
        Require(isWhole, $"'{tree.Name}' counts {tree.ValueCount} values, and has {found.Count} of {entries.Count}");
    }

    private static void CheckScan(Tree tree, string name, IReadOnlyList<(byte[] Key, byte[] Value)> entries)
    {
        var at = 0;
        foreach (var entry in tree.GetEntries())
        {
            Require(at < entries.Count && entry.Key.SequenceEqual(entries[at].Key), $"'{name}' has the wrong key {at}");
            Require(entry.Value.SequenceEqual(entries[at].Value), $"'{name}' has a wrong value at entry {at}");
            at++;
        }
        Require(at == entries.Count, $"'{name}' ends at entry {at} of {entries.Count}");
        Require(tree.Count == entries.Count, $"'{name}' counts {tree.Count} entries of {entries.Count}");
    }

    private void CheckNames(IReadOnlyList<string> names) =>
        Require(names.SequenceEqual(Names), $"the trees are {string.Join(", ", names)}");

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

    private static void Require(bool holds, string message) => BrokenPromiseException.Require(holds, message);
}
