namespace Voron;

/// <summary>A file is not in this format, has a newer version of it, or belongs to another environment. Nothing was changed.</summary>
/// <remarks>
/// A file is foreign if it has the name of a file of an environment, but none of the magic numbers with which such a file begins; in a data
/// file, the first page takes their place. An empty file, or one of zeros, shows nothing: it is foreign unless a valid header beside it
/// shows that there is an environment, which has lost the content of the file (<see cref="CorruptionException"/>).
/// </remarks>
public sealed class UnsupportedFormatException : VoronException
{
    internal UnsupportedFormatException(string message)
        : base(message)
    {
    }
}
