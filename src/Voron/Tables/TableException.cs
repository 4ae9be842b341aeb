namespace Voron.Tables;

/// <summary>The base class of all exceptions that concern a table.</summary>
public abstract class TableException : VoronException
{
    private protected TableException(string tableName, string message, Exception? cause = null)
        : base(message, cause)
        => TableName = tableName;

    /// <summary>The name of the table.</summary>
    public string TableName { get; }
}

/// <summary>
/// The definition of a table in the program does not fit the table in the environment. Nothing was written, and the transaction continues.
/// </summary>
public sealed class SchemaMismatchException : TableException
{
    internal SchemaMismatchException(string table, string message)
        : base(table, message)
    {
    }
}
