namespace Voron.Analyzers.Tests.Snippets;

/// <summary>Code whose operations do nothing that VORON003 reports.</summary>
internal static class SynchronousOperationSnippets
{
    public static readonly SnippetData All = new()
    {
        ["an operation that puts"] = "ValueTask M() => env.WriteAsync(tx => tx.CreateTree(\"a\").Put(key, key));",
        ["an operation in an asynchronous method"] = """
            async Task M(Task<byte[]> task)
            {
                var value = await task;
                await env.WriteAsync(tx => tx.CreateTree("a").Put(key, value));
            }
            """,
        ["a wait for the write itself"] = """
            void M()
            {
                env.WriteAsync(tx => tx.CreateTree("a").Put(key, key)).AsTask().Wait();
                env.WriteAsync(tx => { }).GetAwaiter().GetResult();
            }
            """,
        ["an operation with a result"] = "long M() => env.Write(tx => tx.CreateTree(\"a\").Count);",
        ["a method as operation"] = """
            static void Operation(WriteTransaction tx) => tx.CreateTree("a").Put(key, key);
            ValueTask M() => env.WriteAsync(Operation);
            """,
        ["a local function as operation"] = """
            void M()
            {
                env.Write(Operation);

                static void Operation(WriteTransaction tx) => tx.CreateTree("a");
            }
            """,
        ["a delegate of the caller"] = """
            void M(Action<WriteTransaction> operation) => env.Write(operation);
            """,
        ["a delegate that is assigned on two paths"] = """
            void M()
            {
                Action<WriteTransaction> operation = tx => tx.CreateTree("a");
                if (Condition())
                    operation = tx => tx.CreateTree("b");
                env.Write(operation);
            }
            """,
        ["work of its own transaction beside it"] = """
            async Task M()
            {
                using var tx = await env.BeginWriteAsync();
                await tx.CreateTree("a").PutAsync(key, Stream.Null);
                await Task.Run(() => Condition());
                await tx.CommitAsync();
            }
            """,
        ["a read transaction inside the operation"] = """
            void M() => env.Write(tx =>
            {
                using var reading = env.BeginRead();
                tx.CreateTree("a").Put(key, BitConverter.GetBytes(reading.TransactionId));
            });
            """,
        ["a nested transaction inside the operation"] = """
            void M() => env.Write(tx =>
            {
                using var nested = tx.BeginNested();
                tx.CreateTree("a").Put(key, key);
                nested.Commit();
            });
            """,
        ["a savepoint inside the operation"] = """
            void M() => env.Write(tx =>
            {
                using var savepoint = tx.CreateSavepoint();
                if (!tx.CreateTree("a").Insert(key, key))
                    savepoint.Rollback();
            });
            """,
        ["a cursor inside the operation"] = """
            void M() => env.Write(tx =>
            {
                using var cursor = tx.CreateTree("a").OpenCursor();
                while (cursor.MoveNext())
                    cursor.Delete();
            });
            """,
        ["a lambda that the operation runs"] = """
            void M(List<byte[]> keys) => env.Write(tx =>
            {
                var tree = tx.CreateTree("a");
                keys.ForEach(each => tree.Put(each, each));
                var missing = keys.Where(each => !tree.Contains(each)).ToList();
                Keep(missing.Count);
            });
            """,
        ["a lambda in a variable of the operation"] = """
            void M() => env.Write(tx =>
            {
                Action<byte[]> put = each => tx.CreateTree("a").Put(each, each);
                var all = new List<Action> { () => put(key) };
                all.Add(() => tx.CreateTree("b"));
                foreach (var each in all)
                    each();
            });
            """,
        ["a delegate that keeps only a copy"] = """
            Action? _later;

            void M() => env.Write(tx =>
            {
                var count = tx.CreateTree("a").Count;
                _later = () => Use(count);
            });
            """,
        ["a callback that waits, but is run later"] = """
            Action? _later;
            void M(Task task) => env.Write(tx => { _later = () => task.Wait(); });
            """,
        ["a property that is called Result"] = """
            class Outcome { public int Result => 1; public void Wait() { } }
            void M(Outcome outcome) => env.Write(tx => { outcome.Wait(); Use(outcome.Result); });
            """,
        ["asynchronous work that gets only a copy"] = """
            static async Task Log(string name, long count, byte[] value) => await Task.Yield();

            void M() => env.Write(tx =>
            {
                var tree = tx.CreateTree("a");
                tree.TryGet(key, out var value);
                _ = Log(tree.Name, tree.Count, value.ToArray());
            });
            """,
        ["a task that is only looked at"] = "void M(Task task) => env.Write(tx => Use(task.IsCompleted ? 1 : 0));",
        ["a parallel loop that does not use the transaction"] = """
            void M(int[] numbers) => env.Write(tx =>
            {
                Parallel.For(0, numbers.Length, i => numbers[i]++);
                tx.CreateTree("a").Put(key, [(byte)numbers[0]]);
            });
            """,
        ["a source that is completed"] = """
            void M(TaskCompletionSource<bool> done, CancellationToken cancellation) => env.Write(tx =>
            {
                cancellation.ThrowIfCancellationRequested();
                tx.CreateTree("a");
                done.TrySetResult(true);
            });
            """,
        ["a delegate of another type that is asynchronous"] = """
            static void Each(Func<int, Task> work) { }
            void M() => Each(async number => await Task.Delay(number));
            """,
        ["a lambda with a transaction that is no operation of the engine"] = """
            static void With(Action<WriteTransaction> work) { using var tx = env.BeginWrite(); work(tx); tx.Commit(); }
            void M(Task task) => With(tx => { task.Wait(); tx.CreateTree("a"); });
            """,
        ["an operation inside a loop, a condition and a try statement"] = """
            async Task M(byte[][] keys)
            {
                foreach (var each in keys)
                {
                    try
                    {
                        if (each.Length > 0)
                            await env.WriteAsync(tx => tx.CreateTree("a").Put(each, each)).ConfigureAwait(false);
                    }
                    finally
                    {
                        await Task.Yield();
                    }
                }
            }
            """,
    };
}
