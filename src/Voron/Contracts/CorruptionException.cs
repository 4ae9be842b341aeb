namespace Voron;

/// <summary>Bytes read from disk are not the bytes that were written. The message names file, place, expected and actual values.</summary>
/// <remarks>
/// A file that begins as a file of an environment begins is one, and any fault in it is damage. With a valid header in the directory, so is a
/// fault in any file that the environment has, except for a journal file that holds other content: see <see cref="UnsupportedFormatException"/>.
/// </remarks>
public sealed class CorruptionException : VoronException
{
    internal CorruptionException(string message, Exception? cause = null)
        : base(message, cause)
    {
    }
}
