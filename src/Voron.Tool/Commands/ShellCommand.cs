using System.CommandLine;
using Voron.Tool.Shell;
using Voron.Tool.Streams;

namespace Voron.Tool.Commands;

/// <summary>Opens an environment, and runs commands on it that it reads from standard input.</summary>
internal static class ShellCommand
{
    public static Command Create(Interrupts interrupts)
    {
        var directory = ToolContext.DirectoryArgument();
        var write = new Option<bool>("--write") { Description = "Allows the lines to change the environment." };
        var command = new Command("shell", "Opens an environment, and runs commands on it: a prompt, or the lines of standard input.") { directory, write };
        return command.Runs(async (parsed, output, stop) =>
        {
            var canWrite = parsed.GetValue(write);
            var configuration = parsed.InvocationConfiguration;
            using var environment = new OpenEnvironment(
                canWrite
                    ? ToolContext.OpenToWrite(parsed.GetRequiredValue(directory), canWrite)
                    : ToolContext.OpenToRead(parsed.GetRequiredValue(directory)),
                canWrite);
            using var input = StandardStreams.OpenInput();
            var isInteractive = !Console.IsInputRedirected && !Console.IsOutputRedirected && configuration.Output == Console.Out;
            var loop = new ShellLoop(
                environment, output.Form, new ShellInput(input), (configuration.Output, configuration.Error), interrupts, isInteractive);
            return await loop.RunAsync(stop).ConfigureAwait(false);
        });
    }
}
