using System.Text;
using System.Text.RegularExpressions;

namespace Voron.Tests;

/// <summary>Runs the sample of README.md. The code between the two marks is the sample itself, line for line.</summary>
public sealed partial class ReadmeTests
{
    [Fact]
    public async Task The_sample_does_what_it_says()
    {
        var directory = System.IO.Directory.CreateTempSubdirectory("voron-").FullName;
        try
        {
            var printed = await RunSample(System.IO.Path.Combine(directory, "data"));
            printed.Should().Equal("hello", "ayende", "5");
            using var environment = StorageEnvironment.Open(System.IO.Path.Combine(directory, "data"));
            using var reading = environment.BeginRead();
            reading.OpenTree("users").Count.Should().Be(3);
        }
        finally
        {
            System.IO.Directory.Delete(directory, recursive: true);
        }
    }

    [Fact]
    public void The_sample_that_runs_is_the_sample_that_is_shown()
    {
        var readme = File.ReadAllText(SourceTree.File("README.md"));
        var shown = SampleOfReadme().Match(readme).Groups[1].Value.Replace("StorageEnvironment.Open(\"data\")", "StorageEnvironment.Open(data)");
        var source = File.ReadAllText(SourceTree.File("test/Voron.Tests/ReadmeTests.cs"));
        var run = SampleOfTest().Match(source).Groups[1].Value;
        Statements(run).Should().Equal(Statements(shown));
        Statements(shown).Should().HaveCountGreaterThan(20);
    }

    private static async Task<IReadOnlyList<string>> RunSample(string data)
    {
        var printed = new List<string>();
        var Console = new Recorder(printed);

        // sample
        using var environment = StorageEnvironment.Open(data);

        using (var writing = environment.BeginWrite())
        {
            var users = writing.CreateTree("users");
            users.Put("ayende"u8, "hello"u8);
            users.Put("oren"u8, "world"u8);
            users.Delete("oren"u8);
            writing.Commit();
        }

        using (var reading = environment.BeginRead())
        {
            var users = reading.OpenTree("users");
            if (users.TryGet("ayende"u8, out var value))
                Console.WriteLine(Encoding.UTF8.GetString(value));

            foreach (var entry in users.Range("a"u8, "b"u8))
                Console.WriteLine(Encoding.UTF8.GetString(entry.Key));

            using var cursor = users.OpenCursor();
            for (var found = cursor.SeekLast(); found; found = cursor.MovePrevious())
                Console.WriteLine(cursor.Value.Length);
        }

        await environment.WriteAsync(writing => writing.CreateTree("users").Put("rahien"u8, "again"u8));

        using (var writing = environment.BeginWrite())
        {
            writing.OpenTree("users").Put("next"u8, "one"u8);
            await writing.CommitAsync();
        }

        // end of sample
        return printed;
    }

    /// <summary>Returns the lines of code without comments, indentation and empty lines.</summary>
    private static string[] Statements(string code) => code.Split('\n')
        .Select(line => Comment().Replace(line, "").Trim())
        .Where(line => line.Length > 0 && line != "using Voron;")
        .ToArray();

    [GeneratedRegex("```csharp\n(.*?)```", RegexOptions.Singleline)]
    private static partial Regex SampleOfReadme();

    [GeneratedRegex("// sample\n(.*?)// end of sample", RegexOptions.Singleline)]
    private static partial Regex SampleOfTest();

    [GeneratedRegex("//.*")]
    private static partial Regex Comment();

    private sealed class Recorder(List<string> lines)
    {
        public void WriteLine(string line) => lines.Add(line);

        public void WriteLine(int number) => lines.Add(number.ToString(System.Globalization.CultureInfo.InvariantCulture));
    }
}
