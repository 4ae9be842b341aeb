namespace Voron.Analyzers.Tests.Snippets;

/// <summary>Code that VORON002 reports.</summary>
internal static class InvalidSpanSnippets
{
    public static readonly SnippetData All = new()
    {
        ["a span after the using statement of its transaction"] = """
            void M()
            {
                scoped ReadOnlySpan<byte> value;
                using (var tx = env.BeginRead())
                    tx.OpenTree("a").TryGet(key, out value);
                Use([|value|]);
            }
            """,
        ["a span that is returned out of a using declaration"] = """
            ReadOnlySpan<byte> M()
            {
                using var tx = env.BeginRead();
                return [|tx.OpenTree("a").TryGet("k"u8, out var value) ? value : default|];
            }
            """,
        ["a span in an out parameter"] = """
            bool M(out ReadOnlySpan<byte> value)
            {
                using var tx = env.BeginRead();
                return tx.OpenTree("a").TryGet("k"u8, [|out value|]);
            }
            """,
        ["a span after a dispose"] = """
            void M()
            {
                var tx = env.BeginRead();
                tx.OpenTree("a").TryGet(key, out var value);
                tx.Dispose();
                Use([|value|]);
            }
            """,
        ["a span after a commit"] = """
            void M()
            {
                using var tx = env.BeginWrite();
                var tree = tx.CreateTree("a");
                tree.TryGet(key, out var value);
                tree.Put(key, [1]);
                tx.Commit();
                Use([|value|]);
            }
            """,
        ["a reserved span after a commit"] = """
            async Task M()
            {
                using var tx = await env.BeginWriteAsync();
                Fill(tx);
                await tx.CommitAsync();
            }

            static void Fill(WriteTransaction tx)
            {
                var room = tx.CreateTree("a").Reserve(key, 8);
                tx.Commit();
                [|room|][0] = 1;
            }
            """,
        ["a span after the next write"] = """
            void M(WriteTree tree)
            {
                tree.TryGet(key, out var value);
                tree.Put("other"u8, "x"u8);
                Use([|value|]);
            }
            """,
        ["a span after a range was deleted"] = """
            void M(WriteTree tree)
            {
                tree.TryGet(key, out var value);
                tree.DeleteRange(KeyRange.After("b"u8));
                Use([|value|]);
            }
            """,
        ["a span after a counter was incremented"] = """
            void M(WriteTree tree)
            {
                tree.TryGet(key, out var value);
                tree.Add("count"u8, 1);
                Use([|value|]);
            }
            """,
        ["a span after a value writer was completed"] = """
            void M(WriteTree tree)
            {
                tree.TryGet(key, out var value);
                using var writer = tree.OpenWriter("copy"u8);
                writer.Write(value);
                writer.Complete();
                Use([|value|]);
            }
            """,
        ["a span after a write to another tree of the transaction"] = """
            void M()
            {
                using var tx = env.BeginWrite();
                tx.CreateTree("a").TryGet(key, out var value);
                tx.CreateTree("b").Put(key, key);
                Use([|value|]);
                tx.Commit();
            }
            """,
        ["an entry after a write"] = """
            void M(WriteTree from, WriteTransaction tx)
            {
                var index = tx.CreateTree("index");
                foreach (var entry in tx.OpenTree("a").GetEntries())
                {
                    index.Put(entry.Value, "x"u8);
                    Use([|entry|].Key);
                }
            }
            """,
        ["a field of a row after a change of the table"] = """
            void M(WriteTable<string, string> table)
            {
                table.TryGetReader("a", out var row);
                var bytes = row.ReadBytes();
                table.Upsert("b");
                Use([|bytes|]);
            }
            """,
        ["a value of a tree after an insertion into a table"] = """
            void M(WriteTransaction tx, TableDefinition<string, string> definition)
            {
                tx.OpenTree("a").TryGet(key, out var value);
                tx.OpenTable(definition).Insert("b");
                Use([|value|]);
            }
            """,
        ["a value of a fixed-size tree after a put"] = """
            void M(WriteFixedTree tree)
            {
                tree.TryGet(1, out var value);
                tree.Put(2, [1, 2]);
                Use([|value|]);
            }
            """,
        ["a value of a fixed-size tree after a put of a typed one"] = """
            void M(WriteTransaction transaction)
            {
                var numbers = transaction.OpenFixedTree<long>("numbers");
                numbers.AsBytes().TryGet(1, out var value);
                numbers.Put(2, 3);
                Use([|value|]);
            }
            """,
        ["two reserved spans"] = """
            void M(WriteTree tree)
            {
                var first = tree.Reserve("a"u8, 8);
                var second = tree.Reserve("b"u8, 8);
                BinaryPrimitives.WriteInt64LittleEndian([|first|], 1);
                BinaryPrimitives.WriteInt64LittleEndian(second, 2);
            }
            """,
        ["a write that decides the path"] = """
            void M(WriteTree tree)
            {
                tree.TryGet(key, out var value);
                if (tree.Insert("other"u8, "x"u8))
                    Use([|value|]);
            }
            """,
        ["a write that decides the path, negated"] = """
            void M(WriteTree tree)
            {
                tree.TryGet(key, out var value);
                if (!tree.Insert("other"u8, "x"u8))
                    return;
                Use([|value|]);
            }
            """,
        ["a slice of a span"] = """
            void M()
            {
                var tx = env.BeginRead();
                tx.OpenTree("a").TryGet(key, out var value);
                var part = value[1..].Slice(1).TrimStart((byte)0);
                tx.Dispose();
                Use([|part|]);
            }
            """,
        ["a span of another type over the same bytes"] = """
            long M()
            {
                var tx = env.BeginRead();
                tx.OpenTree("a").TryGet(key, out var value);
                var numbers = MemoryMarshal.Cast<byte, long>(value);
                tx.Dispose();
                return [|numbers|][0];
            }
            """,
        ["a copy of the span"] = """
            void M()
            {
                scoped ReadOnlySpan<byte> copy;
                using (var tx = env.BeginRead())
                {
                    tx.OpenTree("a").TryGet(key, out var value);
                    copy = value;
                }

                Use([|copy|]);
            }
            """,
        ["a conditional expression"] = """
            void M()
            {
                scoped ReadOnlySpan<byte> found;
                using (var tx = env.BeginRead())
                    found = tx.OpenTree("a").TryGet(key, out var value) ? value : "none"u8;
                Use([|found|]);
            }
            """,
        ["the last span of a loop"] = """
            void M(string[] names)
            {
                scoped ReadOnlySpan<byte> last = default;
                foreach (var name in names)
                {
                    using var tx = env.BeginRead();
                    tx.OpenTree(name).TryGet(key, out last);
                }

                Use([|last|]);
            }
            """,
        ["a span that the turn before has invalidated"] = """
            void M(WriteTree tree)
            {
                tree.TryGet(key, out var value);
                for (var i = 0; i < 3; i++)
                    tree.Put([(byte)i], [|value|]);
            }
            """,
        ["a span in finally"] = """
            void M()
            {
                var tx = env.BeginRead();
                scoped ReadOnlySpan<byte> value;
                try
                {
                    tx.OpenTree("a").TryGet(key, out value);
                }
                finally
                {
                    tx.Dispose();
                }

                Use([|value|]);
            }
            """,
        ["a disposed copy of the handle"] = """
            void M()
            {
                var tx = env.BeginRead();
                tx.OpenTree("a").TryGet(key, out var value);
                var copy = tx;
                copy.Dispose();
                Use([|value|]);
            }
            """,
        ["a local function"] = """
            void M()
            {
                Read();

                void Read()
                {
                    scoped ReadOnlySpan<byte> value;
                    using (var tx = env.BeginRead())
                        tx.OpenTree("a").TryGet(key, out value);
                    Use([|value|]);
                }
            }
            """,
        ["a lambda"] = """
            Action M() => () =>
            {
                var tx = env.BeginRead();
                tx.OpenTree("a").TryGet(key, out var value);
                tx.Dispose();
                Use([|value|]);
            };
            """,
        ["an operation of a group commit"] = """
            void M() => env.Write(tx =>
            {
                var tree = tx.CreateTree("a");
                tree.TryGet(key, out var value);
                tree.Delete("b"u8);
                Use([|value|]);
            });
            """,
        ["a rollback to a savepoint"] = """
            void M()
            {
                using var tx = env.BeginWrite();
                var tree = tx.CreateTree("a");
                using var savepoint = tx.CreateSavepoint();
                tree.Put(key, key);
                tree.TryGet(key, out var value);
                savepoint.Rollback();
                Use([|value|]);
            }
            """,
        ["a result of a batch"] = """
            void M(LookupBatch batch)
            {
                scoped ReadOnlySpan<byte> value;
                using (var tx = env.BeginRead())
                {
                    tx.OpenTree("a").GetMany(batch);
                    batch.TryGetValue(0, out value);
                }

                Use([|value|]);
            }
            """,
        ["an entry that is returned"] = """
            TreeEntry M()
            {
                using var tx = env.BeginRead();
                tx.OpenTree("a").TryGetFirst(out var entry);
                return [|entry|];
            }
            """,
        ["a field that holds a tree"] = """
            readonly WriteTree _tree;

            void M()
            {
                _tree.TryGet(key, out var value);
                _tree.Put("b"u8, "c"u8);
                Use([|value|]);
            }
            """,
        ["a pattern"] = """
            void M()
            {
                using var tx = env.BeginWrite();
                if (tx.TryOpenTree("a", out var tree) && tree.TryGet(key, out var value) && value is { Length: > 0 } found)
                {
                    tree.Put(key, "x"u8);
                    Use([|found|]);
                }
            }
            """,
        ["a span in a catch block"] = """
            void M()
            {
                var tx = env.BeginRead();
                tx.OpenTree("a").TryGet(key, out var value);
                tx.Dispose();
                try
                {
                    Condition();
                }
                catch (InvalidOperationException)
                {
                    Use([|value|]);
                }
            }
            """,
        ["a condition that is always true"] = """
            void M()
            {
                const bool always = true;
                var tx = env.BeginRead();
                tx.OpenTree("a").TryGet(key, out var value);
                if (always)
                    tx.Dispose();
                Use([|value|]);
            }
            """,
        ["an early return that disposes on both paths"] = """
            void M()
            {
                var tx = env.BeginRead();
                tx.OpenTree("a").TryGet(key, out var value);
                if (Condition())
                    tx.Dispose();
                else
                    tx.Dispose();
                Use([|value|]);
            }
            """,
    };
}
