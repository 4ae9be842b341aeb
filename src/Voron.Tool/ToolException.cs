namespace Voron.Tool;

/// <summary>A command cannot continue: its message is for the user, and its code for scripts.</summary>
internal sealed class ToolException(ExitCode code, string message) : Exception(message)
{
    public ExitCode Code { get; } = code;
}
