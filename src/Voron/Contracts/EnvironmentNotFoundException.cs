namespace Voron;

/// <summary>
/// There is no environment in the directory, or no directory, and the opening was not to create one. Nothing was changed.
/// </summary>
public sealed class EnvironmentNotFoundException : VoronException
{
    internal EnvironmentNotFoundException(string message, Exception? cause = null)
        : base(message, cause)
    {
    }
}
