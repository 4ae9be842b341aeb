namespace Voron;

/// <summary>The directory already contains an environment, but the caller wanted to create a new one. Nothing was changed.</summary>
public sealed class EnvironmentExistsException : VoronException
{
    internal EnvironmentExistsException(string message, Exception? cause = null)
        : base(message, cause)
    {
    }
}
