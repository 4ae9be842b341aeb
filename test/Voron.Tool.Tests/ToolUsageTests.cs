using System.CommandLine;
using System.CommandLine.Completions;
using Voron.Tool.Shell;

namespace Voron.Tool.Tests;

/// <summary>Command lines that are wrong, for every command in the tree: each is refused with a message, and changes nothing.</summary>
public sealed class ToolUsageTests : IDisposable
{
    private const string Unknown = "--no-such-option";

    private readonly TestDirectory _directory = new();
    private readonly CancellationTokenSource _unused = new();

    public void Dispose()
    {
        _unused.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public async Task An_unknown_option_is_refused_wherever_it_is()
    {
        foreach (var (names, command) in Commands())
        {
            var right = ArgumentsOf(command);
            for (var at = 0; at <= right.Length; at++)
            {
                foreach (var unknown in (string[])[Unknown, $"{Unknown}=3", "-q", "-q=3", "-0"])
                {
                    await ShouldRefuse([.. names, .. right[..at], unknown, .. right[at..]], unknown);
                    if (at < right.Length)
                        await ShouldRefuse([.. names, .. right[..at], unknown, .. right[(at + 1)..]], unknown);
                }
            }
        }
    }

    [Fact]
    public async Task Missing_and_superfluous_arguments_are_refused()
    {
        foreach (var (names, command) in Commands())
        {
            var right = ArgumentsOf(command);
            for (var given = 0; given < right.Length; given++)
                await ShouldRefuse([.. names, .. right[..given]], command.Name);
            if (command.Arguments.All(argument => argument.Arity.MaximumNumberOfValues == 1))
                await ShouldRefuse([.. names, .. right, "superfluous"], "superfluous");
        }
    }

    [Fact]
    public async Task An_option_without_its_value_or_with_a_wrong_one_is_refused()
    {
        var options = 0;
        foreach (var (names, command) in Commands())
        {
            var inherited = command.Parents.OfType<Command>().SelectMany(parent => parent.Options.Where(own => own.Recursive));
            foreach (var option in command.Options.Concat(inherited))
            {
                if (option.Arity.MinimumNumberOfValues == 0)
                    continue;
                options++;
                string[] right = [.. ArgumentsOf(command), .. RequiredBeside(command, option)];
                await ShouldRefuse([.. names, .. right, option.Name], option.Name);
                if (option.ValueType == typeof(string) || option.ValueType == typeof(string[]))
                    continue;
                foreach (var wrong in (string[])["nonsense", "99999999999999999999", ""])
                    await ShouldRefuse([.. names, .. right, option.Name, wrong], option.Name);
                var value = ValueFor(option);
                await ShouldRefuse([.. names, .. right, option.Name, value, option.Name, value], option.Name);
            }
        }

        options.Should().BeGreaterThan(20);
    }

    [Fact]
    public async Task A_command_that_is_missing_or_unknown_is_refused()
    {
        await ShouldRefuse([], "command");
        await ShouldRefuse([Unknown], Unknown);
        await ShouldRefuse(["no-such-command"], "no-such-command");
        await ShouldRefuse(["no-such-command", Unknown], Unknown);
        await ShouldRefuse(["infos", At("a")], "infos");
        await ShouldRefuse([""], "''");
    }

    [Fact]
    public async Task Numbers_out_of_range_are_refused()
    {
        await ToolRun.Done("put", At("store"), "t", "k", "v", "--create", "--write");
        string[][] lines =
        [
            ["backup", At("store"), At("b"), "--rate", "9223372036854775807"], ["backup", At("store"), At("b"), "--rate", "-1"],
            ["backup", At("store"), At("b"), "--rate", "9223372036855"], ["top", At("store"), "--interval", "NaN"],
            ["top", At("store"), "--interval", "0"], ["top", At("store"), "--count", "-1"], ["scan", At("store"), "t", "--limit", "-1"],
            ["page", At("store"), "9223372036854775807"],
        ];
        foreach (var line in lines)
            await ShouldRefuse(line, line[^2] == At("store") ? line[^1] : line[^2], "store");
    }

    [Fact]
    public async Task Empty_words_are_refused()
    {
        await ToolRun.Done("put", At("store"), "t", "k", "v", "--create", "--write");
        await ToolRun.Done("backup", At("store"), At("backup"));
        string[][] lines =
        [
            ["info", ""], ["get", At("store"), "t", ""], ["put", At("store"), "", "k", "v", "--write"], ["put", At("store"), "t", "", "v", "--write"],
            ["put", "", "t", "k", "v", "--write", "--create"], ["backup", At("store"), ""], ["copy", At("store"), ""],
            ["compact", At("store"), "--to", ""],
            ["salvage", At("store"), ""], ["restore", At("backup"), ""], ["dump", At("store"), "--file", ""], ["stats", At("store"), "--html", ""],
            ["load", "", At("store"), "--write"],
        ];
        foreach (var line in lines)
        {
            var run = await ToolRun.Of(line);
            run.Code.Should().BeOneOf([ExitCode.Usage, ExitCode.NothingThere], string.Join(' ', line));
            run.Error.Should().NotBeNullOrWhiteSpace();
            run.Output.Should().BeEmpty();
        }

        Directory.GetFileSystemEntries(_directory.Path).Should().BeEquivalentTo(At("store"), At("backup"));
        (await ToolRun.Done("scan", At("store"), "t")).Lines.Should().Equal("k\tv");
    }

    [Fact]
    public async Task Words_that_begin_with_a_dash_are_arguments_behind_two_dashes_and_values_of_options()
    {
        await ToolRun.Done("put", At("store"), "--create", "--write", "--", "-t", "-k", "--v");
        (await ToolRun.Done("get", At("store"), "--", "-t", "-k")).Output.Should().Be("--v\n");
        (await ToolRun.Done("scan", At("store"), "--from", "-a", "--prefix=-k", "--", "-t")).Output.Should().Be("-k\t--v\n");
        (await ToolRun.Of("get", At("store"), "-t", "-k")).Error.Should().Contain("'-t'").And.Contain("'-k'").And.Contain("'--'");
    }

    private async Task ShouldRefuse(string[] words, string named, params string[] there)
    {
        var run = await ToolRun.Of(words);
        var line = $"of '{string.Join(' ', words)}'";
        run.Code.Should().Be(ExitCode.Usage, line);
        run.Output.Should().BeEmpty(line);
        run.Error.Should().Contain(named, line);
        Directory.GetFileSystemEntries(_directory.Path).Should().Equal(there.Select(At), line);
        Path.Exists(named).Should().BeFalse(line);
    }

    private IEnumerable<(string[] Names, Command Command)> Commands()
    {
        var waiting = new Stack<(string[] Names, Command Command)>();
        waiting.Push(([], Program.CreateRoot(new Interrupts(_unused))));
        while (waiting.TryPop(out var next))
        {
            foreach (var command in next.Command.Subcommands)
                waiting.Push(([.. next.Names, command.Name], command));
            if (next.Names.Length > 0)
                yield return next;
        }
    }

    // Nothing exists under these names, so a command that is run in spite of the mistake has another exit code, or creates a file.
    private string[] ArgumentsOf(Command command)
    {
        string ValueFor(Argument argument, int i) =>
            argument.ValueType == typeof(long) ? "0" : argument.GetCompletions(CompletionContext.Empty).FirstOrDefault()?.Label ?? At($"argument{i}");
        return [.. command.Arguments.Where(argument => argument.Arity.MinimumNumberOfValues > 0).Select(ValueFor)];
    }

    private static IEnumerable<string> RequiredBeside(Command command, Option option) =>
        command.Options.Where(other => other.Required && other != option).SelectMany(other => (string[])[other.Name, ValueFor(other)]);

    private static string ValueFor(Option option) =>
        option.GetCompletions(CompletionContext.Empty).FirstOrDefault()?.Label
        ?? (option.ValueType == typeof(Guid?) ? $"{Guid.Empty}" : option.ValueType == typeof(DateTimeOffset?) ? "2026-11-25T22:04:14Z" : "1");

    private string At(string name) => Path.Combine(_directory.Path, name);
}
