namespace Voron.Analyzers.Tests.Snippets;

/// <summary>Code that disposes what it begins, or leaves that to other code.</summary>
internal static class DisposedSnippets
{
    public static readonly SnippetData All = new()
    {
        ["a using declaration"] = "long M() { using var tx = env.BeginRead(); return tx.OpenTree(\"a\").Count; }",
        ["a using statement"] = "long M() { using (var tx = env.BeginRead()) return tx.OpenTree(\"a\").Count; }",
        ["a using statement without a variable"] = "void M() { using (env.BeginRead()) Use(1); }",
        ["a using statement on a variable"] = """
            void M()
            {
                var tx = env.BeginWrite();
                using (tx)
                    tx.Commit();
            }
            """,
        ["a using declaration of a copy"] = """
            void M()
            {
                var tx = env.BeginWrite();
                using var copy = tx;
                tx.Commit();
            }
            """,
        ["an awaited using declaration"] = """
            async Task M()
            {
                using var tx = await env.BeginWriteAsync().ConfigureAwait(false);
                await tx.CommitAsync();
            }
            """,
        ["a task that is awaited later"] = """
            async Task M()
            {
                var task = env.BeginWriteAsync();
                await Task.Yield();
                using var tx = await task;
                tx.Commit();
            }
            """,
        ["a dispose in finally"] = """
            long M()
            {
                var tx = env.BeginRead();
                try
                {
                    if (!tx.TryOpenTree("a", out var tree))
                        return 0;
                    return tree.Count;
                }
                finally
                {
                    tx.Dispose();
                }
            }
            """,
        ["a conditional dispose in finally"] = """
            void M()
            {
                var isOpen = false;
                ReadTransaction tx = default;
                try
                {
                    tx = env.BeginRead();
                    isOpen = true;
                    Use(tx.TransactionId);
                }
                finally
                {
                    if (isOpen)
                        tx.Dispose();
                }
            }
            """,
        ["a dispose on each path"] = """
            long M()
            {
                var tx = env.BeginRead();
                if (!tx.TryOpenTree("a", out var tree))
                {
                    tx.Dispose();
                    return 0;
                }

                var count = tree.Count;
                tx.Dispose();
                return count;
            }
            """,
        ["a dispose behind a condition that belongs to the begin"] = """
            void M(bool isOwner, ReadTransaction given)
            {
                var tx = isOwner ? env.BeginRead() : given;
                Use(tx.TransactionId);
                if (isOwner)
                    tx.Dispose();
            }
            """,
        ["a nullable transaction"] = """
            void M(StorageEnvironment? environment)
            {
                var tx = environment?.BeginRead();
                Use(tx?.TransactionId ?? 0);
                tx?.Dispose();
            }
            """,
        ["a nullable transaction in a using declaration"] = """
            void M(StorageEnvironment? environment)
            {
                using var tx = environment?.BeginRead();
                Use(tx?.TransactionId ?? 0);
            }
            """,
        ["a factory"] = "ReadTransaction M() => env.BeginRead();",
        ["a factory with a check"] = """
            WriteTransaction M()
            {
                var tx = env.BeginWrite();
                try
                {
                    tx.CreateTree("a");
                    return tx;
                }
                catch
                {
                    tx.Dispose();
                    throw;
                }
            }
            """,
        ["an asynchronous factory"] = "async Task<WriteTransaction> M() => await env.BeginWriteAsync();",
        ["a task that is passed on"] = "ValueTask<WriteTransaction> M() => env.BeginWriteAsync();",
        ["a field"] = """
            ReadTransaction _tx;
            void M() => _tx = env.BeginRead();
            """,
        ["a field that is assigned with a coalescing assignment"] = """
            ReadTransaction? _tx;
            void M() { _tx ??= env.BeginRead(); }
            """,
        ["a field initializer"] = "readonly ReadTransaction _tx = env.BeginRead();",
        ["an out parameter"] = "void M(out ReadTransaction tx) { tx = env.BeginRead(); }",
        ["an argument"] = """
            static void Finish(ReadTransaction tx) => tx.Dispose();
            void M() { Finish(env.BeginRead()); var tx = env.BeginRead(); Finish(tx); }
            """,
        ["an argument of a constructor"] = """
            class Reader(ReadTransaction tx) : IDisposable { public void Dispose() => tx.Dispose(); }
            Reader M() => new(env.BeginRead());
            """,
        ["an initializer of an object"] = """
            class Reader { public ReadTransaction Transaction { get; set; } }
            Reader M() => new() { Transaction = env.BeginRead() };
            """,
        ["a collection"] = """
            void M()
            {
                var all = new List<ReadTransaction>();
                for (var i = 0; i < 3; i++)
                    all.Add(env.BeginRead());
                ReadTransaction[] more = [env.BeginRead(), env.BeginRead()];
                foreach (var tx in all.Concat(more))
                    tx.Dispose();
            }
            """,
        ["a tuple"] = "(ReadTransaction, int) M() => (env.BeginRead(), 1);",
        ["an iterator"] = "IEnumerable<ReadTransaction> M() { yield return env.BeginRead(); }",
        ["a lambda that disposes it"] = """
            Action M()
            {
                var tx = env.BeginRead();
                return () => tx.Dispose();
            }
            """,
        ["a local function that disposes it"] = """
            void M()
            {
                var tx = env.BeginRead();
                Use(tx.TransactionId);
                Finish();
                void Finish() => tx.Dispose();
            }
            """,
        ["a call that is expected to throw"] = """
            static void Throws(Action call) { try { call(); } catch (StorageFullException) { } }
            void M() { Throws(() => env.BeginWrite()); Throws(() => _ = env.BeginWriteAsync().AsTask().GetAwaiter().GetResult()); }
            """,
        ["a commit at once"] = "void M() => env.BeginWrite().Commit();",
        ["a savepoint that is used on one path only"] = """
            void M()
            {
                using var tx = env.BeginWrite();
                Savepoint? savepoint = Condition() ? tx.CreateSavepoint() : null;
                try
                {
                    tx.CreateTree("a");
                }
                catch (StorageFullException) when (savepoint is { } place)
                {
                    place.Rollback();
                }
            }
            """,
        ["a range in a foreach"] = """
            void M()
            {
                using var tx = env.BeginRead();
                foreach (var entry in tx.OpenTree("a").GetEntries())
                    Use(entry.Key);
            }
            """,
        ["a query of rows that a foreach or a using statement disposes"] = """
            void M(Voron.Tables.Table<string, string> table)
            {
                foreach (var row in table.Scan().Backward().Take(20))
                    Keep(row);
                using var query = table.From("a").Take(20);
                using var other = table.Scan();
                if (Condition())
                    other.Backward();
                other.Take(3);
                var later = table.Scan().Take(5);
                Keep(Condition() ? later.Backward() : later);
            }
            """,
        ["a savepoint that is used"] = """
            void M()
            {
                using var tx = env.BeginWrite();
                var savepoint = tx.CreateSavepoint();
                if (Condition())
                    savepoint.Rollback();
                tx.Commit();
            }
            """,
        ["a nested transaction that is committed or disposed"] = """
            void M()
            {
                using var tx = env.BeginWrite();
                var nested = tx.BeginNested();
                if (Condition())
                    nested.Commit();
                else
                    nested.Dispose();
                tx.Commit();
            }
            """,
        ["a switch expression in a using declaration"] = """
            void M(int kind)
            {
                using var tx = kind switch { 0 => env.BeginWrite(), _ => env.BeginWrite(TimeSpan.FromSeconds(1)) };
                tx.Commit();
            }
            """,
        ["a loop that disposes it where it ends"] = """
            void M()
            {
                var tx = env.BeginRead();
                while (true)
                {
                    if (Condition())
                    {
                        tx.Dispose();
                        break;
                    }
                }
            }
            """,
        ["a transaction that is renewed in a loop"] = """
            void M()
            {
                var tx = env.BeginWrite();
                for (var i = 0; i < 10_000; i++)
                {
                    tx.CreateTree("a").Put(key, key);
                    if (i % 1000 == 999)
                    {
                        tx.Commit();
                        tx.Dispose();
                        tx = env.BeginWrite();
                    }
                }

                tx.Commit();
                tx.Dispose();
            }
            """,
        ["a path that throws"] = """
            void M()
            {
                var tx = env.BeginRead();
                if (!tx.TryOpenTree("a", out var tree))
                    throw new InvalidOperationException();
                Use(tree.Count);
                tx.Dispose();
            }
            """,
        ["a condition that is never true"] = """
            void M()
            {
                const bool isEarly = false;
                var tx = env.BeginRead();
                if (isEarly)
                    return;
                tx.Dispose();
            }
            """,
        ["an interface variable"] = """
            void M()
            {
                IDisposable tx = env.BeginRead();
                tx.Dispose();
            }
            """,
        ["an environment, which a program may keep as long as it runs"] = "void M() { var opened = StorageEnvironment.OpenInMemory(); opened.Flush(); }",
        ["a cursor that is passed on"] = """
            Cursor M(Tree tree)
            {
                var cursor = tree.OpenCursor();
                cursor.SeekFirst();
                return cursor;
            }
            """,
        ["a query of a table that is enumerated later"] = """
            PageToken M(Table<string, string> table)
            {
                var rows = table.Scan().Backward();
                rows.Take(10);
                foreach (var row in rows)
                    Keep(row);
                return rows.Token;
            }
            """,
        ["ids that a query of a table takes over"] = """
            bool M(Table<string, string> table)
            {
                using var rows = table.Rows(table.IdsRaw("a", key));
                return rows.MoveNext();
            }
            """,
        ["a pattern that disposes it"] = """
            void M()
            {
                if (env.BeginRead() is var tx)
                {
                    Use(tx.TransactionId);
                    tx.Dispose();
                }
            }
            """,
    };
}
