namespace Voron.Analyzers.Tests.Snippets;

/// <summary>Code that adds fields to the key itself.</summary>
internal static class ReferredKeySnippets
{
    public static readonly SnippetData All = new()
    {
        ["a reference"] = """
            static void M(in string row, ref IndexKeys keys)
            {
                ref var key = ref keys.Begin();
                key.Add(row);
                if (row.Length > 3)
                    key.Add(2);
            }
            """,
        ["a chain"] = "static void M(ref IndexKeys keys) => keys.Begin().Add(1).Add(2);",
        ["an argument by reference"] = """
            static void M(ref IndexKeys keys) => AddFields(ref keys.Begin());
            static void AddFields(ref KeyWriter key) => key.Add(5);
            """,
        ["a writer of the caller"] = """
            static int M(byte[] buffer)
            {
                var key = new KeyWriter(buffer);
                key.Add(1);
                var same = key.Add(2);
                same.Add(3);
                return same.Written.Length;
            }
            """,
        ["a copy that is only read"] = """
            static int M(ref IndexKeys keys)
            {
                var key = keys.Begin().Add(1);
                return key.Written.Length;
            }
            """,
    };
}
