namespace Voron;

/// <summary>Bytes read from disk are not the bytes that were written. The message names file, place, expected and actual values.</summary>
/// <remarks>
/// A file that begins like a file of an environment counts as one, and any fault in it is damage. If the directory contains a valid header, so is
/// a fault in any file of the environment, except for a journal file with other content: see <see cref="UnsupportedFormatException"/>.
/// </remarks>
public sealed class CorruptionException : VoronException
{
    internal CorruptionException(string message, Exception? cause = null)
        : base(message, cause)
    {
    }
}
