using System.Collections.Immutable;

namespace Voron.Torture.Model;

/// <summary>A read transaction with the state that it has to show for as long as it is open.</summary>
internal sealed record ModelReader(ReadTransaction Transaction, ModelState State)
{
    /// <summary>Compares everything.</summary>
    public void CheckAll(ModelHistory history)
    {
        history.Add("read everything as of " + Transaction.TransactionId);
        var names = Transaction.GetTreeNames();
        if (!State.HasNames(names))
            throw new ModelMismatchException($"trees are {string.Join(",", names)}, and should be {string.Join(",", State.Trees.Keys)}");
        foreach (var (name, entries) in State.Trees)
            ModelReading.CheckTree(Transaction.OpenTree(name), entries);
        if (State.FixedTree != null)
            ModelFixedTree.CheckAll(Transaction.OpenFixedTree(ModelFixedTree.Name), State.FixedTree);
        if (State.IdSets != null)
            ModelIdTree.CheckAll(Transaction.OpenIdTree(ModelIdTree.Name), State.IdSets);
        if (State.ValueSets != null)
            ModelValueSetTree.CheckAll(Transaction.OpenValueSetTree(ModelValueSetTree.Name), State.ValueSets);
    }

    /// <summary>Compares some keys.</summary>
    public void CheckSome(ModelHistory history, Random random)
    {
        foreach (var (name, entries) in State.Trees)
        {
            if (entries.Count == 0 || random.Next(2) == 0)
                continue;
            if (!Transaction.TryOpenTree(name, out var tree) || Transaction.TryOpenTree("no such tree", out _))
                throw new ModelMismatchException($"tree '{name}' is missing, or one exists that was never made");
            if (random.Next(4) == 0)
                ModelReading.CheckMany(tree, entries, random);
            for (var i = random.Next(1, 6); i > 0; i--)
            {
                var entry = entries[random.Next(entries.Count)];
                history.Add("get as of " + Transaction.TransactionId, name, entry.Key);
                ModelReading.CheckGet(tree, entry.Key, entry);
                if (random.Next(8) == 0)
                    ModelReading.CheckStream(tree, entry.Key, entry, random);
            }
        }
    }
}

/// <summary>Compares the content of a tree with the model.</summary>
internal static class ModelReading
{
    public static void CheckTree(Tree tree, ImmutableSortedSet<ModelEntry> entries)
    {
        if (tree.Count != entries.Count)
            throw new ModelMismatchException($"tree '{tree.Name}' counts {tree.Count} entries, and should have {entries.Count}");
        using var cursor = tree.OpenCursor();
        foreach (var expected in entries)
        {
            if (!cursor.MoveNext())
                throw new ModelMismatchException($"tree '{tree.Name}' ends before its last key", expected.Key);
            CheckEntry(tree.Name, cursor, expected);
        }

        if (cursor.MoveNext())
            throw new ModelMismatchException($"tree '{tree.Name}' continues behind its last key", cursor.Key.ToArray());

        // Checks the same backwards, and by the enumerator.
        var at = entries.Count;
        while (cursor.MovePrevious())
            CheckEntry(tree.Name, cursor, at > 0 ? entries[--at] : throw new ModelMismatchException($"tree '{tree.Name}' continues before its first key"));
        foreach (var entry in tree.GetEntries())
        {
            if (at == entries.Count || !entry.Key.SequenceEqual(entries[at].Key) || !entry.Value.SequenceEqual(entries[at].Value))
                throw new ModelMismatchException($"tree '{tree.Name}' is wrong at entry {at} of {entries.Count}", entry.Key.ToArray());
            at++;
        }

        var statistics = tree.GetStatistics();
        if (at != entries.Count || statistics.Entries != entries.Count || (statistics.Depth == 0) != (entries.Count == 0)
            || (statistics.LeafPages == 0) != (entries.Count == 0) || (statistics.BranchPages > 0) != (statistics.Depth > 1))
            throw new ModelMismatchException($"tree '{tree.Name}' has {at} entries of {entries.Count}, and says {statistics}");
    }

