namespace Voron.Benchmarks.Commands;

/// <summary>What the command <c>operations</c> measures.</summary>
internal enum OperationsPart
{
    Backups,
    Compactions,
}
