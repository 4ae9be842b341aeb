using System.CommandLine;
using Voron.Tool.Shell;
using Voron.Tool.Streams;

namespace Voron.Tool.Commands;

/// <summary>Puts a value.</summary>
internal static class PutCommand
{
    public static Command Create(OpenEnvironment? shell = null)
    {
        var access = new EnvironmentAccess(shell);
        var tree = ToolContext.TreeArgument("The name of the tree, which is created if it is missing.");
        var key = ToolContext.KeyArgument();
        var value = new Argument<string>("VALUE") { Description = "The value in the same form, or - to read it from standard input." };
        var create = new Option<bool>("--create") { Description = "Creates the environment if there is none." };
        var command = access.AddWritingTo(new Command("put", "Puts a value.") { tree, key, value });
        if (!access.IsInShell)
            command.Options.Add(create);
        return command.Runs(async (parsed, _, stop) =>
        {
            var bytes = KeyText.Parse(parsed.GetRequiredValue(key));
            if (access.IsInShell && parsed.GetRequiredValue(value) == "-")
                throw new ToolException(ExitCode.Usage, "Standard input has the lines of the shell, and no value. For the value '-', write \\x2D.");
            var content = parsed.GetRequiredValue(value) == "-"
                ? await ReadInputAsync(stop).ConfigureAwait(false)
                : KeyText.Parse(parsed.GetRequiredValue(value));
            using var opened = access.OpenToWrite(parsed, !access.IsInShell && parsed.GetValue(create));
            opened.Environment.Write(writing => writing.CreateTree(parsed.GetRequiredValue(tree)).Put(bytes, content));
            return ExitCode.Done;
        });
    }

    private static async Task<byte[]> ReadInputAsync(CancellationToken stop)
    {
        using var content = new MemoryStream();
        using var input = StandardStreams.OpenInput();
        await input.CopyToAsync(content, stop).ConfigureAwait(false);
        return content.ToArray();
    }
}
