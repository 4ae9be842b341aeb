using System.Diagnostics;
using System.Text;
using System.Text.RegularExpressions;

namespace Voron.Documentation.Tests;

/// <summary>
/// The command lines of a document, run in their order in one shell and one new directory, have the exit codes and answers that are shown.
/// </summary>
public sealed partial class DocumentedCommandTests
{
    // A page may have hundreds of commands.
    private static readonly TimeSpan LongEnough = 10 * TestWait.Limit;

    public static TheoryData<string> Documents =>
        [.. SourceTree.Sources("docs", "*.md").Select(path => $"docs/{path}").Where(page => CommandsIn(page).Count > 0)];

    [Theory]
    [MemberData(nameof(Documents))]
    public async Task Commands_answer_what_is_shown(string document)
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "The commands are those of a shell on Linux.");
        var directory = System.IO.Directory.CreateTempSubdirectory("voron-commands-").FullName;
        try
        {
            var commands = CommandsIn(document);
            var session = await RunAsync(commands, directory);
            var found = commands.SelectMany((command, i) => Differences(command, i, directory)
                .Select(difference => $"{document}:{command.Line} {command.Text}: {difference}"));
            found.Should().BeEmpty("the page shows it; the shell said: {0}", session);
        }
        finally
        {
            System.IO.Directory.Delete(directory, recursive: true);
        }
    }

    [Fact]
    public async Task A_command_that_answers_something_else_is_found()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "The commands are those of a shell on Linux.");
        const string Page = """
            <!-- shell:
            word=tea
            -->
            ```console
            $ echo "$word"; echo 1,234 items; echo 7 trees
            tea
            987 items
            $ echo "$word"; echo 1,234 items; echo 7 trees; false # exit code 1
            ...
            9,876 items
            7 tr...
            $ voron --no-such-option
            $ exec \
              false # exit code 1
            ```
            """;
        var directory = System.IO.Directory.CreateTempSubdirectory("voron-commands-").FullName;
        try
        {
            var commands = DocumentedCommand.In(Page).ToList();
            commands.Select(command => command.Line).Should().Equal(2, 5, 8, 12, 13);
            await RunAsync(commands, directory);
            Differences(commands[0], 0, directory).Should().BeEmpty();
            Differences(commands[1], 1, directory).Should().ContainSingle().Which.Should().StartWith("'987 items' is missing");
            Differences(commands[2], 2, directory).Should().BeEmpty();
            Differences(commands[3], 3, directory).Should().ContainSingle().Which.Should().StartWith("exit code 2");
            Differences(commands[4], 4, directory).Should().ContainSingle().Which.Should().StartWith("it did not end");
        }
        finally
        {
            System.IO.Directory.Delete(directory, recursive: true);
        }
    }

    private static List<DocumentedCommand> CommandsIn(string document) => [.. DocumentedCommand.In(File.ReadAllText(SourceTree.File(document)))];

    // One shell for all, so that a job in the background lasts. Returns what the shell says beside the commands.
    private static async Task<string> RunAsync(List<DocumentedCommand> commands, string directory)
    {
        System.IO.Directory.CreateDirectory(WorkOf(directory));
        var tool = Path.Combine(directory, "voron");
        var tests = Path.Combine(AppContext.BaseDirectory, typeof(DocumentedCommandTests).Assembly.GetName().Name!);
        var host = $"dotnet exec --runtimeconfig '{tests}.runtimeconfig.json' --depsfile '{tests}.deps.json'";
        await File.WriteAllTextAsync(tool, $"#!/bin/sh\nexec {host} '{Path.Combine(AppContext.BaseDirectory, "Voron.Tool.dll")}' \"$@\"\n");
        var script = new StringBuilder("chmod +x ../voron\n");
        for (var i = 0; i < commands.Count; i++)
        {
            // The page shows the time of an earlier day.
            var text = ShownTime().Replace(commands[i].Text, "\"$(date -u '+%Y-%m-%d %H:%M:%S UTC')\"");
            script.Append($"{{\n{text}\n}} > ../{i}.out 2>&1 < /dev/null\necho $? > ../{i}.code\n");
        }

        await File.WriteAllTextAsync(Path.Combine(directory, "session.sh"), script.ToString());
        var start = new ProcessStartInfo("/bin/sh", ["../session.sh"])
        {
            WorkingDirectory = WorkOf(directory),
            RedirectStandardError = true,
            Environment = { ["PATH"] = $"{directory}:{Environment.GetEnvironmentVariable("PATH")}", ["TZ"] = "UTC" },
        };
        using var shell = Process.Start(start)!;
        var errors = shell.StandardError.ReadToEndAsync();
        if (!shell.WaitForExit(LongEnough))
            shell.Kill(entireProcessTree: true);
        return await errors;
    }

    private static IEnumerable<string> Differences(DocumentedCommand command, int number, string directory)
    {
        var code = Path.Combine(directory, $"{number}.code");
        var answer = Path.Combine(directory, $"{number}.out") is var output && File.Exists(output) ? File.ReadAllText(output) : "";
        if (!File.Exists(code))
            yield return $"it did not end, and wrote:\n{answer}";
        else if (File.ReadAllText(code).Trim() is var actual && actual != $"{command.ExitCode}")
            yield return $"exit code {actual} with:\n{answer}";
        else if (command.FirstMissing(answer, WorkOf(directory)) is { } missing)
            yield return $"'{missing}' is missing in:\n{answer}";
    }

    private static string WorkOf(string directory) => Path.Combine(directory, "work");

    [GeneratedRegex(@"'\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)? UTC'")]
    private static partial Regex ShownTime();
}
