namespace Voron.Analyzers.Tests.Snippets;

/// <summary>Code that VORON005 reports.</summary>
internal static class CopiedKeySnippets
{
    public static readonly SnippetData All = new()
    {
        ["a variable"] = """
            static void M(in string row, ref IndexKeys keys)
            {
                var key = [|keys.Begin()|];
                key.Add(row);
            }
            """,
        ["a variable with the first field"] = """
            static void M(in string row, ref IndexKeys keys)
            {
                KeyWriter key = [|keys.Begin().Add(1)|];
                if (row.Length > 3)
                    key.Add(row).Add(2);
            }
            """,
        ["an assignment"] = """
            static void M(ref IndexKeys keys, KeyWriter key)
            {
                KeyWriter other = key;
                other = [|keys.Begin()|];
                other.Add(1);
            }
            """,
        ["an argument"] = """
            static void M(ref IndexKeys keys) => AddFields([|keys.Begin().Add(1)|], 5);
            static void AddFields(KeyWriter key, int field) => key.Add(field);
            """,
        ["a copy that is passed on by reference"] = """
            static void M(ref IndexKeys keys)
            {
                var key = [|keys.Begin()|];
                AddFields(ref key);
            }

            static void AddFields(ref KeyWriter key) => key.Add(5);
            """,
        ["the function of a definition"] = """
            static IndexFunction<string> function = static (in string row, ref IndexKeys keys) =>
            {
                var key = [|keys.Begin()|];
                key.Add(row);
            };
            """,
    };
}
