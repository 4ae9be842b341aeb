using System.CommandLine;
using System.Globalization;
using Voron.Opening;
using Voron.Paging;

namespace Voron.Tool;

/// <summary>What every command has: the options of all commands, and the way to run it.</summary>
internal static class ToolContext
{
    /// <summary>The form of answers, an option of all commands.</summary>
    public static Option<OutputForm> OutputOption(OutputForm form = OutputForm.Table) => new("--output", "-o")
    {
        Description = "The form of the answer.",
        Recursive = true,
        DefaultValueFactory = _ => form,
    };

    /// <summary>The environment's directory.</summary>
    public static Argument<string> DirectoryArgument(string description = "The directory of the environment.") =>
        new("DIR") { Description = description };

    /// <summary>Allows a command to change the environment.</summary>
    public static Option<bool> WriteOption() => new("--write") { Description = "Allows the command to change the environment." };

    /// <summary>A key on the command line.</summary>
    public static Argument<string> KeyArgument() => new("KEY") { Description = "The key: text with \\xHH, hex:..., or base64:..." };

    /// <summary>The name of a tree.</summary>
    public static Argument<string> TreeArgument(string description = "The name of the tree.") => new("TREE") { Description = description };

    /// <summary>Refuses negative numbers.</summary>
    public static Option<long> NotNegative(this Option<long> option)
    {
        option.Validators.Add(given =>
        {
            // What is no number at all is refused elsewhere.
            if (given.Tokens is [var token] && token.Value.StartsWith('-'))
                given.AddError($"{option.Name} must not be negative.");
        });
        return option;
    }

    /// <summary>Refuses numbers above a limit.</summary>
    public static Option<long> AtMost(this Option<long> option, long limit)
    {
        option.Validators.Add(given =>
        {
            if (given.Tokens is [var token] && long.TryParse(token.Value, CultureInfo.InvariantCulture, out var number) && number > limit)
                given.AddError($"{option.Name} must be at most {limit}.");
        });
        return option;
    }

    /// <summary>Makes a command run an action whose exceptions become exit codes.</summary>
    public static Command Runs(this Command command, Func<ParseResult, ToolOutput, CancellationToken, Task<ExitCode>> run)
    {
        command.SetAction(async (parsed, stop) =>
        {
            var error = parsed.InvocationConfiguration.Error;
            var form = parsed.GetValue(parsed.RootCommandResult.Command.Options.OfType<Option<OutputForm>>().Single());
            var output = new ToolOutput(form, parsed.InvocationConfiguration.Output, error);
            try
            {
                return (int)await run(parsed, output, stop).ConfigureAwait(false);
            }
            catch (Exception failure)
            {
                var isCancelled = stop.IsCancellationRequested && failure is OperationCanceledException;
                await error.WriteLineAsync(isCancelled ? "Cancelled." : Failures.MessageOf(failure)).ConfigureAwait(false);
                return (int)Failures.CodeOf(failure);
            }
        });
        return command;
    }

    /// <exception cref="ToolException">The user did not allow the command to change the environment.</exception>
    public static void RequireWrite(bool isAllowed)
    {
        if (!isAllowed)
            throw new ToolException(ExitCode.Usage, "This command changes the environment. Give --write to allow that.");
    }

    /// <exception cref="ToolException">One of the files is missing.</exception>
    public static void RequireFiles(IEnumerable<string> files)
    {
        var missing = files.FirstOrDefault(file => !File.Exists(file));
        if (missing is not null)
            throw new ToolException(ExitCode.NothingThere, $"There is no file '{missing}'.");
    }

    /// <exception cref="ToolException">The target is in the directory of the environment, and would be lost with it.</exception>
    public static void RefuseWithin(string directory, string target)
    {
        var from = Path.TrimEndingDirectorySeparator(Path.GetFullPath(directory)) + Path.DirectorySeparatorChar;
        var to = Path.TrimEndingDirectorySeparator(Path.GetFullPath(target)) + Path.DirectorySeparatorChar;
        if (to.StartsWith(from, StringComparison.Ordinal))
            throw new ToolException(ExitCode.Usage, $"'{target}' is within the environment, and would be lost with it. Choose a place outside '{directory}'.");
    }

    /// <summary>Opens an environment for reading.</summary>
    /// <exception cref="ToolException">There is none.</exception>
    /// <exception cref="VoronException">It cannot be opened.</exception>
    public static StorageEnvironment OpenToRead(string directory) => Open(directory, new StorageOptions { ReadOnly = true });

    /// <summary>Opens an environment for writing.</summary>
    /// <param name="directory">The environment's directory.</param>
    /// <param name="isAllowed">Whether the user allowed the command to change it.</param>
    /// <param name="creates">Whether an environment is created where there is none.</param>
    /// <exception cref="ToolException">There is none, or changes were not allowed.</exception>
    /// <exception cref="VoronException">It cannot be opened.</exception>
    public static StorageEnvironment OpenToWrite(string directory, bool isAllowed, bool creates = false)
    {
        RequireWrite(isAllowed);
        var mode = creates ? OpenMode.OpenOrCreate : OpenMode.OpenExisting;
        return Open(directory, new StorageOptions { OpenMode = mode, ScrubInterval = Timeout.InfiniteTimeSpan });
    }

    /// <summary>Opens the files of an environment for a look at them, without recovering it.</summary>
    /// <exception cref="ToolException">There is none.</exception>
    /// <exception cref="VoronException">Its header cannot be read, or a process has it open.</exception>
    public static EnvironmentFiles OpenFiles(string directory) => Open(directory, () => EnvironmentFiles.Open(directory));

    private static StorageEnvironment Open(string directory, StorageOptions options) =>
        Open(directory, () => StorageEnvironment.Open(directory, options));

    private static T Open<T>(string directory, Func<T> open)
    {
        try
        {
            return open();
        }
        catch (EnvironmentNotFoundException) when (!File.Exists(Path.Combine(directory, DataFile.FileName)))
        {
            // The engine's own message speaks of its options.
            throw new ToolException(ExitCode.NothingThere, $"There is no environment in '{directory}'.");
        }
    }
}
