namespace Voron.Analyzers.Tests.Snippets;

/// <summary>Code with spans of cursors that VORON002 reports.</summary>
internal static class InvalidCursorSnippets
{
    public static readonly SnippetData All = new()
    {
        ["a span of a cursor after its entry is deleted"] = """
            void M(Cursor cursor)
            {
                var value = cursor.Value;
                cursor.Delete();
                Use([|value|]);
            }
            """,
        ["a span of a cursor of a fixed-size tree after its entry is deleted"] = """
            void M(FixedCursor cursor)
            {
                var value = cursor.Value;
                cursor.Delete();
                Use([|value|]);
            }
            """,
        ["a span of a cursor that has moved"] = """
            void M(Tree tree)
            {
                using var cursor = tree.OpenCursor();
                if (!cursor.SeekFirst())
                    return;
                var first = cursor.Key;
                while (cursor.MoveNext())
                    Use([|first|]);
            }
            """,
        ["a value of a set after its cursor has moved"] = """
            void M(ValueSetCursor cursor)
            {
                var first = cursor.Value;
                while (cursor.MoveNext())
                    Use([|first|]);
            }
            """,
        ["a value of a set after a change of its tree"] = """
            void M(WriteValueSetTree tree)
            {
                using var cursor = tree.OpenCursor();
                cursor.SeekFirst();
                var value = cursor.Value;
                tree.Add(key, "x"u8);
                Use([|value|]);
            }
            """,
        ["a part of a span of a cursor that has moved elsewhere"] = """
            bool M(Cursor cursor)
            {
                var prefix = cursor.Key[..2];
                return cursor.Seek("b"u8) && cursor.Key.StartsWith([|prefix|]);
            }
            """,
        ["a span of a cursor from the turn before"] = """
            void M(Cursor cursor)
            {
                scoped ReadOnlySpan<byte> previous = default;
                for (var found = cursor.SeekLast(); found; found = cursor.MovePrevious())
                {
                    if (cursor.Value.SequenceEqual([|previous|]))
                        Use(cursor.Key);
                    previous = cursor.Value;
                }
            }
            """,
    };
}
