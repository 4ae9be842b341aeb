namespace Voron.Analyzers.Tests;

/// <summary>The rules go by types and shapes, so that they hold for members that the engine gets later.</summary>
[Quick]
public sealed class FutureEngineTests
{
    private static readonly Lazy<Microsoft.CodeAnalysis.MetadataReference> Engine = new(() => AnalyzerRun.CompileEngine(FutureEngine.Source));

    [Theory]
    [InlineData("void M(ReadTransaction tx) { var fork = [|tx.Fork()|]; Use(fork.OpenTree(\"a\").Get(key)); }")]
    [InlineData("void M(ReadTransaction tx) { using var fork = tx.Fork(); Use(fork.OpenTree(\"a\").Get(key)); }")]
    [InlineData("Task M(ReadTransaction tx) { var fork = tx.Fork(); return Task.Run(() => { using (fork) Use(fork.OpenTree(\"a\").Get(key)); }); }")]
    [InlineData("async Task M() { var staged = await [|env.StageAsync(Stream.Null)|]; }")]
    [InlineData("async Task M(WriteTree tree) { await using var staged = await env.StageAsync(Stream.Null); tree.Put(key, staged); }")]
    [InlineData("async Task M() { await using var tx = env.BeginWrite(); tx.Commit(); }")]
    [InlineData("void M(WriteTree tree) { var writer = [|tree.OpenWriter(key)|]; writer.Advance(1); writer.Commit(); }")]
    [InlineData("void M(WriteTree tree) { using var writer = tree.OpenWriter(key); writer.GetSpan(1)[0] = 1; writer.Advance(1); }")]
    [InlineData("void M(Tree tree) { foreach (var entry in tree.Range(KeyRange.Prefix(key)).Reverse().Take(3)) Use(entry.Key); }")]
    [InlineData("void M(Tree tree) { var range = [|tree.Range(default)|]; range.MoveNext(); }")]
    public Task What_must_be_disposed_is_known_by_its_type(string members) => Check(members, "VORON001");

    [Theory]
    [InlineData("byte[]? M() { using var tx = env.BeginRead(); return tx.OpenTree(\"a\").Get(key); }")]
    [InlineData("bool M(IBufferWriter<byte> target) { using var tx = env.BeginRead(); return tx.OpenTree(\"a\").TryGet(key, target); }")]
    [InlineData("int M(Span<byte> target) { using var tx = env.BeginRead(); tx.OpenTree(\"a\").TryCopyTo(key, target, out var written); Use(target); return written; }")]
    [InlineData("void M() { TreeEntry first; using (var tx = env.BeginRead()) tx.OpenTree(\"a\").First(out first); Use([|first|].Key); }")]
    [InlineData("void M(WriteTree tree) { tree.First(out var first); tree.DeleteRange(default); Use([|first|].Key); }")]
    [InlineData("void M(WriteTree tree) { tree.First(out var first); tree.Clear(); Use([|first|].Key); }")]
    [InlineData("void M(WriteTree tree) { tree.First(out var first); tree.Increment(key, 1); Use([|first|].Key); }")]
    [InlineData("void M(WriteTree tree) { tree.First(out var first); if (tree.CompareAndSet(key, key, key)) Use([|first|].Key); }")]
    [InlineData("void M(WriteTree tree) { tree.First(out var first); if (!tree.CompareAndSet(key, key, key)) Use(first.Key); }")]
    [InlineData("void M(WriteTree tree) { tree.First(out var first); Use(tree.Count(default)); Use(tree.Get(key)); Use(first.Key); }")]
    [InlineData("void M(WriteTree tree) { tree.First(out var first); var (_, value) = first; tree.Clear(); Use([|value|]); }")]
    [InlineData("void M() { var tx = env.BeginRead(); using var fork = tx.Fork(); fork.OpenTree(\"a\").First(out var first); tx.Dispose(); Use(first.Key); }")]
    public Task Spans_are_known_by_the_members_that_they_come_from(string members) => Check(members, "VORON002");

    [Theory]
    [InlineData("ValueTask<Task> M() => env.WriteAsync([|async|] tx => await Task.Yield());")]
    [InlineData("ValueTask<int> M(Task<int> task) => env.WriteAsync(tx => [|task.Result|]);")]
    [InlineData("ValueTask<int> M(Task<int> task) => env.WriteAsync(task, (state, tx) => [|state.Result|]);")]
    [InlineData("void M(Task task) => env.Write(task, (tx, state) => { [|tx.Dispose()|]; [|state.Wait()|]; });")]
    [InlineData("ValueTask<int> M() => env.WriteAsync(1, static (state, tx) => state);")]
    public Task Operations_are_known_by_the_delegates_that_they_are(string members) => Check(members, "VORON003");

    [Theory]
    [InlineData("async Task<WriteTree> M() => await env.WriteAsync(tx => [|tx.CreateTree(\"a\")|]);")]
    [InlineData("async Task<WriteTree> M() => await env.WriteAsync(key, (state, tx) => [|tx.CreateTree(\"a\")|]);")]
    [InlineData("async Task M() { await env.WriteAsync(key, (state, tx) => tx.CreateTree(\"a\")); }")]
    [InlineData("void M(WriteTree tree) { using var writer = tree.OpenWriter(key); writer.Commit(); [|writer|].Advance(1); }")]
    [InlineData("void M() { var tx = env.BeginRead(); var range = tx.OpenTree(\"a\").Range(default).Reverse(); tx.Dispose(); foreach (var entry in [|range|]) Use(entry.Key); }")]
    public Task Handles_are_known_by_the_members_that_they_come_from(string members) => Check(members, "VORON004");

    private static async Task Check(string members, string rule)
    {
        var snippet = Snippet.File(FutureEngine.Program(members), rule);
        var found = await AnalyzerRun.Diagnose(AnalyzerRun.Compile(snippet.Code, "Program.cs", Engine.Value));
        AnalyzerRun.Describe(found, firstLine: 0).Should().Equal(snippet.Expected);
    }
}
