using System.Text;
using System.Text.RegularExpressions;

namespace Voron.Tidy.Tests;

/// <summary>What the sources look like, as far as it can be counted.</summary>
public sealed partial class StyleTests
{
    private const int LongestLine = 150;

    /// <summary>Folders that are rooms for pointers. The others see memory as spans and handles only.</summary>
    private static readonly string[] UnsafeRooms =
    [
        "Format", "IO", "Sorting", "Paging", "ChangeTracking", "Scratch", "FreeSpace", "Journal", "Compression", "Trees", "Recovery", "Snapshots",
        "Transactions", "Flushing", "Loading", "Maintenance", "Opening", "Backup", "Salvaging",
    ];

    /// <summary>Outside of them: handles that keep the address of a value between two calls.</summary>
    private static readonly string[] UnsafeFiles = ["Api/Trees/LookupBatch.cs", "Api/Trees/TreeEntry.cs", "Api/Trees/ValueStream.cs"];

    public static TheoryData<string> Projects => ShapeTests.Projects;

    [Theory]
    [MemberData(nameof(Projects))]
    public void Lines_are_short_but_for_messages(string project)
    {
        var found = SourceText.Load(project)
            .SelectMany(file => file.Lines.Select((line, i) => (Place: $"{project}/{file.Path}:{i + 1}", Line: line)))
            .Where(line => line.Line.Length > LongestLine && !Message().IsMatch(line.Line))
            .Select(line => $"{line.Place} has {line.Line.Length} characters");
        found.Should().BeEmpty($"a line has at most {LongestLine} characters, unless it is one long sentence in quotes");
    }

    // The analyzers check all of the style but this, and the order of imports.
    [Theory]
    [InlineData("*.cs")]
    [InlineData("*.csproj")]
    [InlineData("*.md")]
    [InlineData("*.sh")]
    public void Files_are_lines_that_end_with_a_line_feed(string pattern)
    {
        var found = SourceTree.Sources("", pattern).Where(path => !IsInOrder(File.ReadAllBytes(SourceTree.File(path))));
        found.Should().BeEmpty("a file begins with no mark of its encoding, has no carriage return, and ends with one line feed");

        static bool IsInOrder(ReadOnlySpan<byte> file) =>
            !file.StartsWith(Encoding.UTF8.Preamble) && !file.Contains((byte)'\r') && file.EndsWith("\n"u8) && !file.EndsWith("\n\n"u8);
    }

    [Fact]
    public void Imports_are_in_order_with_those_of_the_system_first()
    {
        var found = new List<string>();
        foreach (var path in SourceTree.Sources("", "*.cs"))
        {
            var names = File.ReadLines(SourceTree.File(path)).Select(line => Import().Match(line)).Where(match => match.Success)
                .Select(match => match.Groups[1].Value).ToList();
            if (!names.SequenceEqual(names.OrderBy(name => !IsOfSystem(name)).ThenBy(name => name, StringComparer.OrdinalIgnoreCase)))
                found.Add(path);
        }

        found.Should().BeEmpty();

        static bool IsOfSystem(string name) => name == "System" || name.StartsWith("System.", StringComparison.Ordinal);
    }

    [Fact]
    public void Pointers_stay_in_their_rooms()
    {
        var found = SourceText.Engine
            .Where(file => UnsafeWord().IsMatch(file.Code))
            .Where(file => !UnsafeRooms.Contains(file.TopFolder) && !UnsafeFiles.Contains(file.Path))
            .Select(file => file.Path);
        found.Should().BeEmpty($"only {string.Join(", ", UnsafeRooms)} and {string.Join(", ", UnsafeFiles)} may be unsafe");
    }

    [Fact]
    public void The_rooms_for_pointers_are_no_larger_than_they_need_be()
    {
        var unsafeFolders = SourceText.Engine.Where(file => UnsafeWord().IsMatch(file.Code)).Select(file => file.TopFolder).Distinct().ToList();
        UnsafeRooms.Should().BeSubsetOf(unsafeFolders);
    }

