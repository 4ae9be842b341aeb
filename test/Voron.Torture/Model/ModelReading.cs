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
        if (!names.SequenceEqual(State.Trees.Keys))
            throw new ModelMismatchException($"trees are {string.Join(",", names)}, and should be {string.Join(",", State.Trees.Keys)}");
        foreach (var (name, entries) in State.Trees)
            ModelReading.CheckTree(Transaction.OpenTree(name), entries);
    }

    /// <summary>Compares some keys.</summary>
    public void CheckSome(ModelHistory history, Random random)
    {
        foreach (var (name, entries) in State.Trees)
        {
            if (entries.Count == 0 || random.Next(2) == 0)
                continue;
            var tree = Transaction.OpenTree(name);
            for (var i = random.Next(1, 6); i > 0; i--)
            {
                var entry = entries[random.Next(entries.Count)];
                history.Add("get as of " + Transaction.TransactionId, name, entry.Key);
                ModelReading.CheckGet(tree, entry.Key, entry);
            }
        }
    }
}

/// <summary>Compares what a tree says with what the model has.</summary>
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
            throw new ModelMismatchException($"tree '{tree.Name}' goes on behind its last key", cursor.Key.ToArray());
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

    /// <param name="expected">Without a key when there should be no such entry.</param>
    public static void CheckGet(Tree tree, byte[] key, ModelEntry expected)
    {
        var found = tree.TryGet(key, out var value);
        if (found != (expected.Key != null))
            throw new ModelMismatchException($"tree '{tree.Name}' {(found ? "has" : "has not")} the key", key);
        if (found && !value.SequenceEqual(expected.Value))
            throw new ModelMismatchException($"tree '{tree.Name}' has a wrong value ({value.Length} bytes, should be {expected.Length})", key);
    }

    public static void CheckStream(Tree tree, byte[] key, ModelEntry expected)
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
        }
    }
}
