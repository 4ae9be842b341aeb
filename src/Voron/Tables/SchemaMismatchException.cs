namespace Voron.Tables;

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
