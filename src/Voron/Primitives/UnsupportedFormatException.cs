namespace Voron;

/// <summary>A file is not in this format, has a newer version of it, or belongs to another environment. Nothing was changed.</summary>
public sealed class UnsupportedFormatException : VoronException
{
    internal UnsupportedFormatException(string message)
        : base(message)
    {
    }
}
