namespace Voron;

/// <summary>Bytes read from disk are not the bytes that were written. The message names file, place, expected and actual values.</summary>
public sealed class CorruptionException : VoronException
{
    internal CorruptionException(string message, Exception? cause = null)
        : base(message, cause)
    {
    }
}
