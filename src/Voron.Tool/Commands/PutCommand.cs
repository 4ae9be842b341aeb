using System.CommandLine;
using Voron.Tool.Streams;

namespace Voron.Tool.Commands;

/// <summary>Puts a value.</summary>
internal static class PutCommand
{
    public static Command Create()
    {
        var directory = ToolContext.DirectoryArgument();
        var tree = ToolContext.TreeArgument("The name of the tree, which is created if it is missing.");
        var key = ToolContext.KeyArgument();
        var value = new Argument<string>("VALUE") { Description = "The value in the same form, or - to read it from standard input." };
        var create = new Option<bool>("--create") { Description = "Creates the environment if there is none." };
        var write = ToolContext.WriteOption();
        return new Command("put", "Puts a value.") { directory, tree, key, value, create, write }.Runs(async (parsed, _, stop) =>
        {
            var bytes = KeyText.Parse(parsed.GetRequiredValue(key));
            var content = parsed.GetRequiredValue(value) == "-"
                ? await ReadInputAsync(stop).ConfigureAwait(false)
                : KeyText.Parse(parsed.GetRequiredValue(value));
            using var environment = ToolContext.OpenToWrite(parsed.GetRequiredValue(directory), parsed.GetValue(write), parsed.GetValue(create));
            environment.Write(writing => writing.CreateTree(parsed.GetRequiredValue(tree)).Put(bytes, content));
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
