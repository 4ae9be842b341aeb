namespace Voron;

/// <summary>The base class of all exceptions that concern the state of an environment rather than an incorrect call.</summary>
public abstract class VoronException : Exception
{
    private protected VoronException(string message, Exception? cause = null)
        : base(message, cause)
    {
    }
}
