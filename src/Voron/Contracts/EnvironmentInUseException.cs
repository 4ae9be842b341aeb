namespace Voron;

/// <summary>Another process, or this one, already has the environment open.</summary>
public sealed class EnvironmentInUseException : VoronException
{
    internal EnvironmentInUseException(string message, Exception? cause = null)
        : base(message, cause)
    {
    }
}
