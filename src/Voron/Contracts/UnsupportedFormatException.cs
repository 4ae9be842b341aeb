namespace Voron;

/// <summary>A file is not in this format, has a newer version of it, or belongs to another environment. Nothing was changed.</summary>
/// <remarks>
/// A file is foreign if it is named like a file of an environment, but does not begin with a magic number of such files, or, for a data file,
/// with a first page. An empty or zeroed file proves nothing: it is foreign unless a valid header in the directory shows that an
/// environment exists and has lost the content of the file (<see cref="CorruptionException"/>).
/// </remarks>
public sealed class UnsupportedFormatException : VoronException
{
    internal UnsupportedFormatException(string message)
        : base(message)
    {
    }
}
