namespace Voron.Tables;

/// <summary>
/// A page token belongs to another table, index or direction than the query that it was given to. A service that has it from a client answers that
/// the request is wrong.
/// </summary>
public sealed class PageTokenException : VoronException
{
    internal PageTokenException(string message)
        : base(message)
    {
    }
}
