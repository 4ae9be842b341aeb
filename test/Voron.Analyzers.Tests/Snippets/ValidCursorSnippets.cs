namespace Voron.Analyzers.Tests.Snippets;

/// <summary>Code that uses the spans of cursors while they are valid.</summary>
internal static class ValidCursorSnippets
{
    public static readonly SnippetData All = new()
    {
        ["a cursor whose key is read again"] = """
            void M(Cursor cursor)
            {
                Use(cursor.Key);
                cursor.Delete();
                if (cursor.MoveNext())
                    Use(cursor.Key);
            }
            """,
        ["a value of a fixed-size tree after its cursor has moved"] = """
            void M(FixedTree tree)
            {
                using var cursor = tree.OpenCursor();
                if (!cursor.SeekFirst())
                    return;
                var first = cursor.Value;
                while (cursor.MoveNext() && cursor.Value.SequenceEqual(first))
                    Use(first);
            }
            """,
        ["a value of a fixed-size tree before a change"] = """
            void M(WriteFixedTree tree)
            {
                if (tree.TryGetFirst(out var key, out var value))
                    Use(value);
                tree.DeleteRange(key, key + 10);
                if (tree.TryGet(key, out value))
                    Use(value);
            }
            """,
        ["a span of a cursor while another one moves"] = """
            void M(Tree tree)
            {
                using var outer = tree.OpenCursor();
                using var inner = tree.OpenCursor();
                for (var found = outer.SeekFirst(); found; found = outer.MoveNext())
                {
                    var key = outer.Key;
                    for (var more = inner.SeekLast(); more; more = inner.MovePrevious())
                    {
                        if (inner.Value.SequenceEqual(key))
                            Use(key);
                    }
                }
            }
            """,
        ["a seek with a span of the cursor itself"] = """
            void M(Cursor cursor, Cursor other)
            {
                var key = cursor.Key;
                if (other.Seek(key) && cursor.Seek(key))
                    Use(cursor.Key);
                Use(key.Length);
            }
            """,
        ["a span of a tree while a cursor moves"] = """
            void M(Tree tree)
            {
                using var cursor = tree.OpenCursor();
                tree.TryGet(key, out var value);
                while (cursor.MoveNext())
                    Use(value);
            }
            """,
        ["a span of each of the cursors that a loop opens"] = """
            void M(Tree[] trees)
            {
                scoped ReadOnlySpan<byte> last = default;
                foreach (var tree in trees)
                {
                    using var cursor = tree.OpenCursor();
                    if (!cursor.SeekLast())
                        continue;
                    if (!last.IsEmpty)
                        Use(last);
                    last = cursor.Key;
                }
            }
            """,
    };
}