    [Theory]
    [MemberData(nameof(Projects))]
    public void Nothing_is_left_for_later(string project)
    {
        var found = SourceText.Load(project)
            .SelectMany(file => file.Lines.Select((line, i) => (Place: $"{project}/{file.Path}:{i + 1}", Line: line)))
            .Where(line => Unfinished().IsMatch(line.Line))
            .Select(line => line.Place);
        found.Should().BeEmpty();
    }

    [Fact]
    public void A_test_that_a_system_cannot_run_is_skipped_with_a_reason()
    {
        var found = SourceText.Load("test")
            .Where(file => SilentReturn().IsMatch(string.Join('\n', file.Lines)))
            .Select(file => file.Path);
        found.Should().BeEmpty("a test that returns has passed: Assert.SkipWhen says why it did not run");
    }

    [Fact]
    public void A_class_that_runs_alone_says_why() => SourceText.Load("test")
        .Where(file => file.Text.Contains("[Collection(nameof(Alone))]", StringComparison.Ordinal))
        .Where(file => !file.Text.Contains("Alone, because ", StringComparison.Ordinal))
        .Select(file => file.Path)
        .Should().BeEmpty("the tests of all other classes wait for it");

    // Paths of one machine and addresses of package registries have no place in what others build.
    [Fact]
    public void No_file_names_a_machine_or_a_registry()
    {
        var found = new List<string>();
        foreach (var pattern in new[] { "*.cs", "*.md", "*.sh", "run", "*.csproj", "*.props", "*.json", "*.txt", "*.config" })
        {
            foreach (var path in SourceTree.Sources("", pattern))
            {
                var lines = File.ReadAllLines(SourceTree.File(path));
                for (var i = 0; i < lines.Length; i++)
                {
                    if (MachineOrRegistry().IsMatch(lines[i]))
                        found.Add($"{path}:{i + 1}");
                }
            }
        }

        found.Should().BeEmpty();
    }

    /// <summary>A lock statement throws where the thread is interrupted while it waits, in the middle of whatever the engine is doing.</summary>
    [Fact]
    public void The_engine_takes_its_locks_without_being_interrupted()
    {
        var found = SourceText.Engine
            .Where(file => file.Path is not ("Primitives/Uninterrupted.cs" or "Testing/SchedulePoint.cs"))
            .Where(file => InterruptedLock().IsMatch(file.Code))
            .Select(file => file.Path);
        found.Should().BeEmpty("EngineLock, EngineMonitor and Uninterrupted.Hold take locks");
    }

    [GeneratedRegex("\"[^\"]{40,}")]
    private static partial Regex Message();

    [GeneratedRegex(@"\block \(|\.EnterScope\(|Monitor\.Enter\(")]
    private static partial Regex InterruptedLock();

    [GeneratedRegex(@"^using (\w[\w.]*);$")]
    private static partial Regex Import();

    [GeneratedRegex(@"\bunsafe\b")]
    private static partial Regex UnsafeWord();

    // Put together, so that this file does not find itself.
    [GeneratedRegex("TO" + "DO|FIX" + "ME|XX" + "X|NotImplemented" + @"Exception|\bSki" + "p =|\\bHA" + "CK\\b")]
    private static partial Regex Unfinished();

    [GeneratedRegex(@"if \(!?OperatingSystem\.Is\w+\(\)\)\s*\{?\s*return;")]
    private static partial Regex SilentReturn();

    [GeneratedRegex(@"(?<![\w.~<])/(home|root|work|Users|mnt|tmp/)\b|[A-Z]:\\\\|nu" + "get\\.or" + "g|npm" + "js\\.|py" + "pi\\.or" + "g|pack" + "ages\\.\\w+\\.\\w+/")]
    private static partial Regex MachineOrRegistry();
}
