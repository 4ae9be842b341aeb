using System.CommandLine;

namespace Voron.Tool.Commands;

/// <summary>Writes the script with which a shell completes the tool's command lines.</summary>
/// <remarks>The scripts ask the tool itself, by the directive <c>[suggest:POSITION]</c> of System.CommandLine.</remarks>
internal static class CompletionCommand
{
    private static readonly Dictionary<string, string> Scripts = new(StringComparer.Ordinal)
    {
        ["bash"] = """
            _voron() {
              local IFS=$'\n'
              COMPREPLY=($(compgen -W "$(voron "[suggest:${COMP_POINT}]" "${COMP_LINE}" 2>/dev/null)" -- "${COMP_WORDS[COMP_CWORD]}"))
            }
            complete -o default -F _voron voron
            """,
        ["zsh"] = """
            _voron() {
              local -a found
              found=("${(@f)$(voron "[suggest:${CURSOR}]" "${BUFFER}" 2>/dev/null)}")
              compadd -a found
              _files
            }
            compdef _voron voron
            """,
        ["fish"] = """
            complete -c voron -a '(voron "[suggest:"(commandline -C)"]" (commandline -cp) 2>/dev/null)'
            """,
        ["powershell"] = """
            Register-ArgumentCompleter -Native -CommandName voron -ScriptBlock {
              param($word, $command, $position)
              voron "[suggest:$position]" "$command" | ForEach-Object { [System.Management.Automation.CompletionResult]::new($_) }
            }
            """,
    };

    public static Command Create()
    {
        var shell = new Argument<string>("SHELL") { Description = "The shell." };
        shell.AcceptOnlyFromAmong([.. Scripts.Keys]);
        var command = new Command("completion", "Writes a script with which a shell completes command lines of this tool.") { shell };
        return command.Runs((parsed, output, _) =>
        {
            output.WriteText(Scripts[parsed.GetRequiredValue(shell)]);
            return Task.FromResult(ExitCode.Done);
        });
    }
}
