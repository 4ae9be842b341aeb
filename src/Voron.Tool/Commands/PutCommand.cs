using System.CommandLine;
using Voron.Format;
using Voron.Tool.Contents;
using Voron.Tool.Dumps;
using Voron.Tool.Loading;
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
        var value = new Argument<string>("VALUE") { Description = "The value in the same form; the id, for a tree of id sets; or - to read it from standard input." };
        var create = new Option<bool>("--create") { Description = "Creates the environment if there is none." };
        var command = access.AddWritingTo(new Command("put", "Puts a value, or adds an id or a value to a set.") { tree, key, value });
        if (!access.IsInShell)
            command.Options.Add(create);
        return command.Runs(async (parsed, _, stop) =>
        {
            KeyText.Parse(parsed.GetRequiredValue(key));
            if (access.IsInShell && parsed.GetRequiredValue(value) == "-")
                throw new ToolException(ExitCode.Usage, "Standard input has the lines of the shell, and no value. For the value '-', write \\x2D.");
            var content = parsed.GetRequiredValue(value) == "-"
                ? await ReadInputAsync(stop).ConfigureAwait(false)
                : KeyText.Parse(parsed.GetRequiredValue(value));
            using var opened = access.OpenToWrite(parsed, !access.IsInShell && parsed.GetValue(create));
            var name = parsed.GetRequiredValue(tree);
            var section = EntryTarget.Find(opened.Environment, name);
            var entry = EntryOf(section, parsed.GetRequiredValue(key), content);
            opened.Environment.Write(writing =>
            {
                // An existing id keeps its payload.
                var target = EntryTarget.Create(writing, section, name);
                if (section.Kind != TreeKind.IdSets || !target.Has(entry))
                    target.Put(entry);
            });
            return ExitCode.Done;
        });
    }

    /// <summary>Returns an entry of a tree, whose kind says what the key and the value are.</summary>
    /// <exception cref="ToolException">The key is to be a number, but is none.</exception>
    public static DumpEntry EntryOf(DumpSection section, string key, byte[] value) => section.Kind switch
    {
        TreeKind.FixedSize => new DumpEntry(section, 0) { Number = KeyBounds.ParseNumber(key), Value = value },
        TreeKind.IdSets => new DumpEntry(section, 0) { Key = KeyText.Parse(key), Number = KeyBounds.ParseNumber(KeyText.Format(value)), Value = [0] },
        TreeKind.Plain or TreeKind.ValueSets or null => new DumpEntry(section, 0) { Key = KeyText.Parse(key), Value = value },
    };

    private static async Task<byte[]> ReadInputAsync(CancellationToken stop)
    {
        using var content = new MemoryStream();
        using var input = StandardStreams.OpenInput();
        await input.CopyToAsync(content, stop).ConfigureAwait(false);
        return content.ToArray();
    }
}
