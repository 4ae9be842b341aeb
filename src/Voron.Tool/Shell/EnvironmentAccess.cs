using System.CommandLine;
using Voron.Tool.Running;

namespace Voron.Tool.Shell;

/// <summary>Where a command finds its environment: it opens the one that its first argument names, or uses the one that the shell has open.</summary>
internal sealed class EnvironmentAccess(OpenEnvironment? shell)
{
    private readonly Argument<string> _directory = ToolContext.DirectoryArgument();
    private readonly Option<bool> _write = ToolContext.WriteOption();

    /// <summary>True if the command uses the environment of the shell.</summary>
    public bool IsInShell => shell != null;

    /// <summary>Returns the directory that a command outside a shell names.</summary>
    public string DirectoryOf(ParseResult parsed) => parsed.GetRequiredValue(_directory);

    /// <summary>Adds to a command that reads what it needs to find its environment.</summary>
    public Command AddTo(Command command)
    {
        if (shell == null)
            command.Arguments.Insert(0, _directory);
        return command;
    }

    /// <summary>Adds to a command that writes what it needs to find its environment, and to be allowed to.</summary>
    public Command AddWritingTo(Command command)
    {
        if (shell == null)
            command.Options.Add(_write);
        return AddTo(command);
    }

    /// <summary>Returns the environment for reading. Disposing the result closes it, unless it is that of the shell.</summary>
    /// <exception cref="ToolException">There is none.</exception>
    /// <exception cref="VoronException">It cannot be opened.</exception>
    public OpenEnvironment OpenToRead(ParseResult parsed) =>
        shell?.Share() ?? new OpenEnvironment(ToolContext.OpenToRead(parsed.GetRequiredValue(_directory)), canWrite: false);

    /// <summary>
    /// Returns the environment for reading; or null, and answers with its figures, if another process that shows them has it open for writing.
    /// </summary>
    /// <inheritdoc cref="OpenToRead"/>
    public OpenEnvironment? OpenToReadOrShow(ParseResult parsed, ToolOutput output)
    {
        if (shell != null)
            return shell.Share();
        var opened = RunningEnvironment.OpenOrShow(parsed.GetRequiredValue(_directory), output, isWhole: true);
        return opened == null ? null : new OpenEnvironment(opened, canWrite: false);
    }

    /// <summary>Returns the environment for writing. Disposing the result closes it, unless it is that of the shell.</summary>
    /// <param name="parsed">The command line.</param>
    /// <param name="creates">Whether an environment is created where there is none.</param>
    /// <exception cref="ToolException">There is none, or changes were not allowed.</exception>
    /// <exception cref="VoronException">It cannot be opened.</exception>
    public OpenEnvironment OpenToWrite(ParseResult parsed, bool creates = false)
    {
        if (shell == null)
        {
            var opened = ToolContext.OpenToWrite(parsed.GetRequiredValue(_directory), parsed.GetValue(_write), creates);
            return new OpenEnvironment(opened, canWrite: true);
        }

        if (!shell.CanWrite)
            throw new ToolException(ExitCode.Usage, "The shell reads only. To change the environment, begin the shell with --write.");
        return shell.Share();
    }
}
