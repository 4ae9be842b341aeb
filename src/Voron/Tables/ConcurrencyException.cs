namespace Voron.Tables;

/// <summary>
/// A row was changed, inserted or deleted by others since the caller has read it. Nothing was written, and the transaction goes on.
/// </summary>
public sealed class ConcurrencyException : TableException
{
    internal ConcurrencyException(string table, RowVersion expected, RowVersion actual)
        : base(table, Describe(table, expected, actual))
    {
        Expected = expected;
        Actual = actual;
    }

    /// <summary>The version that the caller expected; <see cref="RowVersion.None"/> if there was to be no row.</summary>
    public RowVersion Expected { get; }

    /// <summary>The version of the row; <see cref="RowVersion.None"/> if there is none.</summary>
    public RowVersion Actual { get; }

    private static string Describe(string table, RowVersion expected, RowVersion actual)
    {
        var found = actual == RowVersion.None ? "there is no such row" : $"it has version {actual.Value}";
        var wanted = expected == RowVersion.None ? "no row was expected" : $"version {expected.Value} was expected";
        return $"A row of table '{table}' was not written: {wanted}, but {found}. Read the row again, and repeat the change.";
    }
}
