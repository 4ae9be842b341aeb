namespace Voron;

/// <summary>
/// The directory contains no environment, or does not exist, and the caller did not want to create one. Nothing was changed.
/// </summary>
public sealed class EnvironmentNotFoundException : VoronException
{
    internal EnvironmentNotFoundException(string message, Exception? cause = null)
        : base(message, cause)
    {
    }
}
