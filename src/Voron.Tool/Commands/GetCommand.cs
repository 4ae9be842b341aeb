using System.CommandLine;
using Voron.Tool.Contents;
using Voron.Tool.Shell;
using Voron.Tool.Streams;

namespace Voron.Tool.Commands;

/// <summary>Shows what a key has: a value, a row, the ids or the values of its set.</summary>
internal static class GetCommand
{
    public static Command Create(OpenEnvironment? shell = null)
    {
        var access = new EnvironmentAccess(shell);
        var tree = ToolContext.TreeArgument("The name of the tree or the table.");
        var key = ToolContext.KeyArgument();
        var raw = new Option<bool>("--raw") { Description = "Writes the bytes of the value as they are." };
        var command = new Command("get", "Shows the value of a key, a row, or the ids or values of a set.") { tree, key, raw };
        return access.AddTo(command).Runs((parsed, output, stop) =>
        {
            // Refuses a key that is none before the environment is opened.
            var wanted = parsed.GetRequiredValue(key);
            KeyText.Parse(wanted);
            using var opened = access.OpenToRead(parsed);
            using var reading = opened.Environment.BeginRead();
            var content = Content.Open(reading, parsed.GetRequiredValue(tree), opened.Environment.Path);
            var bytes = parsed.GetValue(raw) ? content.Read(wanted) : null;
            if (bytes == null && (parsed.GetValue(raw) || !content.Show(wanted, new EntryOutput(output, stop))))
                throw new ToolException(ExitCode.NothingThere, $"'{parsed.GetValue(tree)}' has no key '{wanted}'.");
            if (bytes != null)
            {
                using var stream = StandardStreams.OpenOutput();
                stream.Write(bytes);
            }

            return Task.FromResult(ExitCode.Done);
        });
    }
}
