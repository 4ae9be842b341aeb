namespace Voron.Analyzers.Tests.Snippets;

/// <summary>Code that uses spans while they are valid.</summary>
internal static class ValidSpanSnippets
{
    public static readonly SnippetData All = new()
    {
        ["a span inside the using statement"] = """
            void M()
            {
                using (var tx = env.BeginRead())
                {
                    if (tx.OpenTree("a").TryGet(key, out var value))
                        Use(value);
                }
            }
            """,
        ["a copy that is returned"] = """
            byte[]? M()
            {
                using var tx = env.BeginRead();
                return tx.OpenTree("a").TryGet(key, out var value) ? value.ToArray() : null;
            }
            """,
        ["text that is returned"] = """
            string M()
            {
                using var tx = env.BeginRead();
                tx.OpenTree("a").TryGet(key, out var value);
                return Encoding.UTF8.GetString(value);
            }
            """,
        ["a copy in an out parameter"] = """
            bool M(out byte[] copy)
            {
                using var tx = env.BeginRead();
                var found = tx.OpenTree("a").TryGet(key, out var value);
                copy = value.ToArray();
                return found;
            }
            """,
        ["a span of a tree that the caller gave"] = """
            ReadOnlySpan<byte> M(in Tree tree) => tree.TryGet("k"u8, out var value) ? value : default;
            """,
        ["a span in an out parameter of a tree that lives on"] = """
            Tree tree;
            bool M(out ReadOnlySpan<byte> value) => tree.TryGet("k"u8, out value);
            """,
        ["the length after the end"] = """
            int M()
            {
                scoped ReadOnlySpan<byte> value;
                using (var tx = env.BeginRead())
                    tx.OpenTree("a").TryGet(key, out value);
                return value.IsEmpty ? 0 : value.Length;
            }
            """,
        ["a span that is read again after the write"] = """
            void M(WriteTree tree)
            {
                tree.TryGet(key, out var value);
                Use(value);
                tree.Put(key, "x"u8);
                tree.TryGet(key, out value);
                Use(value);
            }
            """,
        ["a span that the write itself uses"] = """
            void M(WriteTree tree)
            {
                if (tree.TryGet(key, out var value))
                    tree.Put("b"u8, value);
            }
            """,
        ["a span after a call that only reads"] = """
            void M(WriteTree tree)
            {
                tree.TryGet(key, out var value);
                Use(tree.Count);
                tree.Contains("b"u8);
                using var cursor = tree.OpenCursor();
                cursor.SeekFirst();
                Use(value);
            }
            """,
        ["a span after an insert that has changed nothing"] = """
            void M(WriteTree tree)
            {
                tree.TryGet(key, out var value);
                if (!tree.Insert("b"u8, "x"u8))
                    Use(value);
            }
            """,
        ["a span after a delete whose result is kept"] = """
            void M(WriteTree tree)
            {
                tree.TryGet(key, out var value);
                var isDeleted = tree.Delete("b"u8);
                if (!isDeleted)
                    Use(value);
            }
            """,
        ["a write in another transaction"] = """
            void M()
            {
                using var reading = env.BeginRead();
                using var writing = env.BeginWrite();
                var target = writing.CreateTree("b");
                foreach (var entry in reading.OpenTree("a").GetEntries())
                {
                    target.Put(entry.Key, entry.Value);
                    Use(entry.Key);
                }

                writing.Commit();
            }
            """,
        ["a write on the other path"] = """
            void M(WriteTree tree)
            {
                tree.TryGet(key, out var value);
                if (Condition())
                    tree.Put("b"u8, "x"u8);
                else
                    Use(value);
            }
            """,
        ["a write behind a condition that may exclude the use"] = """
            void M(WriteTree tree, bool isNew)
            {
                tree.TryGet(key, out var value);
                if (isNew)
                    tree.Put("b"u8, "x"u8);
                if (!isNew)
                    Use(value);
            }
            """,
        ["a dispose behind a condition that may exclude the use"] = """
            void M(bool isLast)
            {
                var tx = env.BeginRead();
                tx.OpenTree("a").TryGet(key, out var value);
                if (isLast)
                    tx.Dispose();
                if (!isLast)
                {
                    Use(value);
                    tx.Dispose();
                }
            }
            """,
        ["a loop that reads each span again"] = """
            void M(WriteTree tree, byte[][] keys)
            {
                foreach (var each in keys)
                {
                    if (tree.TryGet(each, out var value))
                        tree.Put(each.AsSpan(1), value);
                }
            }
            """,
        ["a loop that opens a transaction in each turn"] = """
            void M(string[] names)
            {
                scoped ReadOnlySpan<byte> value = default;
                foreach (var name in names)
                {
                    using var tx = env.BeginRead();
                    if (tx.OpenTree(name).TryGet(key, out value))
                        Use(value);
                }
            }
            """,
        ["a loop that copies the previous key"] = """
            void M(Tree tree)
            {
                byte[] previous = [];
                foreach (var entry in tree.GetEntries())
                {
                    if (entry.Key.SequenceCompareTo(previous) > 0)
                        previous = entry.Key.ToArray();
                }
            }
            """,
        ["the caller's own memory"] = """
            void M(ReadOnlySpan<byte> mine)
            {
                Span<byte> local = stackalloc byte[8];
                using (var tx = env.BeginWrite())
                {
                    tx.CreateTree("a").Put(mine, local);
                    tx.Commit();
                }

                Use(mine);
                Use(local);
            }
            """,
        ["a variable that gets the caller's memory before the use"] = """
            void M()
            {
                scoped ReadOnlySpan<byte> value;
                using (var tx = env.BeginRead())
                {
                    tx.OpenTree("a").TryGet(key, out value);
                    value = value.ToArray();
                }

                Use(value);
            }
            """,
        ["a try statement that uses the span before finally"] = """
            void M()
            {
                var tx = env.BeginRead();
                try
                {
                    tx.OpenTree("a").TryGet(key, out var value);
                    Use(value);
                }
                finally
                {
                    tx.Dispose();
                }
            }
            """,
        ["a catch block that a commit may have entered"] = """
            void M()
            {
                using var tx = env.BeginWrite();
                tx.CreateTree("a").TryGet(key, out var value);
                try
                {
                    tx.Commit();
                }
                catch (InvalidOperationException)
                {
                    Use(value);
                }
            }
            """,
        ["one of several transactions"] = """
            void M(bool first)
            {
                var a = env.BeginRead();
                var b = env.BeginRead();
                var either = first ? a : b;
                a.OpenTree("a").TryGet(key, out var value);
                either.Dispose();
                Use(value);
                a.Dispose();
                b.Dispose();
            }
            """,
        ["a key of a batch"] = """
            void M(LookupBatch batch)
            {
                using (var tx = env.BeginRead())
                    tx.OpenTree("a").GetMany(batch);
                Use(batch.Key(0));
            }
            """,
        ["a key of a batch that was read in the transaction"] = """
            void M(LookupBatch batch)
            {
                scoped ReadOnlySpan<byte> first;
                using (var tx = env.BeginRead())
                {
                    tx.OpenTree("a").GetMany(batch);
                    first = batch.Key(0);
                }

                Use(first);
            }
            """,
        ["a lambda with a try statement inside another one"] = """
            void M()
            {
                using var outer = env.BeginRead();
                try
                {
                    Action read = () =>
                    {
                        var tx = env.BeginRead();
                        try
                        {
                            tx.OpenTree("a").TryGet(key, out var value);
                            Use(value);
                        }
                        catch (InvalidOperationException)
                        {
                            Use(0);
                        }
                        finally
                        {
                            tx.Dispose();
                        }
                    };
                    read();
                }
                catch (IOException)
                {
                    Use(outer.TransactionId);
                }
            }
            """,
        ["a reserved span that is filled at once"] = """
            void M(WriteTree tree)
            {
                foreach (var number in new long[] { 1, 2, 3 })
                {
                    var room = tree.Reserve(key, 8);
                    BinaryPrimitives.WriteInt64LittleEndian(room, number);
                }
            }
            """,
        ["a span while a value writer is open, and after it was discarded"] = """
            void M(WriteTree tree)
            {
                tree.TryGet(key, out var value);
                using (var writer = tree.OpenWriter("copy"u8))
                {
                    writer.Write(value);
                    var room = writer.GetSpan(value.Length);
                    value.CopyTo(room);
                    writer.Advance(value.Length);
                }

                Use(value);
            }
            """,
        ["an exchange that was refused has written nothing"] = """
            void M(WriteTree tree)
            {
                tree.TryGet(key, out var value);
                if (!tree.CompareExchange(key, "new"u8, "old"u8))
                    Use(value);
            }
            """,
        ["opening a tree, which may write nothing"] = """
            void M(WriteTransaction tx)
            {
                tx.CreateTree("a").TryGet(key, out var value);
                tx.CreateTree("b");
                Use(value);
            }
            """,
        ["a method of the program that takes a span and returns one"] = """
            static ReadOnlySpan<byte> Constant(scoped ReadOnlySpan<byte> bytes) => bytes.Length > 1 ? "long"u8 : "short"u8;

            void M()
            {
                scoped ReadOnlySpan<byte> kind;
                using (var tx = env.BeginRead())
                {
                    tx.OpenTree("a").TryGet(key, out var value);
                    kind = Constant(value);
                }

                Use(kind);
            }
            """,
        ["the result of an operation that is a copy"] = """
            byte[]? M() => env.Write(tx => tx.CreateTree("a").TryGet(key, out var value) ? value.ToArray() : null);
            """,
        ["a field that another method may have assigned again"] = """
            WriteTree _tree;
            void Begin(WriteTransaction tx) => _tree = tx.CreateTree("a");

            void M()
            {
                _tree.TryGet(key, out var value);
                Begin(env.BeginWrite());
                _tree.Put(key, key);
                Use(value);
            }
            """,
        ["a local function that has its own span"] = """
            void M()
            {
                using var tx = env.BeginRead();
                var tree = tx.OpenTree("a");
                Use(Length());

                int Length()
                {
                    tree.TryGet(key, out var value);
                    return value[0];
                }
            }
            """,
        ["a field of a row after reads of the table"] = """
            void M(WriteTable<string, string> table)
            {
                table.TryGetReader("a", out var row);
                var bytes = row.ReadBytes();
                table.TryGet("b", out _);
                if (!table.TryUpdate("c", out _))
                    Use(bytes);
            }
            """,
    };
}
