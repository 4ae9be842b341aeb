using System.Text;
using System.Text.RegularExpressions;

namespace Voron.Analyzers.Tests;

/// <summary>
/// Code with the places at which a rule must report: <c>[|code|]</c> for the rule of the test, <c>{|VORON004:code|}</c> for any other.
/// </summary>
internal sealed partial class Snippet
{
    private const string Before = """
        using System;
        using System.Buffers;
        using System.Buffers.Binary;
        using System.Collections.Generic;
        using System.IO;
        using System.Linq;
        using System.Runtime.InteropServices;
        using System.Text;
        using System.Threading;
        using System.Threading.Tasks;
        using Voron;
        using Voron.Tables;

        #pragma warning disable CS0219, CS1998, CS4014, CS8321, CS0169, CS0649

        class Program
        {
            static StorageEnvironment env = StorageEnvironment.OpenInMemory();
            static byte[] key = [1];
            static void Use(ReadOnlySpan<byte> bytes) { }
            static void Use(long number) { }
            static void Keep(object value) { }
            static bool Condition() => true;

        """;

    private Snippet(string code, IReadOnlyList<string> expected)
    {
        Code = code;
        Expected = expected;
    }

    /// <summary>The code without marks, as a whole file.</summary>
    public string Code { get; }

    /// <summary>The rules and lines, counted from the first line of the snippet, with the marked code.</summary>
    public IReadOnlyList<string> Expected { get; }

    /// <summary>The number of lines before the snippet.</summary>
    public static int FirstLine { get; } = Before.AsSpan().Count('\n');

    /// <summary>Reads members of a class, with marks.</summary>
    public static Snippet Members(string members, string rule) => Parse(Before, members, rule, "\n}\n");

    /// <summary>Reads a whole file, with marks.</summary>
    public static Snippet File(string file, string rule) => Parse("", file, rule, "");

    /// <summary>Describes a place as <see cref="Expected"/> does.</summary>
    public static string Place(string rule, int line, string code) => $"{rule} in line {line}: {code}";

    private static Snippet Parse(string before, string marked, string rule, string after)
    {
        var code = new StringBuilder(before);
        var expected = new List<string>();
        var end = 0;
        foreach (Match match in Mark().Matches(marked))
        {
            code.Append(marked, end, match.Index - end);
            var line = 1 + marked.AsSpan(0, match.Index).Count('\n');
            var text = match.Groups["code"].Value;
            expected.Add(Place(match.Groups["rule"] is { Success: true } named ? named.Value : rule, line, text));
            code.Append(text);
            end = match.Index + match.Length;
        }

        code.Append(marked, end, marked.Length - end).Append(after);
        return new(code.ToString(), expected);
    }

    [GeneratedRegex(@"\[\|(?<code>.*?)\|\]|\{\|(?<rule>VORON\d+):(?<code>.*?)\|\}", RegexOptions.Singleline)]
    private static partial Regex Mark();
}
