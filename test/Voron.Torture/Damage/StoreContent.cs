using System.Text;

namespace Voron.Torture.Damage;

/// <summary>The entries of all trees, as of one transaction.</summary>
internal sealed class StoreContent
{
    /// <summary>The trees by name, and the entries of each by key.</summary>
    public required IReadOnlyList<(string Tree, IReadOnlyList<(byte[] Key, byte[] Value)> Entries)> Trees { get; init; }

    /// <summary>Returns the current content of an environment.</summary>
    public static StoreContent Of(ReadTransaction reading)
    {
        var trees = new List<(string, IReadOnlyList<(byte[], byte[])>)>();
        foreach (var name in reading.GetTreeNames())
        {
            var entries = new List<(byte[], byte[])>();
            foreach (var entry in reading.OpenTree(name).GetEntries())
                entries.Add((entry.Key.ToArray(), entry.Value.ToArray()));
            trees.Add((name, entries));
        }
        return new StoreContent { Trees = trees };
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
            if (!Try(reports, () => CheckScan(reading.OpenTree(name), entries)))
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
                var found = reading.OpenTree(name).TryGet(key, out var actual);
                var what = found ? "has a wrong value for" : "does not have";
                Require(found && actual.SequenceEqual(value), $"'{name}' {what} {Encoding.ASCII.GetString(key)}");
            });
        }
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
