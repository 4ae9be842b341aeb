using System.CommandLine;
using Voron.Tool.Contents;
using Voron.Tool.Shell;

namespace Voron.Tool.Commands;

/// <summary>Lists entries of a tree, or rows of a table.</summary>
internal static class ScanCommand
{
    public static Command Create(OpenEnvironment? shell = null)
    {
        var access = new EnvironmentAccess(shell);
        var tree = ToolContext.TreeArgument("The name of the tree or the table.");
        var range = new KeyRangeOptions();
        var limit = new Option<long>("--limit") { Description = "The most entries; 0 for all of them.", DefaultValueFactory = _ => 100 }.NotNegative();
        var reverse = new Option<bool>("--reverse") { Description = "Begins with the last key." };
        var command = new Command("scan", "Lists entries of a tree, or rows of a table, in the order of their keys.") { tree };
        range.AddTo(command);
        command.Options.Add(limit);
        command.Options.Add(reverse);
        return access.AddTo(command).Runs((parsed, output, stop) =>
        {
            var keys = range.Of(parsed);
            using var opened = access.OpenToRead(parsed);
            using var reading = opened.Environment.BeginRead();
            var content = Content.Open(reading, parsed.GetRequiredValue(tree), opened.Environment.Path);
            content.List(keys, new EntryOutput(output, stop, parsed.GetValue(limit), parsed.GetValue(reverse)));
            return Task.FromResult(ExitCode.Done);
        });
    }
}
