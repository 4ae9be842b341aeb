using System.Text;

namespace Voron.Torture.Damage;

/// <summary>The entries of all trees, as of one transaction.</summary>
internal sealed class StoreContent
{
    /// <summary>By name, and within a tree by key.</summary>
    public required IReadOnlyList<(string Tree, IReadOnlyList<(byte[] Key, byte[] Value)> Entries)> Trees { get; init; }

    /// <summary>What an environment has now.</summary>
    public static StoreContent Of(ReadTransaction reading)
    {
        var trees = new List<(string, IReadOnlyList<(byte[], byte[])>)>();
        foreach (string name in reading.GetTreeNames())
        {
            var entries = new List<(byte[], byte[])>();
            foreach (TreeEntry entry in reading.OpenTree(name).GetEntries())
                entries.Add((entry.Key.ToArray(), entry.Value.ToArray()));
            trees.Add((name, entries));
        }
        return new StoreContent { Trees = trees };
    }

    /// <summary>Goes over everything; what cannot be read is told, what is read is right.</summary>
    /// <returns>The messages of all that was told.</returns>
    /// <exception cref="Harness.BrokenPromiseException">Something that is not there was read, or something that is there was not.</exception>
    public IReadOnlyList<string> Compare(ReadTransaction reading)
    {
        var told = new List<string>();
        if (!Try(told, () => CheckNames(reading.GetTreeNames())))
            return told;
        foreach ((string name, IReadOnlyList<(byte[] Key, byte[] Value)> entries) in Trees)
        {
            // A page on the way may be damaged: what lies elsewhere still has to be there.
            if (!Try(told, () => CheckScan(reading.OpenTree(name), entries)))
                CheckEach(told, reading, name, entries);
        }
        return told;
    }

    private static void CheckEach(List<string> told, ReadTransaction reading, string name, IReadOnlyList<(byte[] Key, byte[] Value)> entries)
    {
        foreach ((byte[] key, byte[] value) in entries)
        {
            Try(told, () =>
            {
                bool found = reading.OpenTree(name).TryGet(key, out ReadOnlySpan<byte> actual);
                string what = found ? "has a wrong value for" : "has not";
                Require(found && actual.SequenceEqual(value), $"'{name}' {what} {Encoding.ASCII.GetString(key)}");
            });
        }
    }

    private static void CheckScan(Tree tree, IReadOnlyList<(byte[] Key, byte[] Value)> entries)
    {
        int at = 0;
        foreach (TreeEntry entry in tree.GetEntries())
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

    private static bool Try(List<string> told, Action check)
    {
        try
        {
            check();
            return true;
        }
        catch (VoronException e)
        {
            told.Add(e.Message);
            return false;
        }
    }

    private static void Require(bool holds, string message) => Harness.BrokenPromiseException.Require(holds, message);
}

/// <summary>Where a record stands.</summary>
/// <param name="TransactionId">The transaction; 0 when it is of another kind.</param>
internal readonly record struct RecordPlace(string File, long Offset, long Length, long TransactionId)
{
    public bool IsHit(string file, IReadOnlyList<(long Offset, long Length)> ranges)
    {
        (string own, long from, long end) = (File, Offset, Offset + Length);
        return own == file && ranges.Any(range => range.Offset < end && range.Offset + range.Length > from);
    }
}

/// <summary>The files of an environment at some moment, and what it then has.</summary>
/// <param name="Name">What is special about the moment.</param>
/// <param name="Files">The files.</param>
/// <param name="LastTransaction">The newest that has been acknowledged.</param>
/// <param name="Contents">What each of the newest transactions has left, by its id.</param>
internal sealed record StoreImage(string Name, StoreFiles Files, long LastTransaction, IReadOnlyDictionary<long, StoreContent> Contents)
{
    /// <summary>
    /// Where the records of the journal stand, in order. If one rots and all behind it, which vouch for it, they look like writes that
    /// were under way.
    /// </summary>
    public required IReadOnlyList<RecordPlace> Records { get; init; }

    /// <summary>What of the data file something depends on.</summary>
    public required NeededBytes Needed { get; init; }

    /// <summary>The options with which it was made, and is opened.</summary>
    public required TornPageProtection Form { get; init; }
}
