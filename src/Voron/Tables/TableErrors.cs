using System.Diagnostics.CodeAnalysis;

namespace Voron.Tables;

/// <summary>The exceptions for handles of tables that were never opened, or have ended.</summary>
internal static class TableErrors
{
    /// <summary>The handle is a default value, which belongs to nothing.</summary>
    [DoesNotReturn]
    public static void ThrowDefault() => throw new InvalidOperationException(
        $"This table was never begun or opened: it is a default value. {nameof(TableTransactions.OpenTable)} returns one that can be used.");

    [DoesNotReturn]
    public static void ThrowQuery() => throw new ObjectDisposedException("query", "The query has ended. It was disposed: open another one.");
}
