using System.CommandLine;
using Voron.Tool.Loading;
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
        return access.AddWritingTo(new Command("delete", "Deletes a key, with its set if it has one.") { tree, key }).Runs((parsed, _, _) =>
        {
            KeyText.Parse(parsed.GetRequiredValue(key));
            using var opened = access.OpenToWrite(parsed);
            var environment = opened.Environment;
            var name = parsed.GetRequiredValue(tree);
            var section = EntryTarget.Find(environment, name);
            var entry = PutCommand.EntryOf(section, parsed.GetRequiredValue(key), "0"u8.ToArray());
            using var writing = environment.BeginWrite();
            if (!EntryTarget.Create(writing, section, name).Delete(entry))
                throw new ToolException(ExitCode.NothingThere, $"There is no key '{parsed.GetValue(key)}' in a tree '{name}' of '{environment.Path}'.");
            writing.Commit();
            return Task.FromResult(ExitCode.Done);
        });
    }
}
