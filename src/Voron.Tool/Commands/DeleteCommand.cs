using System.CommandLine;
using Voron.Tool.Shell;

namespace Voron.Tool.Commands;

/// <summary>Deletes a key.</summary>
internal static class DeleteCommand
{
    public static Command Create(OpenEnvironment? shell = null)
    {
        var access = new EnvironmentAccess(shell);
        var tree = ToolContext.TreeArgument();
        var key = ToolContext.KeyArgument();
        return access.AddWritingTo(new Command("delete", "Deletes a key.") { tree, key }).Runs((parsed, _, _) =>
        {
            var bytes = KeyText.Parse(parsed.GetRequiredValue(key));
            using var opened = access.OpenToWrite(parsed);
            var environment = opened.Environment;
            using var writing = environment.BeginWrite();
            if (!writing.TryOpenTree(parsed.GetRequiredValue(tree), out var target) || !target.Delete(bytes))
                throw new ToolException(ExitCode.NothingThere, $"There is no key '{parsed.GetValue(key)}' in a tree '{parsed.GetValue(tree)}' of '{environment.Path}'.");
            writing.Commit();
            return Task.FromResult(ExitCode.Done);
        });
    }
}
