using System.CommandLine;
using Voron.Tool.Dumps;
using Voron.Tool.Shell;
using Voron.Tool.Streams;

namespace Voron.Tool.Commands;

/// <summary>Shows the value of a key.</summary>
internal static class GetCommand
{
    public static Command Create(OpenEnvironment? shell = null)
    {
        var access = new EnvironmentAccess(shell);
        var tree = ToolContext.TreeArgument();
        var key = ToolContext.KeyArgument();
        var raw = new Option<bool>("--raw") { Description = "Writes the bytes of the value as they are." };
        return access.AddTo(new Command("get", "Shows the value of a key.") { tree, key, raw }).Runs((parsed, output, _) =>
        {
            using var opened = access.OpenToRead(parsed);
            var environment = opened.Environment;
            using var reading = environment.BeginRead();
            var bytes = KeyText.Parse(parsed.GetRequiredValue(key));
            var value = reading.Open(parsed.GetRequiredValue(tree), environment.Path).Get(bytes)
                ?? throw new ToolException(ExitCode.NothingThere, $"The tree '{parsed.GetValue(tree)}' has no key '{parsed.GetValue(key)}'.");
            if (parsed.GetValue(raw))
            {
                using var stream = StandardStreams.OpenOutput();
                stream.Write(value);
            }
            else if (output.Form == OutputForm.Json)
            {
                output.WriteText(JsonLinesWriter.Line(bytes, value));
            }
            else
            {
                output.WriteText(KeyText.Format(value));
            }

            return Task.FromResult(ExitCode.Done);
        });
    }
}
