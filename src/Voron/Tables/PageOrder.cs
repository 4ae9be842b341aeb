using System.Text;
using Voron.Format;
using Voron.Testing;

namespace Voron.Tables;

/// <summary>The order of a query: its table and index, or a shared index. A token is a position in an order, in one direction.</summary>
/// <param name="Kind">Rows by id, rows by primary key, an index, or a shared index.</param>
/// <param name="Table">The name of the table; empty for a shared index.</param>
/// <param name="Index">The name of the index; empty for none.</param>
internal readonly record struct PageOrder(PageOrderKind Kind, string Table, string Index = "")
{
    private const ulong Seed = 0x506167654F726465;

    /// <summary>Returns the mark of the order in one direction, for tokens.</summary>
    public uint MarkOf(bool isBackward) =>
        (uint)Checksum.Compute(Encoding.UTF8.GetBytes($"{(int)Kind}{(isBackward ? '-' : '+')}{Table}\0{Index}"), Seed);

    /// <exception cref="PageTokenException">The token belongs to another order.</exception>
    public void Check(PageToken token, bool isBackward)
    {
        if (!token.IsStart && token.Order != MarkOf(isBackward) && !PlantedFault.BelieveTokens)
            throw new PageTokenException($"The page token is not from {Describe()}{(isBackward ? ", backwards" : "")}. Begin at the first page.");
    }

    private string Describe() => Kind switch
    {
        PageOrderKind.RowIds => $"the rows of table '{Table}' by their ids",
        PageOrderKind.PrimaryKey => $"the rows of table '{Table}' by their primary keys",
        PageOrderKind.Index => $"the index '{Index}' of table '{Table}'",
        _ => $"the shared index '{Index}'",
    };
}

/// <summary>How a query orders its rows.</summary>
internal enum PageOrderKind
{
    /// <summary>By their ids.</summary>
    RowIds,

    /// <summary>By their primary keys.</summary>
    PrimaryKey,

    /// <summary>By their keys in an index.</summary>
    Index,

    /// <summary>By their keys in a shared index.</summary>
    SharedIndex,
}

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
