namespace Voron;

/// <summary>The directory already has an environment, and the opening was to create a new one. Nothing was changed.</summary>
public sealed class EnvironmentExistsException : VoronException
{
    internal EnvironmentExistsException(string message, Exception? cause = null)
        : base(message, cause)
    {
    }
}
