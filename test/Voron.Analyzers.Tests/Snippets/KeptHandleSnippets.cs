namespace Voron.Analyzers.Tests.Snippets;

/// <summary>Code whose handles are kept, or used by other functions, while their transaction is open.</summary>
internal static class KeptHandleSnippets
{
    public static readonly SnippetData All = new()
    {
        ["an object that owns the transaction"] = """
            sealed class Reader : IDisposable
            {
                readonly ReadTransaction _tx;
                readonly Tree _tree;

                public Reader()
                {
                    _tx = env.BeginRead();
                    _tree = _tx.OpenTree("a");
                }

                public long Count => _tree.Count;

                public void Dispose() => _tx.Dispose();
            }
            """,
        ["an object that renews its transaction"] = """
            sealed class Batch : IDisposable
            {
                WriteTransaction _tx;
                WriteTree _tree;

                void Begin()
                {
                    _tx = env.BeginWrite();
                    _tree = _tx.CreateTree("a");
                }

                public void Flush()
                {
                    _tx.Commit();
                    Begin();
                    _tree.Put(key, key);
                }

                public void Reset()
                {
                    _tx.Dispose();
                    _tx = env.BeginWrite();
                    _tree = _tx.OpenTree("a");
                    _tree.Put(key, key);
                }

                public void Run()
                {
                    _tx = env.BeginWrite();
                    _tree = _tx.CreateTree("a");
                    _tx.Commit();
                    _tx.Dispose();
                }

                public void Dispose() => _tx.Dispose();
            }
            """,
        ["a field that is cleared before the end"] = """
            Tree _tree;

            void M()
            {
                using var tx = env.BeginRead();
                _tree = tx.OpenTree("a");
                Use(_tree.Count);
                _tree = default;
            }
            """,
        ["a variable that a lambda assigns"] = """
            void M()
            {
                var tx = env.BeginRead();
                Action renew = () =>
                {
                    tx.Dispose();
                    tx = env.BeginRead();
                };
                tx.Dispose();
                renew();
                Use(tx.TransactionId);
                tx.Dispose();
            }
            """,
        ["a lambda that is called inside the scope"] = """
            void M()
            {
                using var tx = env.BeginRead();
                var tree = tx.OpenTree("a");
                Func<long> count = () => tree.Count;
                Use(count());
            }
            """,
        ["a query that is enumerated inside the scope"] = """
            List<bool> M(List<byte[]> keys)
            {
                using var tx = env.BeginRead();
                var tree = tx.OpenTree("a");
                return keys.Select(each => tree.Contains(each)).ToList();
            }
            """,
        ["the bytes of a stream"] = """
            byte[] M()
            {
                using var tx = env.BeginRead();
                if (!tx.OpenTree("a").TryOpenStream(key, out var stream))
                    return [];
                using var memory = new MemoryStream();
                stream.CopyTo(memory);
                return memory.ToArray();
            }
            """,
        ["a stream of the program"] = """
            Stream M()
            {
                var memory = new MemoryStream();
                using (var tx = env.BeginRead())
                {
                    if (tx.OpenTree("a").TryOpenStream(key, out var stream))
                        stream.CopyTo(memory);
                }

                memory.Position = 0;
                return memory;
            }
            """,
        ["an iterator"] = """
            IEnumerable<long> M()
            {
                using var tx = env.BeginRead();
                var tree = tx.OpenTree("a");
                yield return tree.Count;
                yield return tree.Count;
            }
            """,
        ["a result of an operation"] = """
            async Task M()
            {
                var count = env.Write(tx => tx.CreateTree("a").Count);
                await env.WriteAsync(tx =>
                {
                    var tree = tx.CreateTree("a");
                    tree.Put(key, key);
                    count = tree.Count;
                });
                Use(count);
            }
            """,
        ["a tree that an operation returns and the caller ignores"] = """
            async Task M()
            {
                env.Write(tx => tx.CreateTree("a"));
                _ = env.Write(tx => tx.CreateTree("b"));
                await env.WriteAsync(tx => tx.CreateTree("c")).ConfigureAwait(false);
            }
            """,
        ["a variable of an operation"] = """
            void M() => env.Write(tx =>
            {
                WriteTree tree;
                tree = tx.CreateTree("a");
                tree.Put(key, key);
            });
            """,
        ["a helper that returns a transaction of other code"] = """
            static ReadTransaction Ambient;
            static ReadTransaction Current() => Ambient;

            void M()
            {
                var tree = Current().OpenTree("a");
                Current().Dispose();
                Use(tree.Count);
            }
            """,
        ["a stream that is read while its transaction is open"] = """
            async IAsyncEnumerable<byte[]> M()
            {
                using var tx = env.BeginRead();
                if (!tx.OpenTree("a").TryOpenStream(key, out var stream))
                    yield break;
                await using (stream)
                {
                    var buffer = new byte[1024];
                    for (int read; (read = await stream.ReadAsync(buffer)) > 0;)
                        yield return buffer[..read];
                }
            }
            """,
        ["a reference to a variable"] = """
            static void Renew(ref ReadTransaction tx, ref Tree tree)
            {
                tx.Dispose();
                tx = env.BeginRead();
                tree = tx.OpenTree("a");
            }

            void M()
            {
                var tx = env.BeginRead();
                var tree = tx.OpenTree("a");
                tx.Dispose();
                Renew(ref tx, ref tree);
                Use(tree.Count);
                tx.Dispose();
            }
            """,
        ["another name for a variable"] = """
            void M()
            {
                var tx = env.BeginRead();
                var tree = tx.OpenTree("a");
                ref var alias = ref tree;
                tx.Dispose();
                tx = env.BeginRead();
                alias = tx.OpenTree("a");
                Use(tree.Count);
                tx.Dispose();
            }
            """,
        ["a property that finds the current transaction"] = """
            readonly Stack<WriteTransaction> _open = new();
            WriteTransaction Current => _open.Peek();

            void M()
            {
                Current.Commit();
                _open.Pop();
                Current.CreateTree("a");
            }

            readonly WriteTransaction[] _all = [];
            int _next;
            WriteTransaction Next => _all[_next++];

            void CommitAll()
            {
                while (_next < _all.Length)
                    Next.Commit();
                Next.CreateTree("a");
            }
            """,
        ["a handle of a transaction that other code keeps"] = """
            static ReadTransaction Ambient;
            static ReadTransaction Current() => Ambient;
            Tree _tree;

            void M()
            {
                var tx = Current();
                _tree = tx.OpenTree("a");
                tx.Dispose();
            }
            """,
    };
}