    /// <summary>Compares existing and missing keys, all in one batch.</summary>
    public static void CheckMany(Tree tree, ImmutableSortedSet<ModelEntry> entries, Random random)
    {
        var batch = new LookupBatch();
        var expected = new List<ModelEntry>();
        for (var i = random.Next(100); i > 0 && entries.Count > 0; i--)
        {
            var entry = entries[random.Next(entries.Count)];
            var isThere = random.Next(4) > 0;
            var key = isThere ? entry.Key : [.. entry.Key, 7, 7];
            if (!isThere && entries.Contains(new ModelEntry(key, 0, 0)))
                continue;
            batch.Add(key);
            expected.Add(isThere ? entry : default);
        }

        var found = tree.GetMany(batch);
        for (var i = 0; i < expected.Count; i++)
        {
            var has = batch.TryGetValue(i, out var value);
            if (has != (expected[i].Key != null) || (has && !value.SequenceEqual(expected[i].Value)))
                throw new ModelMismatchException($"tree '{tree.Name}' is wrong about key {i} of {expected.Count}", batch.Key(i).ToArray());
            found -= has ? 1 : 0;
        }

        if (found != 0 || batch.Count != expected.Count)
            throw new ModelMismatchException($"tree '{tree.Name}' counts {found} keys too many in a batch of {batch.Count}");
    }

    public static void CheckEntry(string tree, Cursor cursor, ModelEntry expected)
    {
        if (!cursor.Key.SequenceEqual(expected.Key))
            throw new ModelMismatchException($"tree '{tree}' has key {ModelHistory.Name(cursor.Key.ToArray())} where another should be", expected.Key);
        if (cursor.ValueLength != expected.Length)
            throw new ModelMismatchException($"tree '{tree}' has a value of {cursor.ValueLength} bytes, and should have {expected.Length}", expected.Key);
        if (!cursor.Value.SequenceEqual(expected.Value))
            throw new ModelMismatchException($"tree '{tree}' has a wrong value of {expected.Length} bytes", expected.Key);
    }

    /// <param name="expected">The expected entry; without a key if there should be none.</param>
    public static void CheckGet(Tree tree, byte[] key, ModelEntry expected)
    {
        var found = tree.TryGet(key, out var value);
        if (found != (expected.Key != null))
            throw new ModelMismatchException($"tree '{tree.Name}' {(found ? "has" : "does not have")} the key", key);
        if (found && !value.SequenceEqual(expected.Value))
            throw new ModelMismatchException($"tree '{tree.Name}' has a wrong value ({value.Length} bytes, should be {expected.Length})", key);
        if (tree.TryGetLength(key, out var length) != found || length != value.Length)
            throw new ModelMismatchException($"tree '{tree.Name}' has a value of {value.Length} bytes, and says that its length is {length}", key);
        if (!tree.Get(key).AsSpan().SequenceEqual(value))
            throw new ModelMismatchException($"tree '{tree.Name}' returns a wrong copy of the value", key);
    }

    public static void CheckStream(Tree tree, byte[] key, ModelEntry expected, Random random)
    {
        if (!tree.TryOpenStream(key, out var stream))
            throw new ModelMismatchException($"tree '{tree.Name}' opens no stream", key);
        using (stream)
        {
            if (stream.Length != expected.Length)
                throw new ModelMismatchException($"the stream has {stream.Length} bytes, and should have {expected.Length}", key);
            var bytes = new byte[expected.Length];
            stream.ReadExactly(bytes);
            if (!expected.Value.SequenceEqual(bytes))
                throw new ModelMismatchException("the stream has wrong bytes", key);
            if (stream.ReadByte() >= 0)
                throw new ModelMismatchException("the stream continues beyond its end", key);

            // Reads from a random position, piece by piece.
            var at = random.Next(expected.Length + 1);
            stream.Seek(at, SeekOrigin.Begin);
            while (at < expected.Length)
            {
                var read = stream.Read(bytes, 0, Math.Min(bytes.Length, 1 + random.Next(70_000)));
                if (read <= 0 || stream.Position != at + read || !expected.Value.Slice(at, read).SequenceEqual(bytes.AsSpan(0, read)))
                    throw new ModelMismatchException($"the stream has wrong bytes at {at}", key);
                at += read;
            }
        }
    }
}
