using System.CommandLine;

namespace Voron.Tool.Commands;

/// <summary>Deletes a key.</summary>
internal static class DeleteCommand
{
    public static Command Create()
    {
        var directory = ToolContext.DirectoryArgument();
        var tree = ToolContext.TreeArgument();
        var key = ToolContext.KeyArgument();
        var write = ToolContext.WriteOption();
        return new Command("delete", "Deletes a key.") { directory, tree, key, write }.Runs((parsed, _, _) =>
        {
            var bytes = KeyText.Parse(parsed.GetRequiredValue(key));
            using var environment = ToolContext.OpenToWrite(parsed.GetRequiredValue(directory), parsed.GetValue(write));
            using var writing = environment.BeginWrite();
            if (!writing.TryOpenTree(parsed.GetRequiredValue(tree), out var target) || !target.Delete(bytes))
                throw new ToolException(ExitCode.NothingThere, $"There is no key '{parsed.GetValue(key)}' in a tree '{parsed.GetValue(tree)}' of '{environment.Path}'.");
            writing.Commit();
            return Task.FromResult(ExitCode.Done);
        });
    }
}
