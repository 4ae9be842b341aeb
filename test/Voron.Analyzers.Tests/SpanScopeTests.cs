using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;

namespace Voron.Analyzers.Tests;

/// <summary>The compiler keeps spans of a tree from leaving the block that has the tree, and entries and spans from crossing an await.</summary>
[Quick]
public sealed class SpanScopeTests
{
    private static readonly CSharpCompilation Empty = CSharpCompilation.Create(
        "user",
        references: ((string)AppContext.GetData("TRUSTED_PLATFORM_ASSEMBLIES")!).Split(Path.PathSeparator)
            .Where(path => Path.GetFileName(path).StartsWith("System.", StringComparison.Ordinal) || Path.GetFileName(path) == "netstandard.dll")
            .Append(typeof(StorageEnvironment).Assembly.Location)
            .Select(path => MetadataReference.CreateFromFile(path)),
        options: new CSharpCompilationOptions(OutputKind.DynamicallyLinkedLibrary));

    public static TheoryData<string, string> Refused => new()
    {
        { "static ReadOnlySpan<byte> M(ReadTransaction t) { var tree = t.OpenTree(\"a\"); tree.TryGet(\"k\"u8, out var v); return v; }", "CS8352" },
        { "static bool M(Tree tree, out ReadOnlySpan<byte> v) => tree.TryGet(\"k\"u8, out v);", "CS8350" },
        { "static bool M(WriteTree tree, out ReadOnlySpan<byte> v) => tree.TryGet(\"k\"u8, out v);", "CS8350" },
        {
            "static int M(StorageEnvironment e) { ReadOnlySpan<byte> kept = default;"
            + " using (var t = e.BeginRead()) { var tree = t.OpenTree(\"a\"); tree.TryGet(\"k\"u8, out kept); } return kept.Length; }",
            "CS8350"
        },
        {
            "static int M(StorageEnvironment e) { scoped ReadOnlySpan<byte> kept = default;"
            + " using (var t = e.BeginRead()) { var tree = t.OpenTree(\"a\"); tree.TryGet(\"k\"u8, out kept); } return kept.Length; }",
            "CS8350"
        },
        { "static ReadOnlySpan<byte> M(Tree tree) { using var c = tree.OpenCursor(); c.SeekFirst(); return c.Key; }", "CS8168" },
        { "static ReadOnlySpan<byte> M(Tree tree) { using var c = tree.OpenCursor(); c.SeekFirst(); return c.Value; }", "CS8168" },
        { "static ReadOnlySpan<byte> M(Tree tree) { foreach (var e in tree.GetEntries()) return e.Key; return default; }", "CS8168" },
        { "static ReadOnlySpan<byte> M(Tree tree) { tree.TryGetFirst(out var e); return e.Value; }", "CS8168" },
        {
            "static int M(Tree tree) { scoped ReadOnlySpan<byte> kept = default;"
            + " foreach (var e in tree.GetEntries()) kept = e.Key; return kept.Length; }",
            "CS8352"
        },
        {
            "static async Task<int> M(Tree tree) { tree.TryGetFirst(out var e); await Task.Yield(); return e.Key.Length; }",
            "CS4007"
        },
        {
            "static async Task<int> M(Tree tree) { foreach (var e in tree.GetEntries()) await Task.Yield(); return 0; }",
            "CS4007"
        },
        { "static async Task<int> M(Tree tree) { tree.TryGet(\"k\"u8, out var v); await Task.Yield(); return v.Length; }", "CS4007" },
        { "TreeEntry _kept; void M(Tree tree) { }", "CS8345" },
    };

    public static TheoryData<string> Allowed => new()
    {
        "static int M(Tree tree) => tree.TryGet(\"k\"u8, out var v) ? v.Length : 0;",
        "static bool M(in Tree tree, out int length) { var found = tree.TryGet(\"k\"u8, out var v); length = v.Length; return found; }",
        "static byte[] M(Tree tree) { scoped ReadOnlySpan<byte> v; return tree.TryGet(\"k\"u8, out v) ? v.ToArray() : []; }",
        "static int M(Tree tree) { scoped ReadOnlySpan<byte> best = default; for (var i = 0; i < 3; i++) {"
            + " if (tree.TryGet([(byte)i], out var v) && v.Length > best.Length) best = v; } return best.Length; }",
        "static TreeEntry M(Tree tree) { TreeEntry last = default; foreach (var e in tree.GetEntries()) last = e; return last; }",
        "static bool M(Tree tree, ReadOnlySpan<byte> key, out TreeEntry e) => tree.TryGetFloor(key, out e);",
        "static async Task<int> M(Tree tree) { var n = 0; foreach (var e in tree.GetEntries()) n += e.Key.Length; await Task.Yield(); return n; }",
        "static int M(Tree tree, long id) { Span<byte> key = stackalloc byte[8]; BitConverter.TryWriteBytes(key, id); var n = 0;"
            + " foreach (var e in tree.Range(KeyRange.From(key).Before([9])).Reverse().Take(5)) n += e.Value.Length; return n; }",
        "Tree _tree; bool M(out ReadOnlySpan<byte> v) => _tree.TryGet(\"k\"u8, out v);",
        // The example of TreeRange.
        """
        static byte[]? PrintPage(StorageEnvironment environment, ReadOnlySpan<byte> lastKey)
        {
            using var reading = environment.BeginRead();
            byte[]? last = null;
            foreach (var entry in reading.OpenTree("users").Range(KeyRange.After(lastKey)).Take(100))
            {
                Console.WriteLine(Encoding.UTF8.GetString(entry.Key));
                last = entry.Key.ToArray();
            }

            return last;
        }
        """,
        "static TreeRange M(Tree tree) => tree.Range(KeyRange.Prefix(\"a\"u8)).Take(3);",
    };

    [Theory]
    [MemberData(nameof(Refused))]
    public void The_compiler_refuses(string member, string error) =>
        Errors(member).Should().Contain(found => found.StartsWith(error, StringComparison.Ordinal), "this would outlive its transaction");

    [Theory]
    [MemberData(nameof(Allowed))]
    public void The_compiler_allows(string member) => Errors(member).Should().BeEmpty();

    private static List<string> Errors(string member)
    {
        var source = $"#nullable enable\nusing System; using System.Text; using System.Threading.Tasks; using Voron; class User {{ {member} }}";
        var tree = CSharpSyntaxTree.ParseText(source, cancellationToken: TestContext.Current.CancellationToken);
        return Empty.AddSyntaxTrees(tree)
            .Emit(Stream.Null, cancellationToken: TestContext.Current.CancellationToken)
            .Diagnostics
            .Where(found => found.Severity == DiagnosticSeverity.Error)
            .Select(found => $"{found.Id}: {found.GetMessage(System.Globalization.CultureInfo.InvariantCulture)}")
            .ToList();
    }
}
