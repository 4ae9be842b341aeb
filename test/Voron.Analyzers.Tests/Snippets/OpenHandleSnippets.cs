namespace Voron.Analyzers.Tests.Snippets;

/// <summary>Code that uses handles while their transaction is open.</summary>
internal static class OpenHandleSnippets
{
    public static readonly SnippetData All = new()
    {
        ["a tree inside the using statement"] = """
            long M()
            {
                using var tx = env.BeginRead();
                var tree = tx.OpenTree("a");
                return tree.Count;
            }
            """,
        ["a tree before the commit"] = """
            async Task<long> M()
            {
                using var tx = await env.BeginWriteAsync();
                var tree = tx.CreateTree("a");
                tree.Put(key, key);
                var count = tree.Count;
                await tx.CommitAsync();
                return count;
            }
            """,
        ["a second dispose"] = """
            void M()
            {
                using var tx = env.BeginRead();
                tx.Dispose();
                tx.Dispose();
            }
            """,
        ["a dispose after the commit"] = """
            void M()
            {
                var tx = env.BeginWrite();
                try
                {
                    tx.CreateTree("a");
                    tx.Commit();
                }
                finally
                {
                    tx.Dispose();
                }
            }
            """,
        ["a transaction that is renewed in a loop"] = """
            void M()
            {
                var tx = env.BeginWrite();
                var tree = tx.CreateTree("a");
                for (var i = 0; i < 10_000; i++)
                {
                    tree.Put([(byte)i], key);
                    if (i % 1000 == 999)
                    {
                        tx.Commit();
                        tx.Dispose();
                        tx = env.BeginWrite();
                        tree = tx.OpenTree("a");
                    }
                }

                tx.Commit();
                tx.Dispose();
            }
            """,
        ["a commit that leaves the loop"] = """
            void M()
            {
                using var tx = env.BeginWrite();
                var tree = tx.CreateTree("a");
                while (true)
                {
                    tree.Put(key, key);
                    if (Condition())
                    {
                        tx.Commit();
                        break;
                    }
                }
            }
            """,
        ["a retry after an exception"] = """
            void M()
            {
                for (var attempt = 0; ; attempt++)
                {
                    using var tx = env.BeginWrite();
                    var tree = tx.CreateTree("a");
                    try
                    {
                        tree.Put(key, key);
                        tx.Commit();
                        return;
                    }
                    catch (StorageFullException) when (attempt < 3)
                    {
                        env.Flush();
                    }
                }
            }
            """,
        ["a commit on one path"] = """
            void M(bool commits)
            {
                using var tx = env.BeginWrite();
                var tree = tx.CreateTree("a");
                if (commits)
                    tx.Commit();
                if (!commits)
                    Use(tree.Count);
            }
            """,
        ["a commit before a return"] = """
            void M()
            {
                using var tx = env.BeginWrite();
                var tree = tx.CreateTree("a");
                if (Condition())
                {
                    tx.Commit();
                    return;
                }

                Use(tree.Count);
            }
            """,
        ["a transaction that the caller disposes"] = """
            Tree M(ReadTransaction tx) => tx.OpenTree("a");
            """,
        ["a transaction and its tree, both returned"] = """
            (ReadTransaction, Tree) M()
            {
                var tx = env.BeginRead();
                return (tx, tx.OpenTree("a"));
            }
            """,
        ["one of several transactions"] = """
            void M(bool first)
            {
                using var a = env.BeginRead();
                using var b = env.BeginRead();
                var either = first ? a : b;
                either.Dispose();
                Use(a.TransactionId);
            }
            """,
        ["several cursors of a loop"] = """
            void M(Tree tree)
            {
                var previous = tree.OpenCursor();
                for (var i = 0; i < 3; i++)
                {
                    var next = tree.OpenCursor();
                    previous.Dispose();
                    previous = next;
                    next.SeekFirst();
                }

                previous.Dispose();
            }
            """,
        ["a cursor that is disposed and opened again"] = """
            void M(Tree tree)
            {
                var cursor = tree.OpenCursor();
                cursor.Dispose();
                cursor = tree.OpenCursor();
                cursor.SeekFirst();
                cursor.Dispose();
            }
            """,
        ["a statistic after the end"] = """
            TreeStatistics M()
            {
                using var tx = env.BeginRead();
                return tx.OpenTree("a").GetStatistics();
            }
            """,
        ["names after the end"] = """
            IReadOnlyList<string> M()
            {
                using var tx = env.BeginRead();
                return tx.GetTreeNames();
            }
            """,
        ["a report after the end"] = """
            void M()
            {
                FlushReport? report;
                using (var tx = env.BeginWrite())
                {
                    tx.Commit();
                    report = env.Flush();
                }

                Keep(report?.Pages ?? 0);
            }
            """,
        ["a nested transaction and its outer one"] = """
            void M()
            {
                using var tx = env.BeginWrite();
                var tree = tx.CreateTree("a");
                using (var nested = tx.BeginNested())
                {
                    tree.Put(key, key);
                    nested.Commit();
                }

                tree.Put(key, key);
                tx.Commit();
            }
            """,
        ["a comparison with default"] = """
            void M()
            {
                Stream? stream;
                using (var tx = env.BeginRead())
                    tx.OpenTree("a").TryOpenStream(key, out stream);
                if (stream == null || stream is null)
                    Use(0);
                Keep(nameof(stream));
            }
            """,
        ["a queue"] = """
            byte[]? M()
            {
                using var tx = env.BeginWrite();
                var queue = tx.CreateTree("queue");
                using var cursor = queue.OpenCursor();
                if (!cursor.SeekFirst())
                    return null;
                var value = cursor.Value.ToArray();
                cursor.Delete();
                tx.Commit();
                return value;
            }
            """,
        ["a goto"] = """
            void M()
            {
                var count = 0;
            again:
                using (var tx = env.BeginRead())
                {
                    if (tx.TryOpenTree("a", out var tree))
                        Use(tree.Count);
                }

                if (count++ < 3)
                    goto again;
            }
            """,
        ["a token and a row of a table that leave its transaction"] = """
            (string?, PageToken, RowVersion) M(TableDefinition<string, string> definition)
            {
                using var tx = env.BeginRead();
                var table = tx.OpenTable(definition);
                using var rows = table.Scan().Take(1);
                rows.MoveNext();
                table.TryGet("a", out var row, out var version);
                return (row, rows.Token, version);
            }
            """,
    };
}
