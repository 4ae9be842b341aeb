namespace Voron.Analyzers.Tests.Snippets;

/// <summary>Code that VORON003 reports.</summary>
internal static class AsynchronousOperationSnippets
{
    public static readonly SnippetData All = new()
    {
        ["an async lambda that is converted"] = """
            ValueTask M() => env.WriteAsync((Action<WriteTransaction>)([|async|] tx =>
            {
                await Task.Yield();
                tx.CreateTree("a");
            }));
            """,
        ["an async lambda in a variable"] = """
            void M()
            {
                Action<WriteTransaction> operation = [|async|] tx => await Task.Delay(1);
                env.Write(operation);
            }
            """,
        ["an async anonymous method"] = """
            ValueTask M() => env.WriteAsync((Action<WriteTransaction>)([|async|] delegate (WriteTransaction tx) { await Task.Yield(); }));
            """,
        ["an async void method"] = """
            static async void Operation(WriteTransaction tx) => await Task.Yield();
            ValueTask M() => env.WriteAsync([|Operation|]);
            """,
        ["an async local function"] = """
            void M()
            {
                env.Write([|Operation|]);

                async void Operation(WriteTransaction tx) => await Task.Yield();
            }
            """,
        ["a lambda that returns a task"] = """
            Task<int> M() => env.Write<Task<int>>([|async|] tx => await Task.FromResult(1))!;
            """,
        ["a method that returns a task"] = """
            static Task<int> Operation(WriteTransaction tx) => Task.FromResult(1);
            Task<int> M() => env.Write<Task<int>>([|Operation|])!;
            """,
        ["a wait"] = """
            void M(Task task) => env.Write(tx =>
            {
                [|task.Wait()|];
                tx.CreateTree("a");
            });
            """,
        ["the result of a task"] = """
            ValueTask M(Task<byte[]> task) => env.WriteAsync(tx => tx.CreateTree("a").Put(key, [|task.Result|]));
            """,
        ["the result of a value task"] = """
            void M(ValueTask<byte[]> task) => env.Write(tx => tx.CreateTree("a").Put(key, [|task.Result|]));
            """,
        ["the result of an awaiter"] = """
            void M(HttpLike client) => env.Write(tx => tx.CreateTree("a").Put(key, [|client.GetAsync().GetAwaiter().GetResult()|]));
            class HttpLike { public Task<byte[]> GetAsync() => Task.FromResult(key); }
            """,
        ["the result of a configured awaiter"] = """
            void M(Task<byte[]> task) => env.Write(tx => tx.CreateTree("a").Put(key, [|task.ConfigureAwait(false).GetAwaiter().GetResult()|]));
            """,
        ["a wait for several tasks"] = """
            void M(Task[] tasks) => env.Write(tx => [|Task.WaitAll(tasks)|]);
            """,
        ["a blocking put of a stream"] = """
            void M(Stream stream) => env.Write(tx =>
            {
                var tree = tx.CreateTree("a");
                [|tree.PutAsync(key, stream).AsTask().Wait()|];
            });
            """,
        ["a put of a stream that is not awaited"] = """
            void M(Stream stream) => env.Write(tx =>
            {
                var tree = tx.CreateTree("a");
                [|tree.PutAsync(key, stream)|];
            });
            """,
        ["an asynchronous method that gets the transaction"] = """
            static async Task Save(WriteTree tree) => await Task.Yield();

            void M() => env.Write(tx =>
            {
                var task = [|Save(tx.CreateTree("a"))|];
            });
            """,
        ["a task that is started"] = """
            void M() => env.Write(tx => { [|Task.Run(() => Condition())|]; });
            """,
        ["a task of a factory"] = """
            void M() => env.Write(tx => { [|Task.Factory.StartNew(() => tx.CreateTree("a"))|]; });
            """,
        ["a work item of the pool"] = """
            void M() => env.Write(tx => { [|ThreadPool.QueueUserWorkItem(_ => tx.CreateTree("a"))|]; });
            """,
        ["a thread"] = """
            void M() => env.Write(tx => [|new Thread(() => tx.CreateTree("a"))|].Start());
            """,
        ["a parallel loop over the transaction"] = """
            void M() => env.Write(tx =>
            {
                var tree = tx.CreateTree("a");
                [|Parallel.For(0, 8, i => tree.Put([(byte)i], key))|];
            });
            """,
        ["a commit"] = """
            void M() => env.Write(tx =>
            {
                tx.CreateTree("a");
                [|tx.Commit()|];
            });
            """,
        ["an asynchronous commit"] = """
            void M() => env.Write(tx => { _ = [|tx.CommitAsync()|]; });
            """,
        ["a dispose"] = """
            ValueTask M() => env.WriteAsync(tx =>
            {
                if (Condition())
                    [|tx.Dispose()|];
            });
            """,
        ["a dispose of a copy"] = """
            void M() => env.Write(tx =>
            {
                var copy = tx;
                [|copy.Dispose()|];
            });
            """,
        ["a using statement"] = """
            void M() => env.Write(tx =>
            {
                using ([|tx|])
                    tx.CreateTree("a");
            });
            """,
        ["a using declaration"] = """
            void M() => env.Write(tx =>
            {
                using var own = [|tx|];
                own.CreateTree("a");
            });
            """,
        ["a delegate in a field"] = """
            Action? _later;

            void M() => env.Write(tx =>
            {
                var tree = tx.CreateTree("a");
                _later = [|() => tree.Put(key, key)|];
            });
            """,
        ["a delegate in a list of the caller"] = """
            void M(List<Action> later) => env.Write(tx => later.Add([|() => tx.CreateTree("a")|]));
            """,
        ["a delegate for an event"] = """
            event Action? Later;
            void M() => env.Write(tx => { Later += [|() => tx.CreateTree("a")|]; });
            """,
        ["an asynchronous delegate that is passed on"] = """
            static void Start(Func<Task> work) => work();
            void M() => env.Write(tx => Start([|async () => { await Task.Yield(); tx.CreateTree("a"); }|]));
            """,
        ["a local function as operation"] = """
            void M(Task task)
            {
                env.Write(Operation);

                void Operation(WriteTransaction tx) => [|task.Wait()|];
            }
            """,
        ["a wait in a loop, a condition and a try statement"] = """
            void M(Task[] tasks) => env.Write(tx =>
            {
                foreach (var task in tasks)
                {
                    try
                    {
                        if (!task.IsCompleted)
                            [|task.Wait()|];
                    }
                    finally
                    {
                        tx.CreateTree("a");
                    }
                }
            });
            """,
        ["a wait in a lambda that the operation runs"] = """
            void M(List<Task> tasks) => env.Write(tx => tasks.ForEach(task => [|task.Wait()|]));
            """,
    };
}
