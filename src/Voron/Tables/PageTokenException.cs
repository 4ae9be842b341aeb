namespace Voron.Tables;

/// <summary>
/// A page token does not belong to the table, the index or the direction of the query to which it was passed. A service that received it from a
/// client reports a bad request.
/// </summary>
public sealed class PageTokenException : VoronException
{
    internal PageTokenException(string message)
        : base(message)
    {
    }
}
