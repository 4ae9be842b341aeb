using Voron.Trees;

namespace Voron.Tables;

/// <summary>
/// Another writer changed, inserted or deleted a row after the caller had read it. Nothing was written, and the transaction continues.
/// </summary>
public sealed class ConcurrencyException : TableException
{
    private readonly byte[] _key;

    internal ConcurrencyException(string table, ReadOnlySpan<byte> key, long? rowId, RowVersion expected, RowVersion actual)
        : base(table, Describe(table, key, rowId, expected, actual))
    {
        _key = key.ToArray();
        RowId = rowId;
        Expected = expected;
        Actual = actual;
    }

    /// <summary>The bytes of the primary key as the key index stores them, or of the row id if that is the key.</summary>
    public ReadOnlyMemory<byte> Key => _key;

    /// <summary>The id of the row; null if it does not exist.</summary>
    public long? RowId { get; }

    /// <summary>The version that the caller expected; <see cref="RowVersion.None"/> if it expected no row.</summary>
    public RowVersion Expected { get; }

    /// <summary>The version of the row; <see cref="RowVersion.None"/> if it does not exist.</summary>
    public RowVersion Actual { get; }

    private static string Describe(string table, ReadOnlySpan<byte> key, long? rowId, RowVersion expected, RowVersion actual)
    {
        var found = rowId is { } id ? $"row {id} has version {actual.Value}" : "there is no such row";
        var wanted = expected == RowVersion.None ? "no row was expected" : $"version {expected.Value} was expected";
        return $"The row of table '{table}' with the primary key {KeyText.Of(key)} was not written: {wanted}, but {found}. Read the row again and " +
            "repeat the change.";
    }
}
