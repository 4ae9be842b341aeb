namespace Tour.Measuring;

/// <summary>A line of the table at the end.</summary>
/// <param name="What">What was done.</param>
/// <param name="Unit">What is counted, such as commits.</param>
/// <param name="Voron">How much Voron does in a second.</param>
/// <param name="Sqlite">How much SQLite does.</param>
internal sealed record Rate(string What, string Unit, double Voron, double Sqlite)
{
    public double Ratio => Voron / Sqlite;
}
