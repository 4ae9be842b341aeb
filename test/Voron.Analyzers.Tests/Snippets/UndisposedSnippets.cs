namespace Voron.Analyzers.Tests.Snippets;

/// <summary>Code that VORON001 reports.</summary>
internal static class UndisposedSnippets
{
    public static readonly SnippetData All = new()
    {
        ["a variable that is never disposed"] = """
            void M()
            {
                var tx = [|env.BeginRead()|];
                Use(tx.OpenTree("a").Count);
            }
            """,
        ["a result that is ignored"] = "void M() { [|env.BeginWrite()|]; }",
        ["a result that is discarded"] = "void M() { _ = [|env.BeginRead()|]; }",
        ["a call on the result"] = "long M() => [|env.BeginRead()|].OpenTree(\"a\").Count;",
        ["a commit without a dispose, which an exception would skip"] = """
            void M()
            {
                var tx = [|env.BeginWrite()|];
                tx.CreateTree("a").Put(key, key);
                tx.Commit();
            }
            """,
        ["an early return"] = """
            long M()
            {
                var tx = [|env.BeginRead()|];
                if (!tx.TryOpenTree("a", out var tree))
                    return 0;
                var count = tree.Count;
                tx.Dispose();
                return count;
            }
            """,
        ["a dispose before an early return only"] = """
            long M()
            {
                var tx = [|env.BeginRead()|];
                if (!tx.TryOpenTree("a", out var tree))
                {
                    tx.Dispose();
                    return 0;
                }

                return tree.Count;
            }
            """,
        ["a cursor of a fixed-size tree"] = """
            bool M(FixedTree tree)
            {
                var cursor = [|tree.OpenCursor()|];
                return cursor.MoveNext();
            }
            """,
        ["an early return in a loop"] = """
            int M(byte[][] keys)
            {
                var tx = [|env.BeginRead()|];
                var tree = tx.OpenTree("a");
                for (var i = 0; i < keys.Length; i++)
                {
                    if (tree.Contains(keys[i]))
                        return i;
                }

                tx.Dispose();
                return -1;
            }
            """,
        ["an early return in a switch"] = """
            void M(int kind)
            {
                var tx = [|env.BeginRead()|];
                switch (kind)
                {
                    case 1:
                        return;
                    default:
                        Use(tx.TransactionId);
                        break;
                }

                tx.Dispose();
            }
            """,
        ["an asynchronous begin"] = """
            async Task M()
            {
                var tx = await [|env.BeginWriteAsync()|];
                tx.CreateTree("a");
                await tx.CommitAsync();
            }
            """,
        ["an asynchronous begin with a configured await"] = """
            async Task M()
            {
                var tx = await [|env.BeginWriteAsync()|].ConfigureAwait(false);
                await tx.CommitAsync();
            }
            """,
        ["a task that is ignored"] = "void M() { [|env.BeginWriteAsync()|]; }",
        ["an awaited result that is ignored"] = "async Task M() { await [|env.BeginWriteAsync()|]; }",
        ["a blocking wait"] = """
            void M()
            {
                var tx = [|env.BeginWriteAsync()|].AsTask().GetAwaiter().GetResult();
                tx.Commit();
            }
            """,
        ["a cursor"] = """
            void M()
            {
                using var tx = env.BeginRead();
                var cursor = [|tx.OpenTree("a").OpenCursor()|];
                while (cursor.MoveNext())
                    Use(cursor.Key);
            }
            """,
        ["a query of rows"] = """
            void M(Voron.Tables.Table<string, string> table)
            {
                [|table.Scan()|].Backward().Take(20);
                var query = [|table.From("a")|].Take(20);
                Keep(query.Backward().Count());
            }
            """,
        ["a nested transaction that is neither committed nor disposed"] = """
            void M()
            {
                using var tx = env.BeginWrite();
                var nested = [|tx.BeginNested()|];
                tx.OpenTree("a").Put(key, key);
                tx.Commit();
            }
            """,
        ["a savepoint to which the code can never roll back"] = """
            void M()
            {
                using var tx = env.BeginWrite();
                [|tx.CreateSavepoint()|];
                tx.Commit();
            }
            """,
        ["one side of a conditional expression"] = """
            void M()
            {
                var tx = Condition() ? [|env.BeginRead()|] : default;
                Use(tx.TransactionId);
            }
            """,
        ["a conditional access"] = """
            void M(StorageEnvironment? environment)
            {
                var tx = environment?[|.BeginRead()|];
                Use(tx?.TransactionId ?? 0);
            }
            """,
        ["a pattern"] = """
            void M()
            {
                if ([|env.BeginRead()|] is var tx && tx.TryOpenTree("a", out var tree))
                    Use(tree.Count);
            }
            """,
        ["a copy of the handle, neither of which is disposed"] = """
            void M()
            {
                var tx = [|env.BeginRead()|];
                var copy = tx;
                Use(copy.TransactionId);
            }
            """,
        ["a variable that is assigned later"] = """
            void M()
            {
                ReadTransaction tx;
                tx = [|env.BeginRead()|];
                Use(tx.TransactionId);
            }
            """,
        ["a lambda"] = """
            void M()
            {
                Func<long> count = () =>
                {
                    var tx = [|env.BeginRead()|];
                    return tx.OpenTree("a").Count;
                };
                Use(count());
            }
            """,
        ["a lambda that ignores the result and does more"] = "Action M() => () => { [|env.BeginRead()|]; Use(1); };",
        ["a local function"] = """
            long M()
            {
                return Count();

                long Count()
                {
                    var tx = [|env.BeginRead()|];
                    return tx.OpenTree("a").Count;
                }
            }
            """,
        ["a lambda that only reads it"] = """
            List<bool> M(List<byte[]> keys)
            {
                var tx = [|env.BeginRead()|];
                return keys.Select(each => tx.OpenTree("a").Contains(each)).ToList();
            }
            """,
        ["each turn of a loop"] = """
            void M()
            {
                foreach (var name in new[] { "a", "b" })
                {
                    var tx = [|env.BeginRead()|];
                    if (!tx.TryOpenTree(name, out var tree))
                        continue;
                    Use(tree.Count);
                    tx.Dispose();
                }
            }
            """,
        ["a dispose only where an exception is caught"] = """
            void M()
            {
                var tx = [|env.BeginWrite()|];
                try
                {
                    tx.CreateTree("a");
                    tx.Commit();
                }
                catch
                {
                    tx.Dispose();
                    throw;
                }
            }
            """,
        ["a transaction that is handed over on one path only"] = """
            class Reader(ReadTransaction tx, Tree tree) { public long Count => tx.TransactionId + tree.Count; }

            Reader? M()
            {
                var tx = [|env.BeginRead()|];
                if (!tx.TryOpenTree("a", out var tree))
                    return null;
                return new Reader(tx, tree);
            }
            """,
        ["a property"] = "long Count { get { var tx = [|env.BeginRead()|]; return tx.TransactionId; } }",
        ["an endless loop"] = """
            void M()
            {
                while (true)
                {
                    var tx = [|env.BeginRead()|];
                    Use(tx.TransactionId);
                }
            }
            """,
    };
}
