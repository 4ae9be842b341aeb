namespace Voron;

/// <summary>
/// The bytes read from disk are not those that were written. The message names the file, the position, and the expected and actual values.
/// </summary>
/// <remarks>
/// A file that begins like a file of an environment counts as one, and any fault in it is damage. If the directory contains a valid header, a fault
/// in any file of the environment is damage too, except in a journal file with foreign content: see <see cref="UnsupportedFormatException"/>.
/// </remarks>
public sealed class CorruptionException : VoronException
{
    internal CorruptionException(string message, Exception? cause = null)
        : base(message, cause)
    {
    }
}

/// <summary>A file is not in this format, is in a newer version of it, or belongs to another environment. Nothing was changed.</summary>
/// <remarks>
/// A file is foreign if it is named like a file of an environment, but does not begin with the magic number of such a file or, for the data file,
/// with a first page. An empty or zeroed file proves nothing: it is foreign unless a valid header in the directory shows that an environment exists
/// and has lost the content of the file (<see cref="CorruptionException"/>).
/// </remarks>
public sealed class UnsupportedFormatException : VoronException
{
    internal UnsupportedFormatException(string message)
        : base(message)
    {
    }
}
