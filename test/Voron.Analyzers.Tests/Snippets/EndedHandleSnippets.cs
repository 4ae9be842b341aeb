namespace Voron.Analyzers.Tests.Snippets;

/// <summary>Code that VORON004 reports.</summary>
internal static class EndedHandleSnippets
{
    public static readonly SnippetData All = new()
    {
        ["a tree after the using statement of its transaction"] = """
            void M()
            {
                Tree tree;
                using (var tx = env.BeginRead())
                    tree = tx.OpenTree("a");
                Use([|tree|].Count);
            }
            """,
        ["a tree after a commit"] = """
            void M()
            {
                using var tx = env.BeginWrite();
                var tree = tx.CreateTree("a");
                tree.Put(key, key);
                tx.Commit();
                [|tree|].Put(key, key);
            }
            """,
        ["a tree after an asynchronous commit"] = """
            async Task M()
            {
                using var tx = await env.BeginWriteAsync();
                var tree = tx.CreateTree("a");
                await tx.CommitAsync().ConfigureAwait(false);
                Use([|tree|].Count);
            }
            """,
        ["a tree of the first of two transactions"] = """
            void M()
            {
                var tx = env.BeginWrite();
                var tree = tx.CreateTree("a");
                tx.Commit();
                tx.Dispose();
                tx = env.BeginWrite();
                [|tree|].Put(key, key);
                tx.Commit();
                tx.Dispose();
            }
            """,
        ["a transaction after its commit"] = """
            void M()
            {
                using var tx = env.BeginWrite();
                tx.Commit();
                [|tx|].CreateTree("a");
            }
            """,
        ["a transaction after its dispose"] = """
            void M()
            {
                var tx = env.BeginRead();
                tx.Dispose();
                Use([|tx|].TransactionId);
            }
            """,
        ["a cursor after a dispose of its transaction"] = """
            void M()
            {
                var tx = env.BeginRead();
                using var cursor = tx.OpenTree("a").OpenCursor();
                tx.Dispose();
                [|cursor|].MoveNext();
            }
            """,
        ["a fixed-size tree and its cursor after a dispose of their transaction"] = """
            void M()
            {
                var tx = env.BeginRead();
                var tree = tx.OpenFixedTree("a");
                using var cursor = tree.OpenCursor();
                tx.Dispose();
                [|cursor|].MoveNext();
                [|tree|].Contains(1);
            }
            """,
        ["a table after a dispose of its transaction"] = """
            void M(TableDefinition<string, string> definition)
            {
                var tx = env.BeginRead();
                var table = tx.OpenTable(definition);
                tx.Dispose();
                [|table|].Contains("a");
            }
            """,
        ["a table of a commit in a loop"] = """
            void M(TableDefinition<string, string> definition)
            {
                using var tx = env.BeginWrite();
                tx.TryOpenTable(definition, out var table);
                while (Condition())
                {
                    [|table|].Insert("a");
                    [|tx|].Commit();
                }
            }
            """,
        ["a cursor after its own dispose"] = """
            void M(Tree tree)
            {
                var cursor = tree.OpenCursor();
                cursor.SeekFirst();
                cursor.Dispose();
                [|cursor|].MoveNext();
            }
            """,
        ["a range after the end of its transaction"] = """
            void M()
            {
                var tx = env.BeginRead();
                var range = tx.OpenTree("a").GetEntries();
                tx.Dispose();
                foreach (var entry in [|range|])
                    Use(entry.Key);
            }
            """,
        ["a commit inside a loop over the transaction"] = """
            void M()
            {
                using var tx = env.BeginWrite();
                var tree = tx.CreateTree("a");
                for (var i = 0; i < 10; i++)
                {
                    [|tree|].Put([(byte)i], key);
                    {|VORON004:tx|}.Commit();
                }
            }
            """,
        ["a stream after the end of its transaction"] = """
            void M()
            {
                Stream? stream;
                using (var tx = env.BeginRead())
                    tx.OpenTree("a").TryOpenStream(key, out stream);
                [|stream|]!.ReadByte();
            }
            """,
        ["a stream that is returned"] = """
            Stream? M()
            {
                using var tx = env.BeginRead();
                tx.OpenTree("a").TryOpenStream(key, out var stream);
                return [|stream|];
            }
            """,
        ["a tree that is returned"] = """
            Tree M()
            {
                using var tx = env.BeginRead();
                return [|tx.OpenTree("a")|];
            }
            """,
        ["a tree in an out parameter"] = """
            bool M(out Tree tree)
            {
                using var tx = env.BeginRead();
                return tx.TryOpenTree("a", [|out tree|]);
            }
            """,
        ["a tuple that is returned"] = """
            (Tree, long) M()
            {
                using var tx = env.BeginRead();
                var tree = tx.OpenTree("a");
                return [|(tree, tree.Count)|];
            }
            """,
        ["a transaction that is returned from its own scope"] = """
            ReadTransaction M()
            {
                using var tx = env.BeginRead();
                return [|tx|];
            }
            """,
        ["a cursor in a field"] = """
            Cursor _cursor;

            void M()
            {
                using var tx = env.BeginRead();
                _cursor = [|tx.OpenTree("a").OpenCursor()|];
                _cursor.SeekFirst();
            }
            """,
        ["a tree in a static field"] = """
            static Tree Current;

            static void M()
            {
                using var tx = env.BeginRead();
                Current = [|tx.OpenTree("a")|];
            }
            """,
        ["a tree in a property"] = """
            WriteTree Current { get; set; }

            void M()
            {
                using (var tx = env.BeginWrite())
                {
                    Current = [|tx.CreateTree("a")|];
                    tx.Commit();
                }
            }
            """,
        ["a tree that an operation returns"] = """
            void M() => Keep(env.Write(tx => [|tx.CreateTree("a")|]));
            """,
        ["a tree that an operation keeps in a variable"] = """
            void M()
            {
                WriteTree tree = default;
                env.Write(tx => { tree = [|tx.CreateTree("a")|]; });
                Use(tree.Count);
            }
            """,
        ["a tree that an operation keeps in a field"] = """
            WriteTree _tree;
            ValueTask M() => env.WriteAsync(tx => { _tree = [|tx.CreateTree("a")|]; });
            """,
        ["a lambda that is made after the end"] = """
            Func<long> M()
            {
                Tree tree;
                using (var tx = env.BeginRead())
                    tree = tx.OpenTree("a");
                return () => [|tree|].Count;
            }
            """,
        ["a lambda that is returned"] = """
            Func<long> M()
            {
                using var tx = env.BeginRead();
                var tree = tx.OpenTree("a");
                return [|() => tree.Count|];
            }
            """,
        ["a lambda that is called after the end"] = """
            void M()
            {
                Func<long> count;
                using (var tx = env.BeginRead())
                {
                    var tree = tx.OpenTree("a");
                    count = () => tree.Count;
                }

                Use([|count|]());
            }
            """,
        ["a method group of a tree"] = """
            void M()
            {
                Func<TreeStatistics> statistics;
                using (var tx = env.BeginRead())
                    statistics = tx.OpenTree("a").GetStatistics;
                Keep([|statistics|]());
            }
            """,
        ["a local function that is called after the end"] = """
            void M()
            {
                var tx = env.BeginRead();
                var tree = tx.OpenTree("a");
                tx.Dispose();
                Use([|Count()|]);

                long Count() => tree.Count;
            }
            """,
        ["a tree inside a local function"] = """
            void M()
            {
                Run();

                static void Run()
                {
                    var tx = env.BeginRead();
                    var tree = tx.OpenTree("a");
                    tx.Dispose();
                    Use([|tree|].Count);
                }
            }
            """,
        ["a copy of a tree"] = """
            void M()
            {
                var tx = env.BeginWrite();
                var tree = tx.CreateTree("a");
                Tree copy = tree;
                tx.Dispose();
                Use([|copy|].Count);
            }
            """,
        ["a disposed copy of the handle"] = """
            void M()
            {
                var tx = env.BeginRead();
                var copy = tx;
                var tree = copy.OpenTree("a");
                tx.Dispose();
                Use([|tree|].Count);
            }
            """,
        ["a conditional expression"] = """
            void M(bool first)
            {
                var tx = env.BeginRead();
                var tree = first ? tx.OpenTree("a") : tx.OpenTree("b");
                tx.Dispose();
                Use([|tree|].Count);
            }
            """,
        ["a nullable transaction"] = """
            void M(StorageEnvironment? environment)
            {
                Tree tree = default;
                using (var tx = environment?.BeginRead())
                {
                    if (tx is { } open)
                        tree = open.OpenTree("a");
                }

                Use([|tree|].Count);
            }
            """,
        ["a dispose in finally"] = """
            void M()
            {
                var tx = env.BeginRead();
                Tree tree;
                try
                {
                    tree = tx.OpenTree("a");
                }
                finally
                {
                    tx.Dispose();
                }

                Use([|tree|].Count);
            }
            """,
        ["an early return before the end of the others"] = """
            long M(bool isEarly)
            {
                var tx = env.BeginRead();
                var tree = tx.OpenTree("a");
                if (isEarly)
                {
                    tx.Dispose();
                    return [|tree|].Count;
                }

                var count = tree.Count;
                tx.Dispose();
                return count;
            }
            """,
        ["a savepoint after a commit"] = """
            void M()
            {
                using var tx = env.BeginWrite();
                var savepoint = tx.CreateSavepoint();
                tx.Commit();
                [|savepoint|].Rollback();
            }
            """,
        ["a transaction of the caller"] = """
            void M(WriteTransaction tx)
            {
                var tree = tx.CreateTree("a");
                tx.Commit();
                Use([|tree|].Count);
            }
            """,
        ["a helper that begins the transaction"] = """
            static ReadTransaction Begin() => env.BeginRead();

            void M()
            {
                Tree tree;
                using (var tx = Begin())
                    tree = tx.OpenTree("a");
                Use([|tree|].Count);
            }
            """,
        ["an interpolated string"] = """
            string M()
            {
                var tx = env.BeginRead();
                var tree = tx.OpenTree("a");
                tx.Dispose();
                return $"{[|tree|].Count} entries";
            }
            """,
    };
}
