namespace Voron.Documents;

/// <summary>A query, a path or the name of a collection cannot be used.</summary>
public sealed class QueryException : Exception
{
    internal QueryException(string message)
        : base(message)
    {
    }
}

/// <summary>A document cannot be stored: it is no JSON object, or has no id, or one that is too long.</summary>
public sealed class DocumentFormatException : Exception
{
    internal DocumentFormatException(string message, Exception? cause = null)
        : base(message, cause)
    {
    }
}
